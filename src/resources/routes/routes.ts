import { isRouteResult, readResponseEventError } from '../../answers/failure.ts';
import { isObject, listObjects, getTag } from '../../answers/objects.ts';
import { readValue, type ResponseSchema } from '../../answers/reader.ts';
import { check } from '../../options/check.ts';
import { type ChargeClass, type Endpoint, endpoints, type TaskRole } from '../../endpoints.ts';
import { explainSubmission } from '../../errors/operation-errors.ts';
import type { ResultFormat } from '../../calls/gateway-request.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import {
  applyHeaders,
  type BodyEncoding,
  type PreparedBody,
  type RawRequestOptions,
  type RouteSpec,
  type RouteRequest,
} from '../../http/request.ts';
import { toWellFormedJSON, writeJSON } from '../../http/json.ts';
import { chargeFor } from '../../http/outputs.ts';
import { exposeResponse, peekBody } from '../../http/responses/response-body.ts';
import { detectFormat, readContentType, valueFormat } from '../../calls/response.ts';
import { requireBase } from '../../calls/settings.ts';
import type { Transport } from '../../calls/transport.ts';
import type { BaseURL } from '../../http/url.ts';
import { nodeProcess } from '../../http/node/node-process.ts';
import { eventFormat } from '../../streams/open-stream.ts';
import type { StreamProtocol } from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { fileFormat } from '../../uploads/file-format.ts';
import {
  toBlob,
  has,
  isResponse,
  isUploadable,
  isUploadData,
  openFile,
  reading,
} from '../../uploads/file-input.ts';
import { createFormBody, type Part, prepareBody, streamBody } from '../../uploads/form.ts';
import type { Uploadable } from '../../uploads/types.ts';

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Idempotent methods (RFC 9110, 9.2.2) may be repeated; the cost of others is unknown. */
const repeatable: readonly string[] = ['GET', 'PUT', 'DELETE'];

/** Returns whether a path matches a template such as `/v1/videos/{task_id}/content`. */
function matchesTemplate(template: string, path: string): boolean {
  const segments = path.split('/');
  const parts = template.split('/');
  return (
    parts.length === segments.length &&
    segments.every((segment, index) => {
      const [start = '', end] = parts[index]?.split(/\{\w+\}/) ?? [];
      if (end === undefined) return segment === start;
      const isLong = segment.length > start.length + end.length;
      return isLong && segment.startsWith(start) && segment.endsWith(end);
    })
  );
}

function findOperation(
  method: string,
  path: string,
  paths: Readonly<Record<string, string>> = {},
): readonly [name: string, charge: ChargeClass, task: TaskRole] {
  for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
    const template = paths[name] ?? endpoint.path;
    if (endpoint.method === method && matchesTemplate(template, path))
      return [name, endpoint.charge, endpoint.task ?? 'reads'];
  }
  return ['', repeatable.includes(method) ? 'free' : 'charged', 'reads'];
}

/** Characters that URL parsers drop or turn into a slash, which could hide `..`. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const hiddenCharacters = /[\u0000-\u001F\u007F\\]/;

/**
 * Returns the path of a route below the root.
 *
 * If the base URL ended with `/v1`, paths are below `/v1`, as in `openai`; a path with its own version, also
 * after a vendor prefix, is used unchanged.
 */
export function resolvePath(path: string, version: BaseURL['version']): string {
  const text = typeof path === 'string' ? path.trim() : '';
  const field = 'path';
  check(text !== '', field, 'is empty; pass a path such as "/v1/models".');
  check(
    !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(text),
    field,
    'must be a path below baseURL, not a URL: the key is never sent to another host.',
  );
  const hidesNothing = !hiddenCharacters.test(path);
  check(hidesNothing, field, 'must not contain a backslash or a control character.');
  check(!text.includes('#'), field, 'must not contain "#"; escape it as %23.');
  const rooted = text.startsWith('/') ? text : `/${text}`;
  const climbs = /^[^?]*\/(\.|%2e){1,2}([/?]|$)/i.test(rooted);
  check(!climbs, field, 'must not contain "." or ".." segments.');
  return /^(\/[^/?]+)?\/v1(beta)?([/?]|$)/.test(rooted) ? rooted : version + rooted;
}

/**
 * Creates the call of a route by its path. The cost of documented operations is known; other `POST` and
 * `PATCH` calls count as charged. The caller can override that with `retryUnknownOutcome: false`.
 */
