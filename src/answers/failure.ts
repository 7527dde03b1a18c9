import type { JsonObject } from '../types.ts';
import {
  findFirst,
  firstObject,
  hasValue,
  isObject,
  isText,
  listObjects,
  parseJSON,
  findId,
  toFields,
  codeText,
  trimmedText,
  unwrapLevels,
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

/** Places of an error in an object: an object, a list, or text. */
const errorPlaces = ['error', 'errors', 'Error', 'fault', 'error_info', 'exception'];

/** Objects that a success has too, with an `error` if they report one. */
const holders = ['result', 'meta'];

/** Objects that a success has too: an error only with a code that means failure, and a status only without an id. */
const statusPlaces = ['base_resp', 'header'];
const failurePlaces = [...statusPlaces, 'status'];

/** Fields that hold a body, and with it the error: of gateways, Tencent and Volcengine. */
const wrappers = ['data', 'response', 'Response', 'ResponseMetadata'];

/** Fields with a message that only failures have. */
const reasonFields = [
  'fail_reason',
  'failure_reason',
  'failedReason',
  'failReason',
  'failMsg',
  'error_message',
  'errorMessage',
  'error_msg',
  'errmsg',
  'failure',
  'error_description',
  'faultstring',
];

/** Fields with a message that a success may have too. */
const plainFields = [
  'message',
  'msg',
  'err',
  'detail',
  'task_status_msg',
  'status_msg',
  'Message',
  'reason',
];

/** The same, and fields that mostly name something. */
const messageFields = [...plainFields, 'description', 'title'];

/** The same fields of a task. There, a plain message is about the request, and a title is the task's. */
const taskMessageFields = ['task_status_msg', 'status_msg', 'reason', 'detail', 'message', 'msg'];

/** Fields with a code that only failures have. */
const failureCodes = ['error_code', 'errorCode', 'err_code', 'errcode', 'failureCode', 'failCode'];

const codeFields = ['code', ...failureCodes, 'status_code', 'Code'];

/** Fields of which each failure without a type has one. Most events of streams have none of them. */
const otherFields = ['choices', 'success', 'status_code', 'code', 'detail'];
const failureFields = new Set(
  [errorPlaces, failurePlaces, holders, reasonFields, failureCodes, otherFields].flat(),
);

/** Codes, messages and errors that mean success. */
const nothingFailed =
  /^(|0|20\d|ok|none|null|no error|success(ful|fully)?|succeed(ed)?|completed?|done|finished)$/i;

type SentCode = ErrorBody['sentCode'];

function isSentCode(value: unknown): value is SentCode {
  return typeof value === 'string' || typeof value === 'number' || value === null;
}

/** Returns whether a code means that something failed. */
function isFailureCode(value: unknown): boolean {
  const code = codeText(value);
  return code !== undefined && !nothingFailed.test(code);
}

/** Returns the first code that means failure, or else the first one that is not empty, or else the first one. */
function findCode(levels: readonly JsonObject[], fields = codeFields): SentCode {
  const codes = levels.flatMap((level) => fields.map((name) => level[name])).filter(isSentCode);
  const failing = codes.find(isFailureCode);
  return failing ?? codes.find((code) => codeText(code) !== undefined) ?? codes[0];
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

/** Adds a full stop to a gateway's message, also after "(request id: 2026)", because a sentence follows it. */
export function asSentence(text: string): string {
  return text.replace(/([^.!?…)\u3002\uFF01\uFF1F]|[^.!?…\u3002\uFF01\uFF1F]\))$/, '$1.');
}

/** More than any gateway nests; protects the stack from deeply nested bodies. */
const maxDepth = 8;

/** Returns text unless it means success. Old builds have the URL of a result where others have a reason. */
function complaintIn(value: unknown): string | undefined {
  const text = trimmedText(value);
  const isResult = text === undefined || nothingFailed.test(text) || /^(https?|data):/i.test(text);
  return isResult ? undefined : text;
}

/**
 * Returns the error of one object, without the objects nested in it; `undefined` if it has none, or one that is empty or
 * means success.
 */
function errorIn(level: JsonObject): unknown {
  for (const name of errorPlaces) {
    const error = level[name];
    if (!hasValue(error)) continue;
    const { message: text = error, code } = isObject(error) ? error : {};
    if (!isText(text) || complaintIn(text) !== undefined || isFailureCode(code)) return error;
  }
  for (const name of failurePlaces) {
    const place = level[name];
    if (!isObject(place) || !codeFields.some((field) => isFailureCode(place[field]))) continue;
    if (name !== 'status' || findId(level) === undefined) return place;
  }
  for (const name of holders) {
    const holder = level[name];
    if (isObject(holder) && hasValue(holder['error'])) return holder['error'];
  }
  const error = listObjects(level['choices'])[0]?.['error'];
  return hasValue(error) ? error : undefined;
}

