import { isHTMLPage } from '../answers/failure.ts';
import { isText, parseJSON } from '../answers/objects.ts';
import { APIError } from '../index.ts';

/** The body of a paid response that is not a whole result. */
export interface Unread {
  readonly body: string | Uint8Array;
  readonly extension: string;
  /** `true` if the response broke off. */
  readonly isPart: boolean;
}

/** Files that broke off, by the error that ended them. */
const parts = new WeakMap<object, Unread>();

/**
 * Reads a paid file. If it breaks off, `findUnread()` returns the bytes before that.
 *
 * @param extension - The extension of the file.
 */
export async function readPaidFile(
  { body }: Response,
  extension: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
    return new Uint8Array(Buffer.concat(chunks));
  } catch (error) {
    const unread = { body: Buffer.concat(chunks), extension, isPart: true };
    if (error instanceof Error && chunks.length > 0) parts.set(error, unread);
    throw error;
  }
}

/**
 * Returns the body of the response behind an error, if it may be paid for and hold a result that was not found, or a part
 * of it. A web page holds none.
 */
export function findUnread(error: unknown): Unread | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const part = parts.get(cause);
    if (part !== undefined) return part;
    if (!APIError.isInstance(cause)) continue;
    const { body, outcome } = cause;
    if (!isText(body) || outcome !== 'unknown' || isHTMLPage(body)) continue;
    return { body, extension: parseJSON(body) === undefined ? 'txt' : 'json', isPart: false };
  }
  return undefined;
}
