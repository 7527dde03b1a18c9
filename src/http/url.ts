import { getTag } from '../answers/objects.ts';
import { endpoints, operations } from '../endpoints.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { QueryValue, QueryValues } from '../options/options.ts';
import { check } from '../options/check.ts';
import { geminiRoot, isWholeBase } from '../gateways/base-path.ts';
import type { HostFinder } from '../gateways/find.ts';
import type { DefinedGateway } from '../options/gateway-profile.ts';

export interface BaseURL {
  /** The URL as it was set, without trailing slashes; absolute if a path was set. */
  readonly text: string;
  /** The root of the gateway, without a trailing `/`, `/v1` or `/v1beta`. */
  readonly root: string;
  /** The version for paths without one. */
  readonly version: '' | '/v1' | '/v1beta';
  /** Replaces `/v1` at the beginning of a path; `""` if the root includes the version. */
  readonly api: '/v1' | '';
  /** Query parameters of every request. */
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly gateway: DefinedGateway | undefined;
}

/** Paths relative to the page's server. */
const relativePath = /^\.{0,2}\/(?!\/)/;

/** Returns the URL that relative paths refer to in a page or its worker. */
function pageURL(): string | undefined {
  const { document, location } = globalThis;
  return document?.baseURI ?? location?.href;
}

/**
 * Matches a whole path, so that its end is scanned only once. The group is the path without trailing slashes.
 */
const endSlashes = /^(.*[^/])?\/*$/s;

/** Routes that people paste as a base URL, besides those of operations. */
const folderRoute = /^(.*?)\/(?:chat|images|audio)\/\w+$/;
const otherRoute = /^(.*?)\/(?:completions|moderations|files|batches|realtime)$/;

/** Returns the path before the longest route of an operation at its end; `undefined` if there is none. */
function cutOperation(path: string): string | undefined {
  const parts = path.split('/');
  const bases = operations.flatMap((name) => {
    const [, version, ...route] = endpoints[name].path.split('/');
    const at = parts.length - route.length;
    const isAtEnd = route.every((part, index) => {
      const found = parts[at + index];
      return part.startsWith('{') ? Boolean(found) : part === found;
    });
    return version === 'v1' && at > 0 && isAtEnd ? [parts.slice(0, at).join('/')] : [];
  });
  return bases.toSorted((one, other) => one.length - other.length)[0];
}

/** Returns the path before a route at its end. Routes of one word are cut off only after a version or a folder. */
function cutRoute(hostname: string, path: string): string {
  const [, start] = folderRoute.exec(path) ?? [];
  if (start !== undefined) return start;
  if (/\/v\d+$/.test(path)) return path;
  const base = cutOperation(path) ?? otherRoute.exec(path)?.[1];
  return base !== undefined && (base.endsWith('/v1beta') || isWholeBase(hostname, base))
    ? base
    : path;
}

/** Locates the routes of a gateway. `isWhole`: OpenAI's routes follow the path directly. */
function locateRoutes(path: string, isWhole: boolean): Pick<BaseURL, 'root' | 'version' | 'api'> {
  const version = path.endsWith('/v1') ? '/v1' : path.endsWith('/v1beta') ? '/v1beta' : '';
  if (isWhole && version !== '/v1') return { root: path, version: '/v1', api: '' };
  const root = path.slice(0, path.length - version.length).replace(endSlashes, '$1');
  return { root, version, api: '/v1' };
}

/**
 * Checks a base URL and locates the gateway's routes.
 *
 * Accepts both spellings: with `/v1` at the end, as `openai` requires, and the gateway's root. The URL of a
 * route such as `/v1/chat/completions` refers to the same gateway. A path that contains another version, or ends
 * in a folder where providers serve OpenAI's routes, is used unchanged.
 *
 * @returns `undefined` for a relative path outside a page, because code for pages also runs on servers that
 *   prerender them
 */
