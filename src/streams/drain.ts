/** The end of a body comes right behind its terminator, unless the server forgets to close. */
const patience = 1_000;

/** Reads a body to its end without keeping anything, so that its connection can be used again. */
export async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => {
    reader.cancel().catch(() => undefined);
  }, patience);
  if (typeof timer === 'object') timer.unref();
  try {
    let result = await reader.read();
    while (!result.done) result = await reader.read();
  } catch {
    // The answer is whole; how its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
}
