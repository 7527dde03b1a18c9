/**
 * How many bytes an opened fs `ReadStream` will give, with its `start` and `end`, or `undefined` when
 * that cannot be known: for any other stream, a pipe, a device, or a descriptor that the caller opened.
 */
export async function sizeOfFileStream(stream: object): Promise<number | undefined> {
  const descriptor: unknown = Reflect.get(stream, 'fd');
  const path: unknown = Reflect.get(stream, 'path');
  const isOpen = Reflect.get(stream, 'destroyed') === false;
  if (!isOpen || typeof descriptor !== 'number' || path === undefined || path === '') {
    return undefined;
  }
  const total = await statSize(descriptor);
  if (total === undefined) return undefined;
  const start: unknown = Reflect.get(stream, 'start');
  const end: unknown = Reflect.get(stream, 'end');
  const first = typeof start === 'number' ? start : 0;
  // `end` is the last byte itself, and may lie behind the end of the file.
  const last = typeof end === 'number' ? Math.min(end + 1, total) : total;
  return Math.max(0, last - first);
}

function statSize(descriptor: number): Promise<number | undefined> {
  // The core runs without Node too, so its modules are looked up where they are, never imported.
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') {
    return Promise.resolve(undefined);
  }
  const { fstat } = process.getBuiltinModule('node:fs');
  return new Promise((resolve) => {
    fstat(descriptor, (error, stats) => {
      // Files such as those of `/proc` say that they are empty, and are not.
      const isKnown = error === null && stats.isFile() && stats.size > 0;
      resolve(isKnown ? stats.size : undefined);
    });
  });
}