export function parseBaseURL(value: string | URL, findGateway?: HostFinder): BaseURL | undefined {
  const field = 'baseURL';
  const text = String(value).trim();
  const example = 'for example "https://gateway.example.com"';
  const page = relativePath.test(text) ? (pageURL() ?? null) : undefined;
  if (page === null) return undefined;
  let url: URL;
  try {
    url = new URL(text, page);
  } catch {
    throw new InvalidInputError(field, `is not a URL; pass the gateway's root, ${example}.`);
  }
  const { protocol, username, password, search, searchParams, hash, origin, hostname } = url;
  const isWeb = protocol === 'http:' || protocol === 'https:';
  check(isWeb, field, `must begin with http:// or https://, not ${protocol}//; ${example}.`);
  const hasUser = username !== '' || password !== '';
  check(!hasUser, field, 'must not contain a user name or password; pass the key as apiKey.');
  check(hash === '', field, 'must not contain a fragment.');
  const hasKey = /(key|token)=/i.test(search);
  check(!hasKey, field, 'must not contain a key; pass it as apiKey or in defaultHeaders.');
  const query = search === '' ? undefined : Object.fromEntries(searchParams);
  const gateway = findGateway?.(hostname);
  const written = url.pathname.replace(endSlashes, '$1');
  const basePath = written === '' ? gateway?.profile.basePath : undefined;
  const path = (basePath ?? cutRoute(hostname, written)).replace(endSlashes, '$1');
  // A profile and a pasted route determine what precedes the routes.
  const isCut = path !== written && !written.includes('/v1beta/models');
  const isWhole = basePath !== undefined || isCut || isWholeBase(hostname, path);
  const { root, ...versions } = locateRoutes(path, isWhole);
  const shown = (page === undefined ? text : url.href).replace(endSlashes, '$1');
  return { text: shown, root: origin + root, ...versions, query, gateway };
}

/**
 * Escapes a path segment.
 *
 * `.`, `..` and the empty string would change the route even when escaped, because URL parsers resolve them.
 */
export function escapePathSegment(field: string, value: string): string {
  const isGiven = typeof value === 'string' && value.trim() !== '';
  check(isGiven, field, 'is empty; pass the value that the gateway returned.');
  const isDots = value === '.' || value === '..';
  check(!isDots, field, `may not be "${value}", which is not an identifier.`);
  try {
    return encodeURIComponent(value);
  } catch (error) {
    throw new InvalidInputError(field, 'contains a lone surrogate and cannot be escaped.', {
      cause: error,
    });
  }
}

/** Fills a path template. Each name in braces becomes an escaped segment. */
export function fillPath(
  template: string,
  parameters: Readonly<Record<string, string>> | undefined,
): string {
  if (!template.includes('{')) return template;
  return template.replace(/\{(\+?)(\w+)\}/g, (_, plus: string, name: string) => {
    const value = parameters?.[name] ?? '';
    const segments = plus === '' ? [value] : value.split('/');
    return segments.map((segment) => escapePathSegment(name, segment)).join('/');
  });
}