function createRouteSpec(
  given: unknown,
  path: string,
  { version, gateway }: Pick<BaseURL, 'version' | 'gateway'>,
  options: RawRequestOptions,
  isMedia: (model: string) => boolean,
): RouteSpec {
  const form = rawBody(options);
  const method = String(given).toUpperCase();
  check(methods.includes(method), 'method', `must be one of ${methods.join(', ')}.`);
  const isRead = method === 'GET';
  check(
    !isRead || options.body === undefined,
    'body',
    'cannot be sent with GET; use query instead.',
  );
  const resolved = resolvePath(path, version);
  const [plainPath = ''] = resolved.split('?', 1);
  const [operation, usual, task] = findOperation(method, plainPath, gateway?.profile.paths);
  const model = plainPath.split('/models/')[1]?.split(':', 1)[0] ?? plainPath;
  const charge = chargeFor(operation, usual, isMedia, options.body, options.extraBody, { model });
  return {
    operation: `${method} ${plainPath}`,
    method,
    path: resolved,
    query: undefined,
    charge: options.retryUnknownOutcome === false ? 'charged' : charge,
    task,
    explain: task === 'creates' ? explainSubmission : undefined,
    holdsResult: (value) => isRouteResult(value, charge !== 'free', operation !== ''),
    accept: options.stream === true ? 'text/event-stream' : 'application/json',
    json: form ? undefined : options.body,
    jsonField: 'body',
    form,
  };
}

/** Calls a route by its path. Rejects on invalid input. */
export function callRoute(transport: Transport, request: RouteRequest): GatewayPromise<unknown> {
  const { method, path, body, ...rest } = { ...request };
  // `null` means "not set", as in every parameter.
  const options = { ...rest, body: body ?? undefined };
  return transport.raw(
    (client) => createRouteSpec(method, path, requireBase(client), options, transport.isMedia),
    routeFormat(options),
    options,
  );
}

/** Returns whether a value is a form, also of another realm or library. */
function isForm(value: unknown): value is FormData {
  return getTag(value) === 'FormData' && has(value, Symbol.iterator);
}

/** Returns a body that is sent as a file: bytes, a `Blob` or a stream. */
function fileIn(body: unknown): Uploadable | undefined {
  return isUploadable(body) && !isUploadData(body) && !isResponse(body) ? body : undefined;
}

const unknownType = 'application/octet-stream';
const searchType = 'application/x-www-form-urlencoded';

const ready = (body: PreparedBody['body'], type: string): PreparedBody => ({
  body,
  headers: { 'content-type': type },
  replayable: true,
});

/** Encodes a body that is sent as text, in the format of its type. `undefined` for JSON without a type. */
function encodeText(body: unknown, type: string | null): string | undefined {
  if (getTag(body) === 'URLSearchParams') return String(body);
  const isUnsupported = has(body, 'pipe') || has(body, 'next') || isResponse(body);
  const problem = 'must be JSON, a FormData, URLSearchParams, a Blob, bytes or a stream.';
  check(!isUnsupported, 'body', problem);
  if (type === null || body === undefined) return undefined;
  if (typeof body === 'string') return body;
  if (type.startsWith('application/json')) return undefined;
  check(!type.startsWith(searchType), 'body', `must be URLSearchParams for ${searchType}.`);
  return toWellFormedJSON(writeJSON('body', body));
}

/**
 * Creates the encoding of a body that is not JSON; `undefined` for JSON.
 *
 * Text and objects are JSON too, unless the call has another content type.
 */
function rawBody({ body, headers }: RawRequestOptions): BodyEncoding | undefined {
  const callHeaders = new Headers();
  applyHeaders(callHeaders, headers, 'headers');
  const type = callHeaders.get('content-type');
  const file = fileIn(body);
  const form = isForm(body) ? body : undefined;
  const text = file === undefined && form === undefined ? encodeText(body, type) : '';
  if (text === undefined) return undefined;
  return {
    async encode(extra, signal) {
      check(extra === undefined, 'extraBody', 'can only be added to a body that is an object.');
      return prepareBody(signal, (controller) =>
        reading('body', async () => {
          if (file !== undefined) return fileBody(file, type, controller);
          if (form === undefined) return ready(text, type ?? `${searchType};charset=UTF-8`);
          return createFormBody(await Promise.all(Array.from(form, toPart)), signal, controller);
        }),
      );
    },
  };
}

/** A file in a form. In Bun it has no name by default. */
type FormFile = Blob & { readonly name?: string | undefined };

/** Converts an entry of a form to a part. */
async function toPart([name, value]: [string, string | FormFile]): Promise<Part> {
  if (typeof value === 'string') return { name, text: value };
  const { type, ...file } = await openFile(value);
  const filename = value.name ?? 'blob';
  return { ...file, name, field: name, filename, type: type || unknownType };
}

