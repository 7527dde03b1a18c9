/** A reading of a stream, or one branch of it. */
interface Closable {
  close(isDropped: boolean): void;
}

/** Closes the connections of streams that were garbage collected. */
const dropped =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<Closable>((items) => items.close(true));

/**
 * Closes `items` once `stream` is garbage collected. The registry keeps the reading in memory, and the reading
 * keeps its errors, whose captured stacks may keep the stream, so a reading must be unwatched when it ends.
 */
export function watchDropped(stream: object, reading: object, items: Closable): void {
  dropped?.register(stream, items, reading);
}

/** Stops watching the streams that share a reading. */
export function unwatchDropped(reading: object): void {
  dropped?.unregister(reading);
}
