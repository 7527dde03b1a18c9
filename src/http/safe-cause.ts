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

/** Whether an error carries more than a runtime's does: other HTTP libraries put the request on theirs. */
function carriesMore(error: Error, levels: number): boolean {
  if (levels === 0) return true;
  for (const key of Reflect.ownKeys(error)) {
    const value: unknown = Reflect.get(error, key);
    const isKnown = typeof key === 'string' && knownFields.has(key);
    if (!isKnown && typeof value === 'object' && value !== null) return true;
  }
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...inner].some((link) => !isHarmless(link, levels - 1));
}

function isHarmless(value: unknown, levels: number): boolean {
  if (value instanceof Error) return !carriesMore(value, levels);
  return typeof value !== 'object' || value === null;
}

/** The same failure without anything but its name, its text and its code. */
function withoutRequest(error: object, levels: number): Error {
  const [message, name, stack, code, cause]: unknown[] = [
    'message',
    'name',
    'stack',
    'code',
    'cause',
  ].map((field) => Reflect.get(error, field));
  const inner = typeof cause === 'object' && cause !== null && levels > 0;
  const copy = new Error(
    typeof message === 'string' ? message : '',
    inner ? { cause: withoutRequest(cause, levels - 1) } : undefined,
  );
  if (typeof name === 'string') copy.name = name;
  if (typeof stack === 'string') copy.stack = stack;
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy;
}

/**
 * What `fetch` threw, fit to be kept on an error.
 *
 * The errors of the runtimes are kept as they are. A `fetch` that is made of another HTTP library may
 * throw errors with the whole request on them, key and prompt included; of those a copy is kept that
 * has only name, text and code.
 */
export function safeCause(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  try {
    return isHarmless(error, deepest) ? error : withoutRequest(error, deepest);
  } catch {
    // A getter that throws.
    return undefined;
  }
}
