/** Fields in which the errors of runtimes hold objects, which are harmless when they hold no others. */
const flatFields: readonly unknown[] = ['opensslErrorStack', 'cert', 'socket'];

/** Deeper than any runtime nests causes. */
const deepest = 6;

type Rewrite = (text: string) => string;

/**
 * Whether what was thrown holds no more than an error of a runtime may: other HTTP libraries put the
 * request on theirs, and some runtimes name the URL with its query.
 */
function isHarmless(value: unknown, clean: Rewrite, levels: number): boolean {
  if (typeof value === 'string') return clean(value) === value;
  if (!isObject(value)) return true;
  if (!(value instanceof Error) || levels === 0) return false;
  const isFine = (field: unknown): boolean => isHarmless(field, clean, levels - 1);
  return (
    isFine(value.cause) &&
    Reflect.ownKeys(value).every((key) => {
      const field: unknown = Reflect.get(value, key);
      if (key === 'cause') return true;
      if (key === 'errors' && Array.isArray(field)) return field.every(isFine);
      const isKnown = isObject(field) && flatFields.includes(key);
      return (isKnown ? valuesOf(field) : [field]).every((part) => isHarmless(part, clean, 0));
    })
  );
}

function valuesOf(value: object): readonly unknown[] {
  return Reflect.ownKeys(value).map((key): unknown => Reflect.get(value, key));
}

/** Functions are objects too: they can have fields that hold anything. */
function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** What of a runtime's error is kept on a copy, besides its message. */
const keptFields = ['name', 'stack', 'code', 'errno', 'syscall', 'hostname', 'address', 'port'];

/** The same failure with nothing but its name, its cleaned texts and what names the fault. */
function withoutRequest(error: object, clean: Rewrite, levels: number): Error {
  const message: unknown = Reflect.get(error, 'message');
  const cause: unknown = Reflect.get(error, 'cause');
  const inner = isObject(cause) && levels > 0;
  const copy = new Error(
    typeof message === 'string' ? clean(message) : '',
    inner ? { cause: withoutRequest(cause, clean, levels - 1) } : undefined,
  );
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