/** Encodes a file. A stream is opened immediately, and sent at most once. */
async function fileBody(
  file: Uploadable,
  contentType: string | null,
  controller: AbortController,
): Promise<PreparedBody> {
  const { content, type } = await openFile(file, controller.signal);
  const mime = contentType ?? (type || unknownType);
  if (content instanceof Blob) return ready(content, mime);
  // Browsers can't stream uploads, or only over HTTP/2; some would send the class name instead.
  const canStream = nodeProcess()?.getBuiltinModule !== undefined;
  if (canStream) return streamBody(content, { 'content-type': mime }, controller);
  return { ...ready(await toBlob({ content }), mime), replayable: false };
}

const files = /^(audio|video|image|font)\//;
const texts = /^$|^text\/|json|xml|script|yaml|urlencoded/;

/** Reads any response: JSON, text, a file as a `Response`, or nothing. */
const anyResponse: ResultFormat<unknown> = {
  kind: 'json',
  async read(request, given) {
    const type = readContentType(given.response);
    if (files.test(type)) return fileFormat().read(request, given);
    if (texts.test(type)) return valueFormat.read(request, given);
    const { beginning, incoming } = await peekBody(given);
    // JSON often has another content type.
    const isText = beginning === '' || /^(json|markup)$/.test(detectFormat(beginning));
    if (isText) return valueFormat.read(request, incoming);
    return { value: exposeResponse(request, incoming), stays: true };
  },
};

const rawResponse: ResultFormat<unknown> = {
  kind: 'binary',
  read: (request, incoming) =>
    Promise.resolve({ value: exposeResponse(request, incoming), stays: true }),
};

/** Returns the format of a route's response: a stream of events if requested. */
function routeFormat(options: RawRequestOptions): ResultFormat<unknown> {
  const { stream, __binaryResponse: isRaw } = options;
  if (stream === true) return eventFormat(createRouteProtocol());
  return isRaw === true ? rawResponse : anyResponse;
}

/** Types of events whose streams have a last event: those of OpenAI and of Anthropic's messages. */
const families =
  /^(response|speech\.audio|transcript\.text|image_generation|image_edit)\.|^message_/;

/** Types of the last events of these streams. */
const lastEvents =
  /^(response\.(completed|incomplete|done)|(speech\.audio|transcript\.text)\.done|image_(generation|edit)\.completed|message_stop)$/;

/** Accepts any event. Events of unknown routes are unchanged. */
const anyEvent: ResponseSchema<unknown> = { fields: {} };

/**
 * Creates the protocol of any route, whose events are parsed data.
 *
 * A stream in a known format is complete with its proof: a finish reason for every choice or candidate that
 * began, or the last event of its family. Any other stream is complete once it has content and the connection
 * closes properly.
 */
function createRouteProtocol(): StreamProtocol<unknown> {
  /** The choices, candidates or blocks that have begun; `true` once they have ended. */
  const parts = new Map<unknown, boolean>();
  let started = false;
  let usage: unknown;

  function follow(event: JsonObject): void {
    const { type, choices, candidates, response } = event;
    for (const [kind, list] of Object.entries({ choices, candidates })) {
      for (const { index = 0, finish_reason: reason, finishReason } of listObjects(list)) {
        const part = `${kind} ${String(index)}`;
        parts.set(part, parts.get(part) === true || Boolean(reason ?? finishReason));
      }
    }
    if (typeof type === 'string' && families.test(type)) {
      parts.set('', parts.get('') === true || lastEvents.test(type));
    }
    for (const holder of [response, event]) {
      const counts = isObject(holder) ? (holder['usage'] ?? holder['usageMetadata']) : undefined;
      if (counts) usage = counts;
    }
  }

  const isFinished = (): boolean => parts.size > 0 && [...parts.values()].every(Boolean);
  return {
    read: (value, checking) => readValue(value, anyEvent, checking),
    readError: readResponseEventError,
    responseBeside: (value) => (isObject(value) ? value : undefined),
    fromResponse: (value) => (typeof value === 'object' && value !== null ? [value] : []),
    keepsPings: true,
    get endIsProof() {
      return started && parts.size === 0;
    },
    follow: () => ({
      get started() {
        return started;
      },
      get usage() {
        return usage;
      },
      partial: undefined,
      isFinished: (terminated) => isFinished() || (terminated && started && parts.size === 0),
      add(event, isBesideError = false) {
        if (isObject(event)) follow(event);
        // An error itself is no content, but may be sent with a part of the response.
        started ||= !isBesideError || parts.size > 0;
      },
    }),
  };
}
