import { APIConnectionError } from './errors/api-errors.ts';

const advice =
  'Nothing was sent. Once there is a connection, reload the page: browsers do not ask again for such a file, and a new deployment may have taken it away.';

/**
 * A part of this package that a page loads when it first uses it.
 *
 * Whatever reads the answer to a request that costs something is loaded before that is sent: a part that
 * does not come then costs nothing. A failure is not remembered here, but in Chromium the file, and whatever
 * else needs it, fails until the page is loaded anew.
 *
 * @param name - What the part is for, for the message.
 * @throws `APIConnectionError` when the part cannot be loaded
 */
export function later<Part>(name: string, load: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | undefined;
  return () => {
    part ??= load().catch((cause: unknown) => {
      part = undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `The part of model-gateway for ${name} could not be loaded: ${reason.replace(/\.$/, '')}.`;
      throw new APIConnectionError(message, { outcome: 'not_sent', advice, cause });
    });
    return part;
  };
}
