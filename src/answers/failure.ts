import type { JsonObject } from '../types.ts';
import {
  findFirst,
  hasValue,
  isObject,
  listObjects,
  parseJSON,
  findId,
  toFields,
  codeText,
  trimmedText,
} from './objects.ts';

/** Maximum length of a message in an error; providers' raw bodies can be a megabyte. */
const maxMessageLength = 2_000;
/** Maximum length of a body in an error. */
const maxTextLength = 65_536;

/** The content of an error body in any of the known formats. */
export interface ErrorBody {
  /**
   * `gateway` and, for failed submissions, `task` are the gateway's formats; `other` is JSON in another
   * format, `html` and `text` are bodies that aren't JSON, and `empty` has no bytes.
   */
  readonly envelope: 'gateway' | 'task' | 'other' | 'html' | 'text' | 'empty';
  readonly message: string | undefined;
  /** The code as text. */
  readonly code: string | null | undefined;
  /** The code as the gateway sent it. */
  readonly sentCode: string | number | null | undefined;
  readonly type: string | undefined;
  readonly param: string | null | undefined;
  readonly requestId: string | undefined;
  /** The innermost error object, the parsed body, or the text. */
  readonly error: unknown;
}

/** Splits a message from the request id in parentheses that the gateway appends. */
function splitRequestId(message: string): [text: string, suffix: string] {
  const text = message.trim();
  const suffix = /\(request id: [^()\s]{1,200}\)$/i.exec(text)?.[0] ?? '';
  return suffix === '' ? [text, ''] : [text.slice(0, -suffix.length).trimEnd(), suffix];
}

/** Returns the last request id in an error message. Each gateway in a chain appends its own. */
function findRequestId(message = ''): string | undefined {
  return [...message.matchAll(/\(request id: ([^()\s]{1,200})\)/gi)].at(-1)?.[1];
}

const codeOrNull = (value: unknown): string | null | undefined =>
  value === null ? null : codeText(value);

const codeFields = ['code', 'error_code', 'status_code', 'errorCode', 'Code'];

type SentCode = ErrorBody['sentCode'];

function isSentCode(value: unknown): value is SentCode {
  return typeof value === 'string' || typeof value === 'number' || value === null;
}

/** Returns the first non-empty code, or else the first empty one. */
function findCode(...levels: readonly JsonObject[]): SentCode {
  const codes = levels.flatMap((level) => codeFields.map((name) => level[name])).filter(isSentCode);
  const nonEmpty = codes.find((code) => codeText(code) !== undefined);
  return nonEmpty === undefined ? codes[0] : nonEmpty;
}

/** Shortens a message, but keeps the request id at its end. */
function shorten(text: string): string {
  const clean = text.trim();
  if (clean.length <= maxMessageLength) return clean;
  const [kept, suffix] = splitRequestId(clean);
  const end = suffix === '' ? '…' : `… ${suffix}`;
  // Don't split a surrogate pair.
  const start = kept.slice(0, maxMessageLength - end.length).replace(/[\uD800-\uDBFF]$/, '');
  return start + end;
}

/** Adds a full stop to a gateway's message, because advice follows it. */
export function asSentence(text: string): string {
  return text.replace(/([^.!?…)\u3002\uFF01\uFF1F])$/, '$1.');
}

/** More than any gateway nests; protects the stack from deeply nested bodies. */
const maxDepth = 8;

