/** Fields of the errors of runtimes; none of them holds anything of a request. */
const knownFields = new Set([
  'message',
  'stack',
  'name',
  'cause',
  'errors',
  'code',
  'errno',
  'syscall',
  'hostname',
  'host',
  'address',
  'port',
  'library',
  'reason',
  'function',
  'opensslErrorStack',
  'cert',
  'socket',
  'http2ErrorCode',
]);

/** Deeper than any runtime nests causes. */
const deepest = 6;

type Rewrite = (text: string) => string;

/**
 * Whether an error carries more than a runtime's may: other HTTP libraries put the request on theirs,
 * and some runtimes name the URL with its query.
 */
function carriesMore(error: Error, clean: Rewrite, levels: number): boolean {
  if (levels === 0) return true;
  for (const key of Reflect.ownKeys(error)) {
    const value: unknown = Reflect.get(error, key);
    if (typeof value === 'string' && clean(value) !== value) return true;
    const isKnown = typeof key === 'string' && knownFields.has(key);
    if (!isKnown && isObject(value)) return true;
  }
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...inner].some((link) => !isHarmless(link, clean, levels - 1));
}

function isHarmless(value: unknown, clean: Rewrite, levels: number): boolean {
  if (value instanceof Error) return !carriesMore(value, clean, levels);
  if (typeof value === 'string') return clean(value) === value;
  return !isObject(value);
}

/** Functions are objects too: they can have fields that hold anything. */
function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** What of a runtime's error is kept on a copy, besides its name and its texts. */
const keptFields = ['code', 'errno', 'syscall', 'hostname', 'address', 'port'];

/** The same failure with nothing but its name, its cleaned texts and what names the fault. */
function withoutRequest(error: object, clean: Rewrite, levels: number): Error {
  const [message, name, stack, cause]: unknown[] = ['message', 'name', 'stack', 'cause'].map(
    (field) => Reflect.get(error, field),
  );
  const inner = isObject(cause) && levels > 0;
  const copy = new Error(
    typeof message === 'string' ? clean(message) : '',
    inner ? { cause: withoutRequest(cause, clean, levels - 1) } : undefined,
  );
  if (typeof name === 'string') copy.name = name;
  if (typeof stack === 'string') copy.stack = clean(stack);
  for (const field of keptFields) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === 'string') Reflect.set(copy, field, clean(value));
    if (typeof value === 'number') Reflect.set(copy, field, value);
  }
  return copy;
}

/**
 * What `fetch` threw, fit to be kept on an error.
 *
 * The errors of the runtimes are kept as they are, unless they name the whole URL, as Bun's and Deno's
 * do. A `fetch` that is made of another HTTP library may throw errors with the whole request on them,
 * key and prompt included. Of both a copy is kept that has only name, text and code.
 *
 * @param clean - Takes out of text what may not be kept.
 */
export function safeCause(error: unknown, clean: Rewrite): unknown {
  if (typeof error === 'string') return clean(error);
  if (!isObject(error)) return error;
  try {
    return isHarmless(error, clean, deepest) ? error : withoutRequest(error, clean, deepest);
  } catch {
    // A getter that throws.
    return undefined;
  }
}
