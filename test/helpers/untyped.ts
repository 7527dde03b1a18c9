/** Returns a value as another type, as JavaScript callers can pass it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
export function untyped<T>(value: unknown): T {
  trust<T>(value);
  return value;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
function trust<T>(_value: unknown): asserts _value is T {}