/** Returns an object, also one that is the only item of a list. */
function onlyObject(value: unknown): JsonObject | undefined {
  const item: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isObject(item) ? item : undefined;
}

/**
 * Returns a body and the bodies nested in it, outermost first. Errors of the items of a list are not errors of the
 * body, nor are those within a response of the Responses API.
 */
function levelsOf(body: JsonObject): readonly JsonObject[] {
  const levels = [body];
  for (let level = body; levels.length < maxDepth && !isResponse(level);) {
    const inner =
      findFirst(wrappers, (name) => onlyObject(level[name])) ?? firstObject(level['detail']);
    if (inner === undefined) break;
    levels.push(inner);
    level = inner;
  }
  return levels;
}

/** Text in front of a message: a code, or the name of a status. */
const label =
  /^([\w.:-]+|bad request|payment required|not found|method not allowed|unprocessable (entity|content)|too many requests|internal server error|bad gateway|service unavailable|gateway timeout)$/i;

/** Returns the message of the error in one object, or in its fields that only failures have. */
function reasonOf(level: JsonObject, depth = maxDepth): string | undefined {
  const error = errorIn(level);
  const text = error === undefined ? undefined : textIn(error, depth);
  const reason = findFirst(reasonFields, (name) =>
    name in level ? complaintIn(level[name]) : undefined,
  );
  if (text === undefined) return reason;
  if (error !== text || !label.test(text)) return text;
  const rest = reason ?? messageOf(level, depth);
  return rest === undefined || rest.includes(text) ? (rest ?? text) : `${text}: ${rest}`;
}

/** Returns the message of an object in the fields that a success may have too: text, or else what is nested there. */
function messageOf(level: JsonObject, depth: number): string | undefined {
  return (
    findFirst(messageFields, (name) => complaintIn(level[name])) ??
    findFirst(['message', 'detail', ...statusPlaces], (name) => textIn(level[name], depth - 1))
  );
}

/** Returns the message of an error: text, or what an object or the first item of a list contains. */
function textIn(error: unknown, depth: number): string | undefined {
  if (typeof error === 'string') return trimmedText(error);
  if (depth === 0) return undefined;
  if (Array.isArray(error)) {
    const isByField = error.every((item) => stepsIn(item).length > 0);
    const texts = error.slice(0, isByField ? mostFields : 1).map((item) => textIn(item, depth - 1));
    return trimmedText(texts.filter((text) => text !== undefined).join('; '));
  }
  if (!isObject(error)) return undefined;
  const direct = findFirst([...messageFields, ...reasonFields], (name) => trimmedText(error[name]));
  if (direct === undefined) return reasonOf(error, depth - 1) ?? messageOf(error, depth);
  const path = stepsIn(error).join('.');
  return path === '' ? direct : `${path}: ${direct}`;
}

/** The largest number of rejected fields in a message. */
const mostFields = 4;

/** Returns the steps to the field that pydantic or FastAPI rejected, from the part of the request. */
function stepsIn(detail: unknown): readonly string[] {
  const { loc } = toFields(detail);
  if (!Array.isArray(loc)) return [];
  return loc.slice(0, maxDepth + 1).flatMap((step: unknown) => codeText(step) ?? []);
}

/** Returns the first message of each field, as of `{ prompt: ["is too long"] }`. */
function textByField({ errors }: JsonObject): string | undefined {
  if (!isObject(errors)) return undefined;
  const texts = Object.entries(errors).flatMap(([field, messages]) => {
    const text = Array.isArray(messages) ? trimmedText(messages[0]) : undefined;
    return text === undefined ? [] : `${field}: ${text}`;
  });
  return trimmedText(texts.slice(0, mostFields).join('; '));
}

/** Returns why a body failed, from the places that only failures have. */
function findReason(body: JsonObject): string | undefined {
  return findFirst(levelsOf(body), (level) => reasonOf(level) ?? textByField(level));
}

/** Returns the message of a body. */
function findMessage(value: unknown): string | undefined {
  const message = findOuterMessage(value);
  return message && unwrapMessage(message);
}

