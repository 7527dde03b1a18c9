/** Fails unless the condition holds. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, null, 1);
  return (text ?? String(value)).slice(0, 600);
}

/** Fails unless both values are the same as JSON. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (Object.is(actual, expected)) return;
  const [left, right] = [show(actual), show(expected)];
  assert(left === right, `${what}: expected ${right}, got ${left}`);
}

/** Fails unless the text holds a part. */
export function includes(text: string, part: string, what: string): void {
  assert(text.includes(part), `${what}: expected to find ${show(part)} in ${show(text)}`);
}

interface ErrorClass<Kind> {
  readonly kind: string;
  isInstance(value: unknown): value is Kind;
}

/** Gives the error of this class that the work fails with, and fails when it is another or none. */
export async function rejects<Kind>(
  work: PromiseLike<unknown> | (() => unknown),
  errorClass: ErrorClass<Kind>,
): Promise<Kind> {
  const caught = await caughtFrom(work);
  if (errorClass.isInstance(caught)) return caught;
  throw new Error(`Expected ${errorClass.kind}, got ${String(caught)}`, { cause: caught });
}

/** Gives whatever the work fails with. */
export async function caughtFrom(work: PromiseLike<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error, but there was none');
}
