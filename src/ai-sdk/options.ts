import type { JSONObject, SharedV4ProviderOptions, SharedV4Warning } from '@ai-sdk/provider';
import { type Gateway, InvalidInputError, type RequestOptions } from '../index.ts';

/** The name under which the AI SDK keeps options and metadata of this provider. */
export const providerName = 'modelGateway';

/** What every kind of call of the AI SDK may carry. */
interface CallOptions {
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  readonly headers?: Record<string, string | undefined> | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** The provider options of one call, sorted by whom they are for. */
export interface Call {
  /** For the client. Whatever is left over goes into the body, under the wire's own names. */
  readonly request: RequestOptions;
  /** For the model, under the names that it asked for. */
  readonly own: JSONObject;
}

type Kind = 'string' | 'number' | 'boolean';

interface Kinds {
  string: string;
  number: number;
  boolean: boolean;
}

function isKind<Name extends Kind>(value: unknown, kind: Name): value is Kinds[Name] {
  return typeof value === kind;
}

/**
 * One provider option.
 *
 * @throws `InvalidInputError` when it is there and of another kind
 */
export function optionOf<Name extends Kind>(
  given: JSONObject,
  name: string,
  kind: Name,
): Kinds[Name] | undefined {
  const value = given[name];
  if (value === undefined || isKind(value, kind)) return value;
  throw new InvalidInputError(`providerOptions.${providerName}.${name}`, `must be a ${kind}.`);
}

/**
 * One provider option of which only some words mean something.
 *
 * @throws `InvalidInputError` when it is another one
 */
export function wordOf<Word extends string>(
  given: JSONObject,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = given[name];
  const word = words.find((known) => known === value);
  if (word !== undefined || value === undefined) return word;
  const problem = `must be ${words.map((known) => `"${known}"`).join(' or ')}.`;
  throw new InvalidInputError(`providerOptions.${providerName}.${name}`, problem);
}

/** A limit that `null` lifts. */
function limitOf(given: JSONObject, name: string): number | null | undefined {
  return given[name] === null ? null : optionOf(given, name, 'number');
}

const requestNames: readonly string[] = [
  'callId',
  'idempotencyKey',
  'maxRetries',
  'retryUnknownOutcome',
  'timeout',
  'totalTimeout',
  'firstByteTimeout',
  'idleTimeout',
  'chunkTimeout',
];

/**
 * Reads the options of a call. What may have been charged is not repeated, also of text, vectors and sound,
 * unless the call or the client allows it.
 *
 * @param ownNames - The provider options that the model itself understands.
 * @throws `InvalidInputError` when an option of the client is of the wrong kind
 */
export function readCall(
  client: Gateway,
  options: CallOptions,
  ownNames: readonly string[] = [],
): Call {
  const given = options.providerOptions?.[providerName] ?? {};
  const rest = Object.entries(given).filter(
    ([name]) => !requestNames.includes(name) && !ownNames.includes(name),
  );
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => ownNames.includes(name)));
  const request: RequestOptions = {
    callId: optionOf(given, 'callId', 'string'),
    idempotencyKey: optionOf(given, 'idempotencyKey', 'string'),
    maxRetries: optionOf(given, 'maxRetries', 'number'),
    retryUnknownOutcome:
      optionOf(given, 'retryUnknownOutcome', 'boolean') ?? client.retryUnknownOutcome ?? false,
    timeout: optionOf(given, 'timeout', 'number'),
    totalTimeout: limitOf(given, 'totalTimeout'),
    firstByteTimeout: limitOf(given, 'firstByteTimeout'),
    idleTimeout: limitOf(given, 'idleTimeout'),
    chunkTimeout: limitOf(given, 'chunkTimeout'),
    headers: options.headers,
    signal: options.abortSignal,
    extraBody: rest.length === 0 ? undefined : Object.fromEntries(rest),
  };
  return { request, own };
}

/** A warning that an option of the AI SDK has no effect. */
export function unsupported(feature: string, details?: string): SharedV4Warning {
  return { type: 'unsupported', feature, ...(details !== undefined && { details }) };
}

/** Whether a value is an object that JSON can hold, as far as its outside tells. */
export function isJSONObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The headers of an answer, as the AI SDK wants them. */
export function headersOf(response: Response): Record<string, string> {
  return Object.fromEntries(response.headers);
}

/** Several requests of one call have ids of their own: a gateway that honours ids would make one of all. */
export function numbered<Options extends RequestOptions>(request: Options, index: number): Options {
  if (index === 0) return request;
  const { callId, idempotencyKey } = request;
  const own = (id: string | undefined): string | undefined => id && `${id}-${index + 1}`;
  return { ...request, callId: own(callId), idempotencyKey: own(idempotencyKey) };
}

/**
 * Checks how much a request may ask for.
 *
 * @throws `InvalidInputError` when it is nothing
 */
export function checkLimit(name: string, limit: number): number {
  if (limit === Infinity || (Number.isInteger(limit) && limit > 0)) return limit;
  throw new InvalidInputError(name, 'must be an integer of at least 1, or Infinity.');
}
