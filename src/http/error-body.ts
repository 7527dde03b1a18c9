import { requestIdFromMessage } from './request-id.ts';

/** The longest message that is repeated in an error; providers' raw bodies can be a megabyte. */
const maxMessageLength = 2_000;

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

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** Cuts text for a message, keeping the request id that stands at its end. */
function shorten(text: string): string {
  const clean = text.trim();
  if (clean.length <= maxMessageLength) return clean;
  const suffix = /\(request id: [^()\s]+\)\s*$/i.exec(clean)?.[0] ?? '';
  return `${clean.slice(0, maxMessageLength - suffix.length - 2)}… ${suffix}`.trim();
}

/** Some gateways put the provider's whole JSON answer into `message`; one level is unwrapped. */
function unwrapMessage(message: string): string {
  const trimmed = message.trim();
  if (!trimmed.startsWith('{') && !trimmed.startsWith('[')) return message;
  const inner = parseJSON(trimmed);
  return (inner === undefined ? undefined : messageOf(inner, 1)) ?? message;
}

/** The first readable message among the places where gateways and providers put it. */
function messageOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return nonEmptyText(value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : messageOf(value[0], depth);
  if (!isFields(value)) return undefined;
  const response = isFields(value['response']) ? value['response']['error'] : undefined;
  const header = isFields(value['header']) ? value['header']['message'] : undefined;
  const places = [
    value['message'],
    value['msg'],
    value['err'],
    value['error_msg'],
    value['detail'],
  ];
  for (const place of [...places, header]) {
    const text = nonEmptyText(place);
    if (text !== undefined) return depth === 0 ? unwrapMessage(text) : text;
  }
  return messageOf(value['error'], depth) ?? messageOf(response, depth);
}

/** Parses JSON, or gives `undefined` when the text is not JSON. */
export function parseJSON(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function envelopeOf(body: Fields, inner: unknown): ErrorBody['envelope'] {
  if (body['success'] === false) return 'console';
  if (isFields(inner)) {
    return typeof inner['status'] === 'string' && typeof inner['code'] === 'number'
      ? 'google'
      : 'openai';
  }
  if (typeof inner === 'string') return 'openai';
  if (typeof body['code'] === 'string' && 'data' in body) return 'task';
  if (typeof body['message'] === 'string' && ('type' in body || 'param' in body)) return 'bare';
  return typeof body['code'] === 'string' ? 'task' : 'other';
}

function readObject(body: Fields, whole: unknown): ErrorBody {
  const nested = isFields(body['response']) ? body['response']['error'] : undefined;
  const inner = body['error'] ?? nested;
  const source = isFields(inner) ? inner : body;
  const message = messageOf(inner, 0) ?? messageOf(body, 0);
  return {
    envelope: envelopeOf(body, inner),
    message: message === undefined ? undefined : shorten(message),
    code: codeText(source['code']) ?? codeText(body['code']),
    type: nonEmptyText(source['type']) ?? nonEmptyText(source['status']),
    param: codeText(source['param']),
    requestId: message === undefined ? undefined : requestIdFromMessage(message),
    error: inner ?? whole,
  };
}

/** Reads a parsed JSON error body of any known shape. */
export function readErrorValue(value: unknown): ErrorBody {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (isFields(first)) return readObject(first, value);
  return {
    envelope: 'other',
    message: typeof value === 'string' ? shorten(value) : undefined,
    code: undefined,
    type: undefined,
    param: undefined,
    requestId: undefined,
    error: value,
  };
}

/** Reads an error body by its content; its content type is often wrong. */
export function readErrorText(text: string): ErrorBody {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    const value = parseJSON(trimmed);
    if (value !== undefined) return readErrorValue(value);
  }
  const envelope = trimmed === '' ? 'empty' : trimmed.startsWith('<') ? 'html' : 'text';
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(trimmed)?.[1]?.trim();
  const message = envelope === 'html' ? nonEmptyText(title) : nonEmptyText(trimmed);
  return {
    envelope,
    message: message === undefined ? undefined : shorten(message),
    code: undefined,
    type: undefined,
    param: undefined,
    requestId: message === undefined ? undefined : requestIdFromMessage(message),
    error: trimmed === '' ? undefined : trimmed,
  };
}

/** Whether a field holds something: gateways send `""`, `null`, `0`, `[]` and `{}` for nothing. */
function holdsSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isFields(value) || Object.keys(value).length > 0;
}

/** Fields that only an answer with something usable in it carries. */
const contentFields = [
  'id',
  'task_id',
  'video_id',
  'choices',
  'candidates',
  'data',
  'models',
  'text',
  'promptFeedback',
  'status',
];

/**
 * Reads a parsed 2xx body as an error, or gives `undefined` when it is an answer.
 *
 * The gateway answers 200 with `{error}`, with a task error, with `success: false` and with a bare
 * message. A failed video task also has an `error`, next to its id, and is an answer.
 */
export function readErrorInSuccess(value: unknown): ErrorBody | undefined {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (!isFields(body)) return undefined;
  if (body['success'] === false) return readErrorValue(value);
  if (contentFields.some((field) => holdsSomething(body[field]))) return undefined;
  const { code } = body;
  const hasError = holdsSomething(body['error']);
  const hasTaskCode = typeof code === 'string' && code !== '' && code !== 'success';
  const hasVendorCode = typeof code === 'number' && code !== 0 && code !== 200;
  const hasBareMessage = typeof body['message'] === 'string' && ('type' in body || 'param' in body);
  return hasError || hasTaskCode || hasVendorCode || hasBareMessage
    ? readErrorValue(value)
    : undefined;
}
