import { isObject, objectsOf } from '../answers/objects.ts';
import { readValue, type ResponseSchema } from '../answers/reader.ts';
import { check } from '../check.ts';
import { type ChargeClass, endpoints } from '../endpoints.ts';
import { explainSubmission } from '../errors/operation-errors.ts';
import type { AnswerFormat } from '../http/call.ts';
import type { GatewayPromise } from '../http/promise.ts';
import {
  applyHeaders,
  type BodyEncoding,
  type CallSpec,
  type PreparedBody,
  type RawRequestOptions,
  type RouteRequest,
  taskRoleOf,
} from '../http/request.ts';
import { writeJSON } from '../http/json.ts';
import { handOut, peek } from '../http/response-body.ts';
import { kindOfText, typeOf, valueAnswer } from '../http/response.ts';
import { baseOf } from '../http/settings.ts';
import type { Transport } from '../http/transport.ts';
import type { BaseURL } from '../http/url.ts';
import { nodeProcess } from '../node-process.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import type { StreamProtocol } from '../streams/protocol.ts';
import type { JsonObject } from '../types.ts';
import { fileAnswer } from '../uploads/file-answer.ts';
import {
  blobOf,
  has,
  isUploadable,
  isUploadData,
  openFile,
  reading,
} from '../uploads/file-input.ts';
import { formBodyOf, type Part, prepareBody, streamBody } from '../uploads/form.ts';
import { formFields } from '../uploads/multipart.ts';
import type { Uploadable, UploadChunk } from '../uploads/types.ts';

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** RFC 9110, 9.2.2: these methods may be repeated; of any other it is not known what it costs. */
const repeatable: readonly string[] = ['GET', 'PUT', 'DELETE'];

/** Whether a path is made of a template such as `/v1/videos/{task_id}/content`. */
function isMadeOf(template: string, path: string): boolean {
  const given = path.split('/');
  const parts = template.split('/');
  return (
    parts.length === given.length &&
    given.every((segment, index) => {
      const [start = '', end] = parts[index]?.split(/\{\w+\}/) ?? [];
      if (end === undefined) return segment === start;
      const isLong = segment.length > start.length + end.length;
      return isLong && segment.startsWith(start) && segment.endsWith(end);
    })
  );
}

function operationAt(method: string, path: string): readonly [name: string, charge: ChargeClass] {
  for (const [name, endpoint] of Object.entries(endpoints)) {
    if (endpoint.method === method && isMadeOf(endpoint.path, path)) return [name, endpoint.charge];
  }
  return ['', repeatable.includes(method) ? 'free' : 'charged'];
}

/** The characters that URL parsers drop or turn into a slash, so that `..` could hide behind them. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const hiddenCharacters = /[\u0000-\u001F\u007F\\]/;

/**
 * The path of a route, below the root.
 *
 * A client whose base URL ended with `/v1` means paths below `/v1`, as `openai` does; a path that
 * names its version itself, also behind a vendor prefix, is taken as it is.
 */
export function resolvePath(path: string, version: BaseURL['version']): string {
  const text = typeof path === 'string' ? path.trim() : '';
  const field = 'path';
  check(text !== '', field, 'is empty; give a path such as "/v1/models".');
  check(
    !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(text),
    field,
    'must be a path below baseURL, not a URL: the key is never sent to another place.',
  );
  const hidesNothing = !hiddenCharacters.test(path);
  check(hidesNothing, field, 'may not hold a backslash or a control character.');
  check(!text.includes('#'), field, 'may not hold "#"; write %23 if it belongs to a name.');
  const rooted = text.startsWith('/') ? text : `/${text}`;
  const climbs = /^[^?]*\/(\.|%2e){1,2}([/?]|$)/i.test(rooted);
  check(!climbs, field, 'may not hold "." or ".." segments.');
  return /^(\/[^/?]+)?\/v1(beta)?([/?]|$)/.test(rooted) ? rooted : version + rooted;
}

/**
 * Makes the call of a route by its path. What a documented operation costs is known; any other `POST` or
 * `PATCH` counts as charged. The caller may say that a call is to be sent as a charged one.
 *
 * @param form - Its body, when that is not JSON.
 */
