import type { JsonObject } from '../types.ts';
import { firstOf, holdsSomething, isObject, objectsOf } from './objects.ts';
import { parseJSON } from './parse-json.ts';
import { requestIdFromMessage, splitRequestId } from './request-id-text.ts';

/** The longest message that is repeated in an error; providers' raw bodies can be a megabyte. */
const maxMessageLength = 2_000;
/** The longest text that is kept in an error. */
const maxTextLength = 65_536;

/** What an error body says, whichever of the known envelopes it came in. */
export interface ErrorBody {
  /** `html` and `text` are bodies that are not JSON, `empty` has no bytes, `other` fits no envelope. */
  readonly envelope:
    | 'openai'
    | 'task'
    | 'console'
    | 'bare'
    | 'google'
    | 'other'
    | 'html'
    | 'text'
    | 'empty';
  readonly message: string | undefined;
  readonly code: string | null | undefined;
  readonly type: string | undefined;
  readonly param: string | null | undefined;
  readonly requestId: string | undefined;
  /** The innermost error object, the parsed body, or the text. */
  readonly error: unknown;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A code as text: gateways send strings, numbers, `null` and `""`. */
function codeText(value: unknown): string | null | undefined {
  if (typeof value === 'number') return String(value);
  if (value === null) return null;
  return nonEmptyText(value);
}

/** The code of an error; `null` when that is all that the error says. */
function codeOf(error: JsonObject): string | null | undefined {
  const codes = codeFields.map((name) => codeText(error[name]));
  return codes.find((code) => typeof code === 'string') ?? codes[0];
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

/** Deeper than any gateway nests; a body that nests a thousand times may not exhaust the stack. */
const deepest = 8;

/** Some gateways put the provider's whole JSON answer into `message`; one level is unwrapped. */
function unwrapMessage(message: string): string {
  const [text, suffix] = splitRequestId(message.trim());
  if (!text.startsWith('{') && !text.startsWith('[')) return message;
  const inner = rawMessageOf(parseJSON(text), deepest);
  if (inner === undefined) return message;
  return suffix === '' ? inner : `${inner} ${suffix}`;
}

/** The first readable message among the places where gateways and providers put it. */
export function messageOf(value: unknown): string | undefined {
  const message = rawMessageOf(value, deepest);
  return message === undefined ? undefined : unwrapMessage(message);
}

function rawMessageOf(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return nonEmptyText(value);
  if (levels === 0) return undefined;
  if (Array.isArray(value)) return rawMessageOf(value[0], levels - 1);
  if (!isObject(value)) return undefined;
  const own = firstOf(messageFields, (name) => nonEmptyText(value[name]));
  if (own !== undefined) return own;
  const { header, detail, error } = value;
  const foreign = foreignError(value);
  const lists = Array.isArray(detail) ? detail : undefined;
  const nested = nestedError(value) ?? (foreign === value ? undefined : foreign);
  const text = isObject(header) ? nonEmptyText(header['message']) : undefined;
  return text ?? firstOf([lists, error, nested], (place) => rawMessageOf(place, levels - 1));
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
const codeFields = ['code', 'error_code', 'status_code', 'errorCode', 'Code'];

/** Whether a field holds a code of failure; `0` and `"0"` stand for success. */
function isFailureCode(value: unknown): boolean {
  return holdsSomething(value) && value !== '0' && typeof value !== 'object';
}

/** An error in what should be the answer: in its object, or in the first item of its list. */
function nestedError({ response, data }: JsonObject): unknown {
  const [place] = objectsOf(Array.isArray(data) ? data : response);
  return place?.['error'];
}

/**
 * The error of an object that says so as others than OpenAI do: beside its fields, in a list, or in a
 * choice. `undefined` when there is none.
 */
export function foreignError(body: JsonObject): unknown {
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

function envelopeOf(body: JsonObject, inner: unknown): ErrorBody['envelope'] {
  if (body['success'] === false) return 'console';
  if (isObject(inner)) {
    return typeof inner['status'] === 'string' && typeof inner['code'] === 'number'
      ? 'google'
      : 'openai';
  }
  if (typeof inner === 'string') return 'openai';
  if (typeof body['code'] === 'string' && 'data' in body) return 'task';
  if (typeof body['message'] === 'string' && ('type' in body || 'param' in body)) return 'bare';
  return typeof body['code'] === 'string' ? 'task' : 'other';
}

function readObject(body: JsonObject, whole: unknown): ErrorBody {
  const inner = body['error'] ?? nestedError(body);
  const [source = body] = objectsOf(inner ?? foreignError(body));
  const message = messageOf(inner) ?? messageOf(body);
  return {
    envelope: envelopeOf(body, inner),
    message: message === undefined ? undefined : shorten(message),
    code: codeOf(source) ?? codeOf(body),
    type: nonEmptyText(source['type']) ?? nonEmptyText(source['status']),
    param: codeText(source['param']),
    requestId: requestIdFromMessage(message),
    error: inner ?? whole,
  };
}

/** What a body says that has no fields: a message at most. */
function wordless(
  envelope: ErrorBody['envelope'],
  message: string | undefined,
  error: unknown,
): ErrorBody {
  const none = undefined;
  return { envelope, message, error, code: none, type: none, param: none, requestId: none };
}

/** Reads a parsed JSON error body of any known shape. */
export function readErrorValue(value: unknown): ErrorBody {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (isObject(first)) return readObject(first, value);
  return wordless('other', typeof value === 'string' ? shorten(value) : undefined, value);
}

/** Reads an error body by its content; its content type is often wrong. */
export function readErrorText(text: string): ErrorBody {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    const value = parseJSON(trimmed);
    if (value !== undefined) return readErrorValue(value);
  }
  return readPlainText(trimmed);
}

/** Reads text that is not JSON as an error, for example the page of a proxy. */
export function readPlainText(text: string): ErrorBody {
  const trimmed = text.trim();
  const envelope = trimmed === '' ? 'empty' : trimmed.startsWith('<') ? 'html' : 'text';
  const title = /<title[^>]{0,200}>([^<]{0,500})<\/title>/i.exec(trimmed)?.[1]?.trim();
  const message = envelope === 'html' ? nonEmptyText(title) : nonEmptyText(trimmed);
  const error = trimmed === '' ? undefined : trimmed.slice(0, maxTextLength);
  const said = message === undefined ? undefined : shorten(message);
  return { ...wordless(envelope, said, error), requestId: requestIdFromMessage(message) };
}
