import { InvalidInputError } from '../errors/gateway-error.ts';
import type { QueryValue, QueryValues } from '../options.ts';
import { check } from '../check.ts';
import { endpoints } from '../endpoints.ts';

export interface BaseURL {
  /** The root of the gateway, without a trailing `/`, `/v1` or `/v1beta`. */
  readonly root: string;
  /** The version that the base URL ended with, or `""`. */
  readonly version: '' | '/v1' | '/v1beta';
}

/** A path of the server that a page comes from. */
const ownPath = /^\.{0,2}\/(?!\/)/;

/** What paths in a page, or in a worker of one, are relative to. */
function pageURL(): string | undefined {
  const { document, location } = globalThis;
  return document?.baseURI ?? location?.href;
}

/** All of a path, so that its end is looked for once; what precedes its last slashes is the group. */
const endSlashes = /^(.*[^/])?\/*$/s;

/** Takes the path of an operation off the end: people paste `…/v1/chat/completions` as a base URL. */
function withoutOperation(path: string): string {
  const operation = Object.values(endpoints).find((endpoint) => path.endsWith(endpoint.path));
  if (operation === undefined) return path;
  const version = operation.path.split('/')[1] ?? '';
  return `${path.slice(0, -operation.path.length)}/${version}`;
}

/**
 * Checks a base URL and takes the version off its end.
 *
 * Both spellings are in use: `openai` wants `/v1` at the end, and gateways give their root. The URL of a
 * route such as `/v1/chat/completions` means the same gateway.
 *
 * @returns `undefined` for a path where there is no page: what is written for pages is loaded on servers
 *   too, which draw them first.
 */
export function parseBaseURL(value: string | URL): BaseURL | undefined {
  const field = 'baseURL';
  const text = String(value).trim();
  const example = 'for example "https://gateway.example.com"';
  const page = ownPath.test(text) ? (pageURL() ?? null) : undefined;
  if (page === null) return undefined;
  let url: URL;
  try {
    url = new URL(text, page);
  } catch {
    throw new InvalidInputError(field, `is not a URL; give the gateway's root, ${example}.`);
  }
  const { protocol, username, password, search, hash } = url;
  const isWeb = protocol === 'http:' || protocol === 'https:';
  check(isWeb, field, `must begin with http:// or https://, not ${protocol}//; ${example}.`);
  const hasUser = username !== '' || password !== '';
  check(!hasUser, field, 'may not hold a user name or password; give the key as apiKey.');
  check(
    search === '' && hash === '',
    field,
    'may not hold a query or a fragment; give query parameters as defaultQuery.',
  );
  const path = withoutOperation(url.pathname.replace(endSlashes, '$1'));
  const version = path.endsWith('/v1') ? '/v1' : path.endsWith('/v1beta') ? '/v1beta' : '';
  const root = path.slice(0, path.length - version.length).replace(endSlashes, '$1');
  return { root: url.origin + root, version };
}

/**
 * One escaped path segment.
 *
 * `.`, `..` and the empty string would change which route is called, even when escaped, because URL
 * parsers resolve them.
 */
export function escapePathSegment(field: string, value: string): string {
  const isGiven = typeof value === 'string' && value.trim() !== '';
  check(isGiven, field, 'is empty; give the value that the gateway returned.');
  const isDots = value === '.' || value === '..';
  check(!isDots, field, `may not be "${value}", which is not an identifier.`);
  try {
    return encodeURIComponent(value);
  } catch (error) {
    throw new InvalidInputError(field, 'holds half of a surrogate pair and cannot be escaped.', {
      cause: error,
    });
  }
}

/** Fills a path template. Every name between braces becomes one escaped segment. */
export function fillPath(
  template: string,
  parameters: Readonly<Record<string, string>> | undefined,
): string {
  if (!template.includes('{')) return template;
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    escapePathSegment(name, parameters?.[name] ?? ''),
  );
}

/** The query string of several levels, the later ones winning name by name; `""` when empty. */
export function buildQuery(...levels: readonly (QueryValues | undefined)[]): string {
  if (levels.every((level) => level === undefined)) return '';
  const merged = new Map<string, QueryValues[string]>();
  for (const level of levels) {
    for (const [name, value] of Object.entries(level ?? {})) {
      if (value !== undefined) merged.set(name, value);
    }
  }
  const parameters = new URLSearchParams();
  for (const [name, value] of merged) appendQueryValue(parameters, name, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

const deepestQuery = 8;
const queryKinds = /^(string|number|boolean|Array|Object)$/i;

/** Appends lists as `name[]` and objects as `name[key]`, as the `openai` package writes them. */
function appendQueryValue(
  parameters: URLSearchParams,
  name: string,
  given: QueryValue,
  levels = deepestQuery,
): void {
  // As in JSON, dates are text, and invalid ones are left out.
  const value = given instanceof Date ? given.toJSON() : given;
  if (value === undefined || value === null) return;
  const isKnown = queryKinds.test(Object.prototype.toString.call(value).slice(8, -1));
  const kinds = 'text, a number, a boolean, a date, a list or a plain object';
  check(
    isKnown && levels > 0,
    'query',
    `"${name}" must be ${kinds}, at most ${deepestQuery} levels deep.`,
  );
  if (typeof value !== 'object') {
    parameters.append(name, String(value));
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    appendQueryValue(parameters, `${name}[${Array.isArray(value) ? '' : key}]`, item, levels - 1);
  }
}

/** The full URL of a path below the base URL, whose own `/v1` is understood. */
export function buildURL(baseURL: string, path: string, query: string): string {
  return baseURL + path + (path.includes('?') ? query.replace('?', '&') : query);
}

export function isSameOrigin(first: string, second: string): boolean {
  return new URL(first).origin === new URL(second).origin;
}

/** A URL that can be shown: without query, fragment, user name and password, which may hold secrets. */
export function displayURL(url: string): string {
  try {
    const parsed = new URL(url);
    return parsed.origin + parsed.pathname;
  } catch {
    return url.split(/[?#]/, 1)[0] ?? '';
  }
}