/** Unwraps one level of JSON, because some gateways put a whole response, or the status of a task, into a message. */
function unwrapMessage(message: string): string {
  if (!/^\s*[{[]/.test(message)) return message;
  const [text, suffix] = splitRequestId(message);
  const value = parseJSON(text);
  const levels = unwrapLevels(toFields(value));
  const inner =
    findOuterMessage(value) ?? findFirst(levels, (level) => reasonOf(level)) ?? messageIn(levels);
  return inner === undefined ? message : `${inner} ${suffix}`.trimEnd();
}

function findOuterMessage(value: unknown): string | undefined {
  const body = firstObject(value);
  if (body === undefined) return textIn(value, 2);
  return findReason(body) ?? messageOf(body, maxDepth);
}

/** Returns the objects in which the error of a body stands, the outermost first, and the body and what it nests. */
function findSources(body: JsonObject): readonly JsonObject[] {
  const levels = levelsOf(body);
  const errors: JsonObject[] = [];
  let error = firstObject(findFirst(levels, errorIn));
  for (; error !== undefined && errors.length < maxDepth; error = firstObject(errorIn(error))) {
    errors.push(error);
  }
  // A level within another one is an error only if it is its detail.
  const { detail } = body;
  return [...errors, body, ...listObjects(detail)];
}

/** Returns whether a body itself says that something failed. */
export function saysFailure(value: unknown): boolean {
  const body = onlyObject(value);
  return body !== undefined && levelsOf(body).some(claimsFailure);
}

function claimsFailure(level: JsonObject): boolean {
  const { success, type, object, status, detail, message, code, data } = level;
  if (isResponse(level)) return hasFailed(level);
  if (type === 'error' || object === 'error') return true;
  if (!Object.keys(level).some((name) => failureFields.has(name))) return false;
  if (success === false) return true;
  if (errorIn(level) !== undefined) return true;
  if (reasonFields.some((name) => complaintIn(level[name]) !== undefined)) return true;
  const { status_code: statusCode, status_msg: reason } = level;
  if (isFailureCode(statusCode) && complaintIn(reason) !== undefined) return true;
  if (failureCodes.some((name) => isFailureCode(level[name]))) return true;
  const isFailed = typeof status === 'string' && /^(error|fail(ed|ure)?)$/i.test(status);
  if (isFailed && messageOf(level, maxDepth) !== undefined) return true;
  // Beside an id, the others may be about the request.
  if (findId(level) !== undefined) return false;
  const hasMessage = data === null || plainFields.some((name) => isText(level[name]));
  if (hasMessage && isFailureCode(code)) return true;
  return typeof message === 'string' ? 'code' in level && 'type' in level : hasValue(detail);
}

/** Returns whether an empty list is a valid result: the body reports no error. */
export function isEmptyResult(list: unknown, body: JsonObject): boolean {
  return Array.isArray(list) && list.length === 0 && !saysFailure(body);
}

/** The reason of a failed task if the gateway sent none. */
export const noReason = 'The gateway returned no reason.';

/** The reason of a failure, normalized across gateways. */
export interface TaskErrorDetails {
  /** The reason as text; never empty. */
  message: string;
  /** The vendor's code; numbers become strings. */
  code?: string | undefined;
}

/** Returns the code of the vendor in a task. A plain `code` belongs to the request. */
function taskCodeIn(level: JsonObject): string | undefined {
  const error = firstObject(errorIn(level));
  const inner = error && firstObject(errorIn(error));
  const errors = [inner, error, firstObject(level['output'])].filter((each) => each !== undefined);
  return codeText(findCode(errors) ?? findCode([level], failureCodes));
}

/** Returns the reason of a failure. Only for failed tasks, because other tasks fill the fields with messages too. */
export function findFailure(body: JsonObject): TaskErrorDetails {
  const error = findComplaint(body);
  const code = findFirst(unwrapLevels(body), taskCodeIn);
  const hasReason = error !== undefined && error.message !== code;
  const message = (hasReason ? error.message : findTaskMessage(body)) ?? code ?? noReason;
  return code === undefined ? { message } : { message, code };
}

/** Returns the error of a task, from the places that only failures have; `undefined` if there is none. */
export function findComplaint(body: JsonObject): TaskErrorDetails | undefined {
  const levels = unwrapLevels(body);
  const reason = findFirst(levels, (level) => reasonOf(level));
  if (reason === undefined && levels.every((level) => errorIn(level) === undefined)) {
    return undefined;
  }
  const code = findFirst(levels, taskCodeIn);
  const message = reason === undefined ? (code ?? noReason) : unwrapMessage(reason);
  return code === undefined ? { message } : { message, code };
}

/** Returns what a task says, in the fields that a success has too. */
export function findTaskMessage(body: JsonObject): string | undefined {
  const message = messageIn(unwrapLevels(body));
  return message && unwrapMessage(message);
}

const messageIn = (levels: readonly JsonObject[]): string | undefined =>
  findFirst(taskMessageFields, (name) => findFirst(levels, (level) => complaintIn(level[name])));

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
  const body = firstObject(value);
  const source = body && (firstObject(body['error']) ?? findSources(body)[0]);
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
  const steps = details.map(stepsIn).find((found) => found.length > 0) ?? [];
  return trimmedText(steps.slice(steps[0] === 'body' ? 1 : 0).join('.'));
}

function readFields(value: unknown): ErrorBody {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return withoutFields('other', trimmedText(value), value);
  const inner = findFirst(levelsOf(body), (level) => level['error'] ?? undefined);
  const sources = findSources(body);
  const [source = body] = sources;
  const sentCode = findCode(sources);
  const plain = withoutFields(findEnvelope(body, inner), findMessage(body), inner ?? value);
  return {
    ...plain,
    requestId:
      plain.requestId ?? findFirst([source, body], (level) => codeText(level['request_id'])),
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
  // The error of a store.
  const message = title ?? /<Message>([^<]{0,500})<\/Message>/.exec(trimmed)?.[1];
  const code = trimmedText(/<Code>([^<]{0,100})<\/Code>/.exec(trimmed)?.[1]);
  const page = withoutFields('html', trimmedText(message) ?? code, error);
  return code === undefined ? page : { ...page, code, sentCode: code };
}

/** Returns the `data` of an object that reports no failure, in which some gateways wrap responses, or else the value. */
export function unwrapData(value: unknown): unknown {
  const { data, success = true, code, error } = toFields(value);
  const hasFailed = success !== true || isFailureCode(code) || hasValue(error);
  return isObject(data) && !hasFailed ? data : value;
}

/**
 * Fields in which documented routes return results. A call by its path has no schema that says what was requested; beside
 * one of these fields, an error is only a part of the response.
 */
const resultFields = [
  'choices',
  'candidates',
  'content',
  'data',
  'models',
  'results',
  'text',
  'promptFeedback',
];

/**
 * Returns whether the 2xx body of a call by its path holds a result, although it may report an error too.
 *
 * @param isPaid - `true` if a failed response of the Responses API is an error, and not the result of a read.
 * @param isDocumented - `false` for a route whose results may have fields that are errors elsewhere.
 */
export function isRouteResult(value: unknown, isPaid = false, isDocumented = false): boolean {
  const body = onlyObject(value);
  if (body === undefined) return true;
  const { success, error, fault, code } = body;
  if (success === false) return false;
  if (isResponse(body)) return !isPaid || !hasFailed(body);
  const hasContent = resultFields.some((name) => {
    const content = body[name];
    const isContent = typeof content === 'object' || name === 'text';
    return isContent && hasValue(content) && errorIn(toFields(onlyObject(content))) === undefined;
  });
  if (hasContent) return true;
  if (hasValue(error) || isObject(fault)) return false;
  return findId(body) !== undefined || (!isDocumented && code === undefined);
}

/** Returns whether an object is a response of the Responses API. */
function isResponse({ object, output, id }: JsonObject): boolean {
  const hasResponseId = typeof id === 'string' && id.startsWith('resp');
  return object === 'response' || (Array.isArray(output) && hasResponseId);
}

const hasFailed = (response: unknown): boolean =>
  isObject(response) && (response['status'] === 'failed' || hasValue(response['error']));

/** Events that report that a whole response failed. */
const failureEvents = /^response\.(failed|error)$/;

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
  const { error, choices, candidates, type, object, message, code } = value;
  if (isNonEmpty(error)) return true;
  if (Array.isArray(choices ?? candidates)) return isNonEmpty(firstObject(choices)?.['error']);
  // A piece of a response, whose message and code are about its progress.
  if ((isText(object) && object !== 'error') || 'usageMetadata' in value) {
    return type === 'error' || errorIn(value) !== undefined;
  }
  if (saysFailure(value)) return true;
  if (typeof message !== 'string' || (codeText(code) !== undefined && !isFailureCode(code)))
    return false;
  // Some gateways also send progress with a type and a message.
  const isErrorType = typeof type === 'string' && /error/i.test(type);
  return isErrorType || 'code' in value || 'param' in value;
}

const maxQuoteLength = 300;

/** Returns the beginning of what was received in one line, or the title of a page; `undefined` if it is blank. */
export function quote(text: string): string | undefined {
  const beginning = text.slice(0, maxTextLength);
  const title = beginning.trimStart().startsWith('<')
    ? readPlainText(beginning).message
    : undefined;
  // More than enough for a line of that length without its spaces.
  const line = (title ?? beginning.slice(0, 10 * maxQuoteLength)).replace(/\s+/g, ' ').trim();
  if (line.length <= maxQuoteLength) return line === '' ? undefined : line;
  return `${line.slice(0, maxQuoteLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns the beginning of a parsed value as JSON in one line. */
export function quoteValue(value: unknown): string | undefined {
  return value === undefined
    ? undefined
    : quote(typeof value === 'string' ? value : JSON.stringify(value));
}