function routeSpec(
  given: unknown,
  path: string,
  version: BaseURL['version'],
  options: RawRequestOptions | undefined,
  form: BodyEncoding | undefined,
): CallSpec {
  const method = String(given).toUpperCase();
  check(methods.includes(method), 'method', `must be one of ${methods.join(', ')}.`);
  const isRead = method === 'GET';
  check(!isRead || options?.body === undefined, 'body', 'cannot go with a GET; use query instead.');
  const resolved = resolvePath(path, version);
  const [plainPath = ''] = resolved.split('?', 1);
  const [operation, charge] = operationAt(method, plainPath);
  const task = taskRoleOf(operation, charge) ?? 'reads';
  return {
    operation: `${method} ${plainPath}`,
    method,
    path: resolved,
    query: undefined,
    charge: options?.retryUnknownOutcome === false ? 'charged' : charge,
    task,
    explain: task === 'creates' ? explainSubmission : undefined,
    accept: options?.stream === true ? 'text/event-stream' : 'application/json',
    json: form ? undefined : options?.body,
    jsonField: 'body',
    form,
    options,
  };
}

/** Calls a route by its path. Bad input rejects like everything else, so that one `catch` serves for all. */
export function callRoute(transport: Transport, request: RouteRequest): GatewayPromise<unknown> {
  const { method, path, body, ...rest } = { ...request };
  // `null` means "left out", as in every parameter.
  const options = { ...rest, body: body ?? undefined };
  return transport.raw(
    (client) => routeSpec(method, path, baseOf(client).version, options, rawBody(options)),
    routeAnswer(options),
  );
}

/** What a value calls itself: also true of another realm's, or another library's. */
const isNamed = (value: unknown, name: string): boolean =>
  Object.prototype.toString.call(value) === `[object ${name}]`;

function isForm(value: unknown): value is FormData {
  return isNamed(value, 'FormData') && has(value, Symbol.iterator);
}

/** What it gives is checked piece by piece, as that of every stream. */
function isGenerator(value: unknown): value is Iterable<UploadChunk> {
  return has(value, Symbol.iterator) && has(value, 'next');
}

async function* later(pieces: Iterable<UploadChunk>): AsyncGenerator<UploadChunk, void, undefined> {
  yield* pieces;
}

/** What is read as a file is: bytes, a `Blob`, a `Response` or a stream. */
function fileIn(body: unknown): Uploadable | undefined {
  if (isGenerator(body)) return later(body);
  return isUploadable(body) && !isUploadData(body) ? body : undefined;
}

const unknownType = 'application/octet-stream';
const searchType = 'application/x-www-form-urlencoded';

const ready = (body: PreparedBody['body'], type: string): PreparedBody => ({
  body,
  headers: { 'content-type': type },
  replayable: true,
});

/** A body that is sent as text, in the form that its type asks for; JSON without one is left to others. */
function textOf(body: unknown, type: string | null): string | undefined {
  if (isNamed(body, 'URLSearchParams')) return String(body);
  const isOld = has(body, 'pipe');
  check(!isOld, 'body', 'is a stream that cannot be iterated; give a Readable or a FormData.');
  if (type === null || body === undefined) return undefined;
  if (typeof body === 'string') return body;
  if (type.startsWith('application/json')) return undefined;
  if (!type.startsWith(searchType) || !isObject(body)) return writeJSON('body', body);
  const fields = formFields(body).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, typeof one === 'string' ? one : writeJSON(name, one)]),
  );
  return String(new URLSearchParams(fields));
}

/**
 * A body that is no JSON and is sent as it is, or `undefined` when there is none.
 *
 * Text and objects are JSON too, unless the call has another content type for them.
 */
function rawBody(options: RawRequestOptions | undefined): BodyEncoding | undefined {
  const { body, headers } = options ?? {};
  const given = new Headers();
  applyHeaders(given, headers, 'headers');
  const type = given.get('content-type');
  const file = fileIn(body);
  const form = isForm(body) ? body : undefined;
  const text = file === undefined && form === undefined ? textOf(body, type) : '';
  if (text === undefined) return undefined;
  return {
    async encode(extra, signal) {
      check(extra === undefined, 'extraBody', 'can only be added to a body that is an object.');
      return prepareBody(signal, (controller) =>
        reading('body', async () => {
          if (file !== undefined) return fileBody(file, type, controller);
          if (form === undefined) return ready(text, type ?? `${searchType};charset=UTF-8`);
          return formBodyOf(await Promise.all(Array.from(form, partOf)), signal, controller);
        }),
      );
    },
  };
}