/** Returns the first message in the fields where gateways and providers put it. */
function findMessage(value: unknown): string | undefined {
  const message = findRawMessage(value, maxDepth);
  // Some gateways put the provider's whole JSON response into the message; one level is unwrapped.
  if (message === undefined || !/^\s*[{[]/.test(message)) return message;
  const [text, suffix] = splitRequestId(message);
  const inner = findRawMessage(parseJSON(text), maxDepth);
  return inner === undefined ? message : `${inner} ${suffix}`.trimEnd();
}

const messageFields = [
  'message',
  'msg',
  'err',
  'error_msg',
  'detail',
  'status_msg',
  'errorMessage',
  'faultstring',
  'Message',
];

function findRawMessage(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return trimmedText(value);
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return findRawMessage(value[0], levels - 1);
  if (!isObject(value)) return undefined;
  const { header, message, detail, error } = value;
  const direct = findFirst(messageFields, (name) => trimmedText(value[name]));
  const text = direct ?? (isObject(header) ? trimmedText(header['message']) : undefined);
  if (text !== undefined) return text;
  const vendorError = findVendorError(value);
  const nested = findNestedError(value) ?? (vendorError === value ? undefined : vendorError);
  const inMessage = typeof message === 'object' ? message : undefined;
  const places = [Array.isArray(detail) ? detail : undefined, error, nested, inMessage];
  return findFirst(places, (place) => findRawMessage(place, levels - 1));
}

/** Returns whether a field contains an error code; `0` and `"0"` mean success. */
function isFailureCode(value: unknown): boolean {
  return hasValue(value) && value !== '0' && typeof value !== 'object';
}

/** Returns an error inside a result: in its object, or in the first item of its list. */
function findNestedError({ response, data }: JsonObject): unknown {
  return listObjects(Array.isArray(data) ? data : response)[0]?.['error'];
}

/**
 * Returns an error in the formats of vendors other than OpenAI: next to other fields, in a list, or in a
 * choice. `undefined` if there is none.
 */
function findVendorError(body: JsonObject): unknown {
  const { base_resp: base, errors, fault, Response: wrapped, choices } = body;
  if (isObject(base) && isFailureCode(base['status_code'])) return base;
  if (isFailureCode(body['error_code']) || isFailureCode(body['errorCode'])) return body;
  const nested = [errors, fault, isObject(wrapped) ? wrapped['Error'] : undefined];
  return nested.find((value) => hasValue(value)) ?? listObjects(choices)[0]?.['error'];
}

/** Returns whether an empty list is a valid result: the body reports no error. */
export function isEmptyResult(list: unknown, body: JsonObject): boolean {
  return Array.isArray(list) && list.length === 0 && !hasValue(findVendorError(body));
}

/** Returns whether an error body was JSON. */
export const isJSON = ({ envelope }: ErrorBody): boolean => !/^(html|text|empty)$/.test(envelope);

function findEnvelope(body: JsonObject, inner: unknown): ErrorBody['envelope'] {
  const { success, code, message } = body;
  if (success === false || isObject(inner) || typeof inner === 'string') return 'gateway';
  if (typeof code === 'string' && 'data' in body) return 'task';
  if (typeof message === 'string' && ('type' in body || 'param' in body)) return 'gateway';
  return typeof code === 'string' ? 'task' : 'other';
}

/** Creates the content of a body without fields, with a message at most. */
function withoutFields(
  envelope: ErrorBody['envelope'],
  message: string | undefined,
  error: unknown,
): ErrorBody {
  return {
    envelope,
    message: message && shorten(message),
    code: undefined,
    sentCode: undefined,
    type: undefined,
    param: undefined,
    requestId: findRequestId(message),
    error,
  };
}

/**
 * Reads the provider's error, which OpenRouter puts into `error.metadata.raw` as text, JSON text, an object or
 * a list.
 */
function readProviderError({ metadata }: JsonObject, levels: number): ErrorBody | undefined {
  const raw = isObject(metadata) ? metadata['raw'] : undefined;
  if (!hasValue(raw) || levels === 0) return undefined;
  const value = typeof raw === 'string' ? (parseJSON(raw) ?? raw) : raw;
  if (typeof value === 'string') return readPlainText(value);
  const error = readErrorValue(value, levels - 1);
  return error.message === undefined ? { ...error, message: findMessage(value) } : error;
}

/** @param levels - The number of gateways behind each other whose errors are read. */
export function readErrorValue(value: unknown, levels = maxDepth): ErrorBody {
  const error = readFields(value);
  const [body] = listObjects(value);
  const vendorError = body && findVendorError(body);
  const [source] = listObjects(error.error === value ? (vendorError ?? value) : error.error);
  const provider = source && readProviderError(source, levels);
  if (provider === undefined) return error;
  const { message } = error;
  const { message: reason = '' } = provider;
  const isKnown = reason === '' || message?.includes(reason) === true;
  return withReason(
    error,
    provider,
    isKnown ? message : shorten(message ? `${message}: ${reason}` : reason),
  );
}

/** Adds the details of the error that an error contains. */
function withReason(error: ErrorBody, reason: ErrorBody, message: string | undefined): ErrorBody {
  const { code, sentCode = code } = reason;
  return {
    ...error,
    message,
    // The status of the provider is also that of the gateway.
    ...(typeof code === 'string' && !/^\d*$/.test(code) && { code, sentCode }),
    type: error.type ?? reason.type,
    param: reason.param ?? error.param,
    requestId: error.requestId ?? reason.requestId,
  };
}

/** A string, or a constant of Python, which no field of an error needs. An open string extends to the end. */
const pythonParts = /"[^"\\]*(?:\\.[^"\\]*)*"?|'([^'\\]*(?:\\.[^'\\]*)*)'?|None|True|False/gs;

/** The status in front of a dictionary, as in `400: {'error': 'No'}` and `Error code: 400 - {'error': 'No'}`. */
const statusBefore = /^(?:error code: )?(?:\d{3}(?::| -) )?$/i;

/** Reads the error in a message that is the text of a Python dictionary, as LiteLLM sends it. */
function readDictionary(error: ErrorBody): ErrorBody {
  const { message = '' } = error;
  const start = message.indexOf("{'");
  if (start < 0 || !statusBefore.test(message.slice(0, start))) return error;
  const [text, suffix] = splitRequestId(message.slice(start));
  const json = text.replace(pythonParts, (part, quoted?: string) => {
    if (quoted === undefined) return part.startsWith('"') ? part : 'null';
    return `"${quoted.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`;
  });
  const reason = readFields(parseJSON(json));
  if (reason.message === undefined) return error;
  return withReason(error, reason, `${reason.message} ${suffix}`.trimEnd());
}

/** Returns the path of the field that pydantic or FastAPI rejected, without the part of the request. */
function findLocation(...levels: readonly JsonObject[]): string | undefined {
  const details = levels.flatMap((level) => [
    level,
    ...listObjects(level['detail']),
    ...listObjects(toFields(level['message'])['detail']),
  ]);
  const loc = details.map((detail) => detail['loc']).find((path) => Array.isArray(path));
  if (!Array.isArray(loc)) return undefined;
  const steps = loc.flatMap((step: unknown) => codeText(step) ?? []);
  return trimmedText(steps.slice(steps[0] === 'body' ? 1 : 0, maxDepth).join('.'));
}

function readFields(value: unknown): ErrorBody {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return withoutFields('other', trimmedText(value), value);
  const inner = body['error'] ?? findNestedError(body);
  const [source = body] = listObjects(inner ?? findVendorError(body));
  const sentCode = findCode(source, body);
  return {
    ...withoutFields(
      findEnvelope(body, inner),
      findMessage(inner) ?? findMessage(body),
      inner ?? value,
    ),
    code: codeOrNull(sentCode),
    sentCode,
    type: trimmedText(source['type']) ?? trimmedText(source['status']),
    param: codeText(source['param']) ?? findLocation(source, body) ?? codeOrNull(source['param']),
  };
}

/** Reads an error body by its content, because its content type is often wrong. */
export function readErrorText(text: string): ErrorBody {
  // `trim` also removes a byte order mark.
  const trimmed = text.trim();
  const value = /^[{[]/.test(trimmed) ? parseJSON(trimmed) : undefined;
  return value === undefined ? readPlainText(trimmed) : readDictionary(readErrorValue(value));
}

/** Returns whether text is an HTML page, which gateways and proxies send for unknown paths. */
export function isHTMLPage(text: string): boolean {
  return /^\s*<(!doctype html|html)[\s>]/i.test(text);
}

/** Reads text that is not JSON as an error, for example the page of a proxy. */
export function readPlainText(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === '') return withoutFields('empty', undefined, undefined);
  const error = trimmed.slice(0, maxTextLength);
  if (!trimmed.startsWith('<')) return withoutFields('text', trimmed, error);
  const title = /<title[^>]{0,200}>([^<]{0,500})<\/title>/i.exec(trimmed)?.[1];
  return withoutFields('html', trimmedText(title), error);
}

/**
 * Set if responses of a call describe a task, which the call creates or reads. A failed task is then a valid
 * response.
 */
export type TaskRole = 'creates' | 'reads' | undefined;

/** Fields that only a usable response contains: lists, objects, or a transcript. */
const contentFields = ['choices', 'candidates', 'data', 'models', 'text', 'promptFeedback'];

/** Values of `code` that mean success. */
const successCodes = /^(|0|200|ok|success|succeed|succeeded)$/i;

/** Returns the `data` of an object that reports no failure, in which some gateways wrap responses, or else the value. */
export function unwrapData(value: unknown): unknown {
  const { data, success = true, code, error } = toFields(value);
  const hasFailed = success !== true || !successCodes.test(codeText(code) ?? '') || hasValue(error);
  return isObject(data) && !hasFailed ? data : value;
}

/**
 * Reads a parsed 2xx body as an error; `undefined` if it is a valid response.
 *
 * The gateway sends 200 with `{error}`, with a task error, with `success: false` and with a bare message. A
 * failed video task also has an `error`, next to its id or its status, and is a valid response; a submission
 * that returns a task id has created the task, whatever else it contains.
 */
export function readErrorInSuccess(value: unknown, task: TaskRole): ErrorBody | undefined {
  const body: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(body)) return undefined;
  const { success, status, error, done } = body;
  if (task === 'creates' && findId(body) !== undefined) return undefined;
  if (success === false) return readErrorValue(value);
  const hasContent = contentFields.some((name) => {
    const isContent = typeof body[name] === 'object' || name === 'text';
    return isContent && hasValue(body[name]);
  });
  if (hasContent) return undefined;
  const hasId = findId(body) !== undefined;
  const hasStatus = (typeof status === 'string' && status !== '') || done === true;
  const isTask = task !== undefined && (hasId || hasStatus);
  if (isTask) return undefined;
  const isError = hasValue(error) || (!hasId && hasErrorCode(body));
  return isError ? readErrorValue(value) : undefined;
}

/** Returns whether an object is a response of the Responses API. */
function isResponse({ object, output, id }: JsonObject): boolean {
  const hasResponseId = typeof id === 'string' && id.startsWith('resp');
  return object === 'response' || (Array.isArray(output) && hasResponseId);
}

const hasFailed = (response: unknown): boolean =>
  isObject(response) && (response['status'] === 'failed' || hasValue(response['error']));

/**
 * Reads the parsed 2xx body of a paid request as a failed response of the Responses API; `undefined` if it is
 * not one. The `text` of every response is its format, not content that hides an error.
 */
export function readFailedResponse(value: unknown): ErrorBody | undefined {
  if (!isObject(value) || !isResponse(value)) return undefined;
  return hasFailed(value) ? readErrorValue(value) : undefined;
}

/** Events that report that a whole response failed. */
const failureEvents = /^response\.(failed|error)$/;

/** Events that end a response. */
const endEvents = /^response\.(completed|incomplete|done)$/;

/** Failures of an item, such as a call of a remote tool, after which the model continues. */
const itemFailures = /^response\.\w+\.failed$/;

/**
 * Reads an event of the Responses API as an error; `undefined` if it is not an error. Other events are read by
 * `readErrorEvent()`.
 */
export function readResponseEventError(
  value: unknown,
  eventName: string | undefined,
): ErrorBody | undefined {
  const { type = eventName, response } = toFields(value);
  if (typeof type !== 'string' || !type.startsWith('response.')) {
    return readErrorEvent(value, eventName);
  }
  if (itemFailures.test(type)) return undefined;
  const isFailed = failureEvents.test(type) || (endEvents.test(type) && hasFailed(response));
  return isFailed ? readErrorValue(value) : readErrorEvent(value, eventName);
}

function hasErrorCode(body: JsonObject): boolean {
  const { code, data, message } = body;
  if (findMessage(body) === undefined && data !== null) return false;
  const isCode = typeof code === 'string' || typeof code === 'number';
  if (isCode && !successCodes.test(`${code}`)) return true;
  return 'code' in body && 'type' in body && typeof message === 'string';
}

/** Fields that only pieces of a response contain; next to them, `message` or `code` is not an error. */
const pieceFields = ['choices', 'candidates', 'usageMetadata', 'promptFeedback', 'object'];

/**
 * Reads the parsed data of an event as an error; `undefined` if it is not an error.
 *
 * Gateways forward the errors of fifty providers: under `error` as an object, a string or with a `null` code,
 * bare, typed, as the event name, or in a list.
 */
export function readErrorEvent(
  value: unknown,
  eventName: string | undefined,
): ErrorBody | undefined {
  if (eventName === 'error') return readErrorValue(value);
  const found = listObjects(value).find(isErrorEvent);
  return found === undefined ? undefined : readErrorValue(found);
}

/** Returns whether a field of an event is not empty, even if it contains only empty fields. */
export function isNonEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return isObject(value) ? Object.keys(value).length > 0 : value === true;
}

/** Returns whether an object is an error, even without an `error` field around it. */
function isErrorEvent(value: JsonObject): boolean {
  const { error, choices, candidates, type, object, success, message, detail, code } = value;
  if (isNonEmpty(error)) return true;
  if (Array.isArray(choices ?? candidates)) return false;
  if (type === 'error' || object === 'error' || hasValue(findVendorError(value))) return true;
  if (pieceFields.some((field) => field in value)) return false;
  if (success === false) return true;
  if (typeof message !== 'string') return hasValue(detail);
  if (code === 0 || code === 200 || code === 'success') return false;
  // Some gateways also send progress with a type and a message.
  const isErrorType = typeof type === 'string' && /error/i.test(type);
  return isErrorType || 'code' in value || 'param' in value;
}
