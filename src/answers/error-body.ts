import type { JsonObject } from '../types.ts';
import {
  firstOf,
  holdsSomething,
  isObject,
  objectsOf,
  parseJSON,
  findId,
  textOf,
} from './objects.ts';

/** The longest message that is repeated in an error; providers' raw bodies can be a megabyte. */
const maxMessageLength = 2_000;
/** The longest text that is kept in an error. */
const maxTextLength = 65_536;

/** What an error body says, whichever of the known envelopes it came in. */
export interface ErrorBody {
  /**
   * `gateway` and, for what a submission failed with, `task` are its own; `other` is JSON that fits
   * neither, `html` and `text` are bodies that are no JSON, and `empty` has no bytes.
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

/** A message, and the request id with its parentheses that the gateway writes at its end. */
function splitRequestId(message: string): [text: string, suffix: string] {
  const text = message.trim();
  const suffix = /\(request id: [^()\s]{1,200}\)$/i.exec(text)?.[0] ?? '';
  return suffix === '' ? [text, ''] : [text.slice(0, -suffix.length).trimEnd(), suffix];
}

/** The request id in an error message; the last one, as each gateway in a chain adds its own. */
function requestIdIn(message = ''): string | undefined {
  return [...message.matchAll(/\(request id: ([^()\s]{1,200})\)/gi)].at(-1)?.[1];
}

/** A code as text: gateways send strings, numbers, `null` and `""`. */
function codeText(value: unknown): string | null | undefined {
  if (typeof value === 'number') return String(value);
  return value === null ? null : textOf(value);
}

const codeFields = ['code', 'error_code', 'status_code', 'errorCode', 'Code'];

type SentCode = ErrorBody['sentCode'];

function isSentCode(value: unknown): value is SentCode {
  return typeof value === 'string' || typeof value === 'number' || value === null;
}

/** Returns the first code that is not empty, or else the first empty one. */
function findCode(...levels: readonly JsonObject[]): SentCode {
  const codes = levels.flatMap((level) => codeFields.map((name) => level[name])).filter(isSentCode);
  const filled = codes.find((code) => typeof codeText(code) === 'string');
  return filled === undefined ? codes[0] : filled;
}

/** Cuts text for a message, keeping the request id that stands at its end. */
function shorten(text: string): string {
  const clean = text.trim();
  if (clean.length <= maxMessageLength) return clean;
  const [kept, suffix] = splitRequestId(clean);
  const end = suffix === '' ? '…' : `… ${suffix}`;
  // A cut may not leave half of a surrogate pair.
  const start = kept.slice(0, maxMessageLength - end.length).replace(/[\uD800-\uDBFF]$/, '');
  return start + end;
}

/** Ends what a gateway says, as advice follows it. */
export function asSentence(text: string): string {
  return text.replace(/([^.!?…)\u3002\uFF01\uFF1F])$/, '$1.');
}

/** Deeper than any gateway nests; a body that nests a thousand times may not exhaust the stack. */
const deepest = 8;

