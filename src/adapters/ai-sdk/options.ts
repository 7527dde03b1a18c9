import type { JSONObject, SharedV4ProviderOptions, SharedV4Warning } from '@ai-sdk/provider';
import { InvalidInputError, type RequestOptions, usageOf } from '../../index.ts';
import { findRequestOption, reasonWithoutEffect, toWireNames } from './option-names.ts';

/** Key of this provider in options and metadata of the AI SDK. */
export const providerName = 'modelGateway';

/** Options that all calls of the AI SDK share. */
interface CallOptions {
  readonly providerOptions?: SharedV4ProviderOptions | undefined;
  readonly headers?: Record<string, string | undefined> | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** The provider options of a call. */
export interface Call {
  /** Options for the client. Unknown names are added to the body. */
  readonly request: RequestOptions;
  /** Options that the model handles itself. */
  readonly providerOptions: JSONObject;
  /** Warnings about options that do nothing here. */
  readonly warnings: SharedV4Warning[];
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
 * Reads a provider option.
 *
 * @throws `InvalidInputError` if it has another type
 */
export function readOption<Name extends Kind>(
  values: JSONObject,
  name: string,
  kind: Name,
): Kinds[Name] | undefined {
  const value = values[name];
  if (value === undefined || isKind(value, kind)) return value;
  throw new InvalidInputError(`providerOptions.${providerName}.${name}`, `must be a ${kind}.`);
}

/**
 * Reads a provider option with a fixed set of values.
 *
 * @throws `InvalidInputError` if it has another value
 */
export function readEnum<Word extends string>(
  values: JSONObject,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = values[name];
  const word = words.find((known) => known === value);
  if (word !== undefined || value === undefined) return word;
  const problem = `must be ${words.map((known) => `"${known}"`).join(' or ')}.`;
  throw new InvalidInputError(`providerOptions.${providerName}.${name}`, problem);
}

/** Keys of the options of all compatible providers and of this one, each also as it is spelt in names of packages. */
const optionKeys = ['openai-compatible', 'openaiCompatible', 'model-gateway', providerName];

/** Returns the options of this provider, and those of all compatible ones. */
export function sharedOptions(
  options: SharedV4ProviderOptions | undefined,
): JSONObject | undefined {
  const found = optionKeys.flatMap((key) => options?.[key] ?? []);
  return found.length === 0 ? undefined : Object.assign({}, ...found);
}

/**
 * Reads the options of a call, from the key of this provider and from the one that all providers of
 * `@ai-sdk/openai-compatible` share.
 *
 * @param ownNames - Provider options that the model handles itself.
 * @throws `InvalidInputError` if an option of the client is invalid
 */
export function readCall(options: CallOptions, ownNames: readonly string[] = []): Call {
  const { headers, abortSignal: signal } = options;
  const request: RequestOptions = {
    ...(headers && { headers }),
    ...(signal && { signal }),
  };
  const providerOptions: JSONObject = {};
  const warnings: SharedV4Warning[] = [];
  const values = sharedOptions(options.providerOptions);
  if (values === undefined) return { request, providerOptions, warnings };
  const rest: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const field = `providerOptions.${providerName}.${name}`;
    const option = findRequestOption(name);
    if (ownNames.includes(name)) providerOptions[name] = value;
    else if (option !== undefined) {
      const isUnset = value === null && option.null === 'unset';
      if (!isUnset) Object.assign(request, { [name]: option.check(field, value) });
    } else {
      const reason = reasonWithoutEffect(name);
      if (reason === undefined) rest.push([name, value]);
      else warnings.push(unsupported(field, reason));
    }
  }
  if (rest.length > 0) request.extraBody = toWireNames(Object.fromEntries(rest));
  return { request, providerOptions, warnings };
}

/** Creates a warning about an option without effect. */
export function unsupported(feature: string, details?: string): SharedV4Warning {
  return { type: 'unsupported', feature, ...(details !== undefined && { details }) };
}

/** Returns whether a value is a plain object. Does not check its fields. */
export function isJSONObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the cost in US dollars as provider metadata; nothing if the response does not report it. */
export function costMetadata(
  answer: unknown,
  headers: Headers,
): { readonly providerMetadata?: { readonly [providerName]: { readonly cost: number } } } {
  const { cost } = usageOf(answer, headers);
  return cost === undefined ? {} : { providerMetadata: { [providerName]: { cost } } };
}

/** Returns the total of the costs that responses report; nothing if none does. */
export function sumCosts(costs: readonly (number | undefined)[]): { readonly cost?: number } {
  const reported = costs.filter((cost) => cost !== undefined);
  return reported.length === 0 ? {} : { cost: reported.reduce((total, cost) => total + cost, 0) };
}

/** Returns the headers of a response as an object. */
export function toHeaders(response: Response): Record<string, string> {
  return Object.fromEntries(response.headers);
}

/**
 * Sets different ids for each request of a call, because a gateway that honours ids would treat equal ids as
 * one request.
 */
export function numbered<Options extends RequestOptions>(request: Options, index: number): Options {
  if (index === 0) return request;
  const { callId, idempotencyKey } = request;
  const toImageId = (id: string | undefined): string | undefined => id && `${id}-${index + 1}`;
  return { ...request, callId: toImageId(callId), idempotencyKey: toImageId(idempotencyKey) };
}

/**
 * Checks the maximum per request.
 *
 * @throws `InvalidInputError` unless it is a positive integer or `Infinity`
 */
export function checkLimit(name: string, limit: number): number {
  if (limit === Infinity || (Number.isInteger(limit) && limit > 0)) return limit;
  throw new InvalidInputError(name, 'must be an integer of at least 1, or Infinity.');
}

/** Returns the objects of a list; none if it is not a list. */
export function jsonObjects(list: unknown): JSONObject[] {
  return Array.isArray(list) ? list.filter(isJSONObject) : [];
}