/** A file in a form. In Bun it has no name where none was given. */
type FormFile = Blob & { readonly name?: string | undefined };

/** An entry of a form, as it is. */
async function partOf([name, value]: [string, string | FormFile]): Promise<Part> {
  if (typeof value === 'string') return { name, text: value };
  const { type, ...file } = await openFile(value);
  const filename = value.name ?? 'blob';
  return { ...file, name, field: name, filename, type: type || unknownType };
}

/** The file, once it is open; a stream is opened at once, and sent at most once. */
async function fileBody(
  file: Uploadable,
  given: string | null,
  controller: AbortController,
): Promise<PreparedBody> {
  const { content, type } = await openFile(file, controller.signal);
  const mime = given ?? (type || unknownType);
  if (content instanceof Blob) return ready(content, mime);
  // Browsers cannot stream an upload, or only over HTTP/2; some would send the name of the class.
  const canStream = nodeProcess()?.getBuiltinModule !== undefined;
  if (canStream) return streamBody(content, { 'content-type': mime }, controller);
  return { ...ready(await blobOf({ content }), mime), replayable: false };
}

const files = /^(audio|video|image|font)\//;
const texts = /^$|^text\/|json|xml|script|yaml|urlencoded/;

/** An answer of which nothing is promised: JSON, text, a file as a `Response`, or nothing. */
const anyAnswer: AnswerFormat<unknown> = {
  kind: 'json',
  async read(call, given) {
    const type = typeOf(given.response);
    if (files.test(type)) return fileAnswer().read(call, given);
    if (texts.test(type)) return valueAnswer.read(call, given);
    const { beginning, answer } = await peek(given);
    // JSON is often labelled as anything.
    const isText = beginning === '' || /^(json|markup)$/.test(kindOfText(beginning));
    if (isText) return valueAnswer.read(call, answer);
    return { value: handOut(call, answer), stays: true };
  },
};

/** The answer as it is. */
const wholeResponse: AnswerFormat<unknown> = {
  kind: 'binary',
  read: (call, answer) => Promise.resolve({ value: handOut(call, answer), stays: true }),
};

/** How the answer of a route is read: as a stream of events when that is asked for. */
function routeAnswer(options: RawRequestOptions | undefined): AnswerFormat<unknown> {
  const { stream, __binaryResponse: isWhole } = options ?? {};
  if (stream === true) return eventAnswer(routeProtocol());
  return isWhole === true ? wholeResponse : anyAnswer;
}

/** Types of events whose streams have a last event: those of OpenAI, and of Anthropic's messages. */
const families =
  /^(response|speech\.audio|transcript\.text|image_generation|image_edit)\.|^message_/;

/** Their last events. */
const lastEvents =
  /^(response\.(completed|incomplete|failed|cancelled)|(speech\.audio|transcript\.text)\.done|image_(generation|edit)\.completed|message_stop)$/;

/** Any event is one: what comes from a route that is not known is left as it came. */
const anyEvent: ResponseSchema<unknown> = { fields: {} };

/**
 * How the events of any route are read: each as its parsed data.
 *
 * A stream in a form that is known is whole when its proof has come: a finish reason for every choice or
 * candidate that began, or the last event of its family. Any other is when something has come and the
 * connection closes properly.
 */
function routeProtocol(): StreamProtocol<unknown> {
  /** What has begun, and whether it has ended. */
  const parts = new Map<unknown, boolean>();
  let started = false;
  let usage: unknown;

  function follow(event: JsonObject): void {
    const { type, choices, candidates, response } = event;
    for (const [kind, list] of Object.entries({ choices, candidates })) {
      for (const { index = 0, finish_reason: reason, finishReason } of objectsOf(list)) {
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
    fromAnswer: (answer) => [answer],
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
      add(event) {
        started = true;
        if (isObject(event)) follow(event);
      },
    }),
  };
}