/** The first readable message among the places where gateways and providers put it. */
function messageOf(value: unknown): string | undefined {
  const message = rawMessageOf(value, deepest);
  // Some gateways put the provider's whole JSON answer into it; one level is unwrapped.
  if (message === undefined || !/^\s*[{[]/.test(message)) return message;
  const [text, suffix] = splitRequestId(message);
  const inner = rawMessageOf(parseJSON(text), deepest);
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

function rawMessageOf(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return textOf(value);
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return rawMessageOf(value[0], levels - 1);
  if (!isObject(value)) return undefined;
  const { header, detail, error } = value;
  const own = firstOf(messageFields, (name) => textOf(value[name]));
  const text = own ?? (isObject(header) ? textOf(header['message']) : undefined);
  if (text !== undefined) return text;
  const foreign = foreignError(value);
  const nested = nestedError(value) ?? (foreign === value ? undefined : foreign);
  const places = [Array.isArray(detail) ? detail : undefined, error, nested];
  return firstOf(places, (place) => rawMessageOf(place, levels - 1));
}

/** Whether a field holds a code of failure; `0` and `"0"` stand for success. */
function isFailureCode(value: unknown): boolean {
  return holdsSomething(value) && value !== '0' && typeof value !== 'object';
}

/** An error in what should be the answer: in its object, or in the first item of its list. */
function nestedError({ response, data }: JsonObject): unknown {
  return objectsOf(Array.isArray(data) ? data : response)[0]?.['error'];
}

/**
 * The error of an object that says so as others than OpenAI do: beside its fields, in a list, or in a
 * choice. `undefined` when there is none.
 */
function foreignError(body: JsonObject): unknown {
  const { base_resp: base, errors, fault, Response: wrapped, choices } = body;
  if (isObject(base) && isFailureCode(base['status_code'])) return base;
  if (isFailureCode(body['error_code']) || isFailureCode(body['errorCode'])) return body;
  const nested = [errors, fault, isObject(wrapped) ? wrapped['Error'] : undefined];
  return nested.find((value) => holdsSomething(value)) ?? objectsOf(choices)[0]?.['error'];
}

/** Whether a list is an answer although nothing is in it: the sender says of no error. */
export function isEmptyAnswer(list: unknown, body: JsonObject): boolean {
  return Array.isArray(list) && list.length === 0 && !holdsSomething(foreignError(body));
}

/** Whether an error body was JSON. */
export const isJSON = ({ envelope }: ErrorBody): boolean => !/^(html|text|empty)$/.test(envelope);

function envelopeOf(body: JsonObject, inner: unknown): ErrorBody['envelope'] {
  const { success, code, message } = body;
  if (success === false || isObject(inner) || typeof inner === 'string') return 'gateway';
  if (typeof code === 'string' && 'data' in body) return 'task';
  if (typeof message === 'string' && ('type' in body || 'param' in body)) return 'gateway';
  return typeof code === 'string' ? 'task' : 'other';
}

/** What a body says that has no fields: a message at most. */
function wordless(
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
    requestId: requestIdIn(message),
    error,
  };
}

export function readErrorValue(value: unknown): ErrorBody {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(body)) return wordless('other', textOf(value), value);
  const inner = body['error'] ?? nestedError(body);
  const [source = body] = objectsOf(inner ?? foreignError(body));
  const sentCode = findCode(source, body);
  return {
    ...wordless(envelopeOf(body, inner), messageOf(inner) ?? messageOf(body), inner ?? value),
    code: codeText(sentCode),
    sentCode,
    type: textOf(source['type']) ?? textOf(source['status']),
    param: codeText(source['param']),
  };
}

/** Reads an error body by its content; its content type is often wrong. */
export function readErrorText(text: string): ErrorBody {
  // White space includes the byte order mark.
  const trimmed = text.trim();
  const value = /^[{[]/.test(trimmed) ? parseJSON(trimmed) : undefined;
  return value === undefined ? readPlainText(trimmed) : readErrorValue(value);
}

/** Reads text that is not JSON as an error, for example the page of a proxy. */
export function readPlainText(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === '') return wordless('empty', undefined, undefined);
  const error = trimmed.slice(0, maxTextLength);
  if (!trimmed.startsWith('<')) return wordless('text', trimmed, error);
  const title = /<title[^>]{0,200}>([^<]{0,500})<\/title>/i.exec(trimmed)?.[1];
  return wordless('html', textOf(title), error);
}

/** Whether the answers of a call are about a task, which it makes or reads: one that failed is an answer. */
export type TaskRole = 'creates' | 'reads' | undefined;

/** Fields that only an answer with something usable in it carries: lists, objects, or a transcript. */
const contentFields = ['choices', 'candidates', 'data', 'models', 'text', 'promptFeedback'];

/** Words that stand for success where others put a code. */
const successCodes = /^(|0|200|ok|success|succeed|succeeded)$/i;

/**
 * Reads a parsed 2xx body as an error, or gives `undefined` when it is an answer.
 *
 * The gateway answers 200 with `{error}`, with a task error, with `success: false` and with a bare
 * message. A failed video task also has an `error`, next to its id or its status, and is an answer; a
 * submission that names a task has made it, whatever else it says.
 */
export function readErrorInSuccess(value: unknown, task: TaskRole): ErrorBody | undefined {
  const body: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(body)) return undefined;
  const { success, status, error } = body;
  if (task === 'creates' && findId(body) !== undefined) return undefined;
  if (success === false) return readErrorValue(value);
  const hasContent = contentFields.some((name) => {
    const isContent = typeof body[name] === 'object' || name === 'text';
    return isContent && holdsSomething(body[name]);
  });
  if (hasContent) return undefined;
  const hasId = findId(body) !== undefined;
  const isTask = task !== undefined && (hasId || (typeof status === 'string' && status !== ''));
  if (isTask) return undefined;
  const isError = holdsSomething(error) || (!hasId && hasErrorCode(body));
  return isError ? readErrorValue(value) : undefined;
}

function hasErrorCode(body: JsonObject): boolean {
  const { code, data, message } = body;
  if (messageOf(body) === undefined && data !== null) return false;
  const isCode = typeof code === 'string' || typeof code === 'number';
  if (isCode && !successCodes.test(`${code}`)) return true;
  return 'code' in body && 'type' in body && typeof message === 'string';
}

/** Fields that only a piece of an answer carries; next to them a `message` or `code` is no error. */
const pieceFields = ['choices', 'candidates', 'usageMetadata', 'promptFeedback', 'object'];

/**
 * Reads the parsed data of an event as an error, or gives `undefined` when it is none.
 *
 * Gateways forward the errors of fifty providers: under `error` as an object, a string or with a
 * `null` code, bare, typed, named by the event, or in a list.
 */
export function readErrorEvent(
  value: unknown,
  eventName: string | undefined,
): ErrorBody | undefined {
  if (eventName === 'error') return readErrorValue(value);
  const found = objectsOf(value).find(isErrorEvent);
  return found === undefined ? undefined : readErrorValue(found);
}

/** Whether a field of an event holds anything, be it nothing but empty fields. */
export function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return isObject(value) ? Object.keys(value).length > 0 : value === true;
}

/** Whether an object is an error, also without an `error` field around it. */
function isErrorEvent(value: JsonObject): boolean {
  const { error, choices, candidates, type, object, success, message, detail, code } = value;
  if (saysSomething(error)) return true;
  if (Array.isArray(choices ?? candidates)) return false;
  if (type === 'error' || object === 'error' || holdsSomething(foreignError(value))) return true;
  if (pieceFields.some((field) => field in value)) return false;
  if (success === false) return true;
  if (typeof message !== 'string') return holdsSomething(detail);
  if (code === 0 || code === 200 || code === 'success') return false;
  // Some gateways also tell of their progress, with a type and a message.
  const isErrorType = typeof type === 'string' && /error/i.test(type);
  return isErrorType || 'code' in value || 'param' in value;
}
