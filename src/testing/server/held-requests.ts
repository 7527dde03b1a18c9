/**
 * Requests that are being answered.
 *
 * A request of Node passes the abort of its signal on only while the request itself can be reached:
 * once it is collected, the signal that was taken out of it stays silent for ever.
 */
const held = new Set<Request>();

/** Keeps a request from being collected. @returns a function that lets it go */
export function holdRequest(request: Request): () => void {
  held.add(request);
  return () => held.delete(request);
}
