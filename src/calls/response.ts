import {
  isHTMLPage,
  isRouteResult,
  readErrorValue,
  saysFailure,
  unwrapData,
} from '../answers/failure.ts';
import { findId, isObject, parseJSON, toFields } from '../answers/objects.ts';
import { type ResponseSchema, ShapeMismatch, readValue } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import { classifyErrorInSuccess } from '../http/classify.ts';
import {
  type IncomingResponse,
  ReadFailure,
  attachRequestId,
  peekBody,
  readFile,
  readText,
  findRequestId,
  unusable,
} from '../http/responses/response-body.ts';
import type { FailureKind } from '../http/retry.ts';
import type { ResultFormat, GatewayRequest } from './gateway-request.ts';

/** Returns the content type, which is often wrong. */
export function readContentType({ headers }: Response): string {
  return headers.get('content-type')?.toLowerCase() ?? '';
}

/** Detects the format of text by its beginning. */
export function detectFormat(text: string): 'nothing' | 'json' | 'markup' | 'events' | 'other' {
  // `trimStart` also removes a byte order mark.
  const start = text.trimStart();
  if (start === '') return 'nothing';
  if (/^[[{]/.test(start)) return 'json';
  if (start.startsWith('<')) return 'markup';
  return /^(?:data|event|id|retry)?:/.test(start) ? 'events' : 'other';
}

/** Bytes needed to recognize an event stream. */
const fieldLength = 6;

type FromEvents<T> = (request: GatewayRequest, incoming: IncomingResponse) => Promise<T>;

/** Returns the beginning of a body that is labelled as an event stream; `""` if events cannot be read. */
async function peekEvents(incoming: IncomingResponse, fromEvents: FromEvents<unknown> | undefined) {
  const isLabelled = readContentType(incoming.response).includes('event-stream');
  return fromEvents && isLabelled ? peekBody(incoming, fieldLength) : { incoming, beginning: '' };
}

/**
 * Creates the failure for a success response without the result that the call came for: the error that it reports, or
 * else the problem with what was received.
 */
export function lacking(
  value: unknown,
  incoming: IncomingResponse,
  problem: string,
  text: string,
  kind: FailureKind = 'unusable_answer',
): ReadFailure {
  const { spec, response } = incoming;
  const { status, headers } = response;
  const body = readErrorValue(value);
  const isRefusal = saysFailure(value);
  if (!isRefusal && (body.message === undefined || typeof value !== 'object')) {
    const data = spec.task === 'reads' ? value : undefined;
    return new ReadFailure({ ...unusable(incoming, problem, text), kind, data });
  }
  // A message beside a success proves nothing.
  const hasId = findId(toFields(value)) !== undefined;
  const failed = isRefusal
    ? classifyErrorInSuccess(body, spec.charge, spec.task === 'creates', hasId)
    : kind;
  const requestId = findRequestId(headers, body.requestId) ?? incoming.requestId;
  return new ReadFailure({ kind: failed, phase: 'body', status, headers, body, text, requestId });
}

/** Creates the failure for text that is not JSON. */
export function notJSON(text: string, incoming: IncomingResponse): ReadFailure {
  const kind = detectFormat(text);
  if (kind === 'nothing') return new ReadFailure(unusable(incoming, 'the response is empty.'));
  const problem =
    kind === 'markup'
      ? 'the response is an HTML page instead of JSON. Gateways send it for unknown paths: check baseURL, and the vendor prefix if there is one.'
      : 'the response is not JSON.';
  return new ReadFailure(unusable(incoming, problem, text));
}

/** Returns the value for JSON that is another result than expected, such as the id of a task. */
export type ReadOther<Other> = (
  /** The parsed response; `undefined` if it was empty. */
  value: unknown,
  request: GatewayRequest,
  incoming: IncomingResponse,
  text: string,
) => Other | undefined;

/** A parsed response. */
interface Whole<Other> {
  readonly value: unknown;
  /** Set if the response is another result than expected. */
  readonly other?: Other | undefined;
  /** `true` if the response reports an error, and does not contain what the call came for. */
  readonly isRefusal: boolean;
}

/**
 * Parses text as JSON, whatever its content type.
 *
 * @param isIn - Returns whether the response contains what the call came for.
 */
export function readWhole<Other>(
  request: GatewayRequest,
  incoming: IncomingResponse,
  text: string,
  isIn: (value: JsonObject) => boolean,
  parse?: (text: string) => unknown,
  readOther?: ReadOther<Other>,
): Whole<Other> {
  const { spec, response } = incoming;
  if (readOther !== undefined && detectFormat(text) === 'nothing') {
    const other = readOther(undefined, request, incoming, text);
    if (other !== undefined) return { value: undefined, other, isRefusal: false };
  }
  const sent = parseJSON(text, parse);
  if (typeof sent !== 'object' || sent === null) throw notJSON(text, incoming);
  // The id in an error is not a task, and its address not a result.
  const hasResult = spec.holdsResult?.(sent) ?? (isObject(sent) && isIn(sent));
  if (!hasResult && saysFailure(sent)) {
    return { value: sent, isRefusal: true };
  }
  const value = spec.adapt ? spec.adapt(sent, response.headers) : sent;
  return { value, other: readOther?.(value, request, incoming, text), isRefusal: false };
}

/** Details of a call besides its result. */
export interface CallInfo {
  readonly callId: string;
  readonly requestId: string | undefined;
  readonly status: number;
}

interface JSONFormat<T> {
  readonly schema: ResponseSchema<T>;
  /** Assembles the result from an event stream that was sent instead of JSON. */
  readonly fromEvents?: FromEvents<T>;
  /** Reads a file that was sent instead of JSON. */
  readonly fromFile?: {
    /** @param beginning - The first bytes, as text. */
    readonly isFile: (type: string, beginning: string) => boolean;
    /** @throws `ReadFailure` if the file is not whole */
    readonly toValue: (bytes: Uint8Array, incoming: IncomingResponse) => JsonObject;
  };
}

/** Bytes needed to recognize a file. */
const fileHead = 12;

/**
 * Reads a JSON response.
 *
 * @param finish - Adds details that the response lacks, or replaces the value.
 */
export function jsonFormat<T>(format: JSONFormat<T>): ResultFormat<T, 'json'>;
export function jsonFormat<T, Value>(
  format: JSONFormat<T>,
  finish: (value: T, info: CallInfo) => Value | Promise<Value>,
): ResultFormat<Value, 'json'>;
export function jsonFormat<T, Other>(
  format: JSONFormat<T> & { readonly readOther: ReadOther<Other> },
): ResultFormat<T | Other, 'json'>;
/* @__NO_SIDE_EFFECTS__ */
export function jsonFormat<T>(
  {
    schema,
    readOther,
    fromEvents,
    fromFile,
  }: JSONFormat<T> & { readonly readOther?: ReadOther<T> },
  finish?: (value: T, info: CallInfo) => unknown,
): ResultFormat<unknown, 'json'> {
  return {
    kind: 'json',
    async read(request, given) {
      const { maxResponseBytes } = request.settings;
      const type = readContentType(given.response);
      const mayBeFile = fromFile !== undefined && !/\bjson\b|event-stream/.test(type);
      const { incoming, beginning } = mayBeFile
        ? await peekBody(given, fileHead)
        : await peekEvents(given, fromEvents);
      let value: T;
      if (mayBeFile && fromFile.isFile(type, beginning)) {
        const bytes = await readFile(incoming, maxResponseBytes);
        value = readValue(fromFile.toValue(bytes, incoming), schema, request.check);
      } else if (fromEvents && !mayBeFile && detectFormat(beginning) === 'events') {
        // Read as a stream, with its time limits, so that the content so far is not lost if it breaks off.
        request.scope.clearLimits();
        value = await fromEvents(request, incoming);
      } else {
        const text = await readText(incoming, maxResponseBytes);
        value =
          fromEvents && detectFormat(text) === 'events'
            ? await fromEvents(request, {
                ...incoming,
                response: new Response(text, incoming.response),
              })
            : fromJSON(request, incoming, text, schema, readOther);
      }
      const { requestId, response } = incoming;
      attachRequestId(value, requestId);
      if (finish === undefined) return { value };
      const { status } = response;
      return { value: await finish(value, { callId: request.id, requestId, status }) };
    },
  };
}

/** The result of a schema that does not say what it wants: all that is not an error. */
const anyResult = { name: 'result', isIn: (value: JsonObject) => !saysFailure(value) };

function fromJSON<T>(
  request: GatewayRequest,
  incoming: IncomingResponse,
  text: string,
  schema: ResponseSchema<T>,
  readOther: ReadOther<T> | undefined,
): T {
  const { spec, redaction } = request;
  const { locate, parse: parseText, result: { name, isIn } = anyResult } = schema;
  // The message of a failed task can become an error, which must not contain the key.
  const isTask = spec.task !== undefined && redaction.withoutKeys(text) !== text;
  const parse = isTask
    ? (json: string) => redaction.words((parseText ?? JSON.parse)(json))
    : parseText;
  const whole = readWhole(request, incoming, text, isIn, parse, readOther);
  if (whole.other !== undefined) return whole.other;
  const value = locate === undefined || whole.isRefusal ? whole.value : locate(whole.value);
  // Some gateways wrap the content in `data`.
  const isHere = isObject(value) && isIn(value);
  const found = isHere ? value : unwrapData(value);
  if (!isHere && !(isObject(found) && isIn(found))) {
    const problem = `the response is JSON, but contains no ${name}.`;
    const kind = spec.charge === 'free' ? 'other_shape' : 'unusable_answer';
    throw lacking(value, incoming, problem, text, kind);
  }
  return readChecked(request, incoming, found, schema, text);
}

/** Compares a value with its schema and reports differences, which are errors in strict mode. */
function readChecked<T>(
  request: GatewayRequest,
  incoming: IncomingResponse,
  value: unknown,
  schema: ResponseSchema<T>,
  text: string,
): T {
  let data: T;
  try {
    data = readValue(value, schema, request.check);
  } catch (error) {
    if (!(error instanceof ShapeMismatch)) throw error;
    const { issues, message } = error;
    throw request.toError({ ...unusable(incoming, message, text), issues, data: value });
  }
  const fault = schema.fault?.(data);
  if (fault === undefined) return data;
  const { problem, issues } = fault;
  throw request.toError({ ...unusable(incoming, `the response ${problem}.`, text), issues, data });
}

/**
 * Reads a text response, which may be JSON nevertheless.
 *
 * @param fromText - Converts the text, with a function for parsed JSON and the content type, or returns the problem
 *   with it.
 * @param fromEvents - Assembles a result from an event stream that was sent instead.
 */
export function textFormat<T>(
  fromText: (
    text: string,
    read: <Parsed>(value: unknown, schema: ResponseSchema<Parsed>) => Parsed,
    type: string,
  ) => { readonly value: T } | { readonly problem: string },
  fromEvents?: FromEvents<unknown>,
): ResultFormat<T, 'text'> {
  return {
    kind: 'text',
    async read(request, given) {
      const { incoming, beginning } = await peekEvents(given, fromEvents);
      const text =
        fromEvents && detectFormat(beginning) === 'events'
          ? JSON.stringify(await fromEvents(request, incoming))
          : await readText(incoming, request.settings.maxResponseBytes);
      if (isHTMLPage(text)) throw notJSON(text, incoming);
      const result = fromText(
        text,
        (value, schema) => readChecked(request, incoming, value, schema, text),
        readContentType(incoming.response),
      );
      if ('problem' in result) throw lacking(parseJSON(text), incoming, result.problem, text);
      attachRequestId(result.value, incoming.requestId);
      return result;
    },
  };
}

/**
 * Reads JSON as its parsed value, other text as text, a 204 as `null`, and an empty body labelled JSON as
 * `undefined`.
 */
export const valueFormat: ResultFormat<unknown> = {
  kind: 'json',
  read: (request, incoming) =>
    textFormat((text) => {
      const isLabelled = /\bjson\b/.test(readContentType(incoming.response));
      const looksLikeJSON = detectFormat(text) === 'json';
      const value = parseJSON(text);
      const { holdsResult = isRouteResult } = incoming.spec;
      if (!holdsResult(value) && saysFailure(value)) {
        throw lacking(value, incoming, '', text, 'undecided');
      }
      if (value !== undefined && (isLabelled || looksLikeJSON)) return { value };
      if (isLabelled && looksLikeJSON) return { problem: 'the response is not JSON.' };
      if (incoming.response.status === 204) return { value: null };
      return { value: isLabelled && text === '' ? undefined : text };
    }).read(request, incoming),
};