/** Merges queries to a query string, later ones overriding earlier ones by name; `""` if empty. */
export function buildQuery(...levels: readonly (QueryValues | undefined)[]): string {
  if (!levels.some(Boolean)) return '';
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

const maxQueryDepth = 8;
const queryKinds = /^(string|number|boolean|Array|Object)$/i;

/** Appends lists as `name[]` and objects as `name[key]`, as the `openai` package writes them. */
function appendQueryValue(
  parameters: URLSearchParams,
  name: string,
  input: QueryValue,
  levels = maxQueryDepth,
): void {
  // Dates are sent as ISO text; invalid dates are omitted.
  const value = input instanceof Date ? input.toJSON() : input;
  if (value === undefined || value === null) return;
  const isKnown = queryKinds.test(getTag(value));
  const kinds = 'text, a number, a boolean, a date, a list or a plain object';
  check(
    isKnown && levels > 0,
    'query',
    `"${name}" must be ${kinds}, at most ${maxQueryDepth} levels deep.`,
  );
  if (typeof value !== 'object') {
    parameters.append(name, String(value));
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    appendQueryValue(parameters, `${name}[${Array.isArray(value) ? '' : key}]`, item, levels - 1);
  }
}

/**
 * Returns the URL of a path. Its `/v1` is replaced by the version of the base URL, and parameters of its query
 * by those of `query`. A path that is already a URL is the status URL of a task, on the gateway's origin.
 */
export function buildURL(
  { root, api }: Pick<BaseURL, 'root' | 'api'>,
  path: string,
  query: string,
): string {
  if (/^https?:/.test(path)) return appendQuery(path, query);
  const isOpenAI = api === '' && /^\/v1(\/|$)/.test(path);
  const start = path.startsWith('/v1beta/') ? geminiRoot(root) : root;
  const route = isOpenAI ? path.slice(3) : path;
  if (!route.includes('?')) return appendQuery(start + route, query);
  const [pathname = '', ...rest] = route.split('?');
  const overrides = new URLSearchParams(query);
  const pairs = rest.join('?').split('&');
  const kept = pairs.filter((pair) => !overrides.has(pair.split('=', 1)[0] ?? ''));
  return appendQuery(start + pathname + (kept.length === 0 ? '' : `?${kept.join('&')}`), query);
}

export const appendQuery = (url: string, query: string): string =>
  url + (url.includes('?') ? query.replace('?', '&') : query);

export function isSameOrigin(first: string, second: string): boolean {
  return new URL(first).origin === new URL(second).origin;
}

/** Names that only the network of the gateway resolves, or that reach the metadata of its cloud. */
const localName =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|lan|home|corp|svc|consul|ts\.net|onion|alt|arpa|metadata\.goog)$|^[^.]*$/;

/** Returns the host of a URL in lower case, without dots at its end. */
export function toHostName(hostname: string): string {
  let host = hostname.toLowerCase();
  while (host.endsWith('.')) host = host.slice(0, -1);
  return host;
}

/** Returns whether the host of a URL is a name in a private network. */
export const isLocalName = (hostname: string): boolean => localName.test(toHostName(hostname));

/** IPv4 addresses that are not public. Pages carry this instead of a library for addresses. */
const privateAddress =
  /^(0|10|127)\.|^169\.254\.|^192\.(168|0\.[02]|88\.99)\.|^198\.51\.100\.|^203\.0\.113\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^198\.1[89]\.|^2(2[4-9]|[345]\d)\.|^168\.63\.129\.16$/;

/** Returns whether the host of a URL is an IPv4 address that is not public. */
export const isPrivateIPv4 = (hostname: string): boolean => privateAddress.test(hostname);

/**
 * Returns whether a URL from a response may be fetched without a key: an https URL of a public host, or any URL
 * on the origin of the gateway. A response must not direct requests to other machines in a private network.
 */
export function isFetchable(url: string, gateway: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  if (origin === new URL(gateway).origin) return true;
  // No host of results is named by an IPv6 address, and many of these are private.
  const isPrivate = hostname.startsWith('[') || isPrivateIPv4(hostname);
  return protocol === 'https:' && !isPrivate && !isLocalName(hostname);
}

/** Words in the names of headers and query parameters that hold secrets, in lower case. */
const secretWords =
  /^(x?(api|access|auth|session|secret|private)?key|sig|sign|auth|access|session|pass|passwd|pwd|pin|otp|jwt|bearer)$/;
/** Parts of such names that other words do not contain. */
const secretParts =
  /^x-(amz|goog|tos|oss)-|(api|access)key|token|secret|signature|credential|cookie|passw|passcode|authenticat|authoriz|sessionid|auth$/i;

/** Returns whether the name of a header or query parameter says that its value grants access. */
export function isSecretName(name: string): boolean {
  if (secretParts.test(name)) return true;
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words.some((word) => secretWords.test(word));
}

/** Returns a URL without query, fragment, user name and password, which may contain secrets. */
export function displayURL(url: string): string {
  try {
    const parsed = new URL(url);
    return parsed.origin + parsed.pathname;
  } catch {
    return url.split(/[?#]/, 1)[0] ?? '';
  }
}
