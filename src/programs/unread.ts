import { isHTMLPage } from '../answers/failure.ts';
import { isText, parseJSON } from '../answers/objects.ts';
import { APIError } from '../index.ts';

/** The body of a response in which no result was found. */
export interface Unread {
  readonly body: string;
  readonly extension: 'json' | 'txt';
}

/**
 * Returns the body of the response behind an error, if it may be paid for and hold a result that was not found. A web
 * page holds none.
 */
export function findUnread(error: unknown): Unread | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!APIError.isInstance(cause)) continue;
    const { body, outcome } = cause;
    if (!isText(body) || outcome !== 'unknown' || isHTMLPage(body)) continue;
    return { body, extension: parseJSON(body) === undefined ? 'txt' : 'json' };
  }
  return undefined;
}
