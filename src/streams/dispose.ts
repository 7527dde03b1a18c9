// Programs whose compiler settings do not include this library must understand `await using` too.
/// <reference lib="esnext.disposable" preserve="true" />

/** Some runtimes do not have the symbols; compilers of `using` fall back to these. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
