import { isObject } from '../schemas/objects.ts';
import type { JsonObject } from '../types/common.ts';

/** What an error says that the gateway sent inside a stream. */
export interface ErrorText {
  /** `undefined` when it says nothing readable. */
  readonly message: string | undefined;
  readonly code?: string | null | undefined;
  readonly type?: string | undefined;
  readonly param?: string | null | undefined;
  /** The error object, or the text. */
  readonly error: unknown;
}

/** The gateway sent an error inside the stream. */
export class SentError extends Error {
  readonly text: ErrorText;

  constructor(text: ErrorText) {
    super(text.message);
    this.text = text;
  }
}

/** Providers' raw answers can be a megabyte; a message is for people. */
const maxMessageLength = 2_000;
const maxTextLength = 65_536;

const messageFields = ['message', 'msg', 'err', 'error_msg', 'detail', 'error'] as const;

/** Reads parsed JSON as an error: gateways nest it, wrap it in lists, or put JSON text into it. */
export function errorFromValue(value: unknown): ErrorText {
  const outer: unknown = Array.isArray(value) ? value[0] : value;
  const inner = isObject(outer) && isObject(outer['error']) ? outer['error'] : outer;
  const message = messageOf(outer, 0);
  if (!isObject(inner)) return { message, error: inner };
  return {
    message,
    code: asText(inner['code']),
    type: asText(inner['type']) ?? asText(inner['status']) ?? undefined,
    param: asText(inner['param']),
    error: inner,
  };
}

/** Reads text that is not JSON as an error, for example the page of a proxy. */
export function errorFromText(text: string): ErrorText {
  const isPage = text.startsWith('<');
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
  const message = isPage ? `an HTML page${title ? ` (${title})` : ''}` : cut(text.trim());
  return { message: message === '' ? undefined : message, error: text.slice(0, maxTextLength) };
}

function cut(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}

/** Codes come as text, numbers, `null` and `""`. */
function asText(value: unknown): string | null | undefined {
  if (typeof value === 'number') return String(value);
  if (value === null) return null;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function messageOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : unwrap(value, depth);
  if (!isObject(value) || depth > 3) return undefined;
  for (const field of messageFields) {
    const message = messageOf(value[field], depth + 1);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Some gateways put the provider's whole JSON answer into the message. */
function unwrap(message: string, depth: number): string {
  if (!/^\s*[{[]/.test(message)) return cut(message);
  const inner: JsonObject = { inner: parseJSON(message) };
  return messageOf(inner['inner'], depth + 1) ?? cut(message);
}

/** Parses JSON; `undefined` when the text is none. */
export function parseJSON(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
