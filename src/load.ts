import { APIConnectionError } from './errors/api-errors.ts';

const advice =
  'Nothing was sent. Try again once there is a connection, and reload the page if that does not help: some browsers do not ask for such a file a second time, and a new deployment may have taken it away.';

/** Loads a part, once; `part` is there as soon as it has come. */
export interface Later<Part> {
  (): Promise<Part>;
  part?: Part | undefined;
}

/**
 * A part of this package that a page loads when it first uses it.
 *
 * Whatever reads the answer to a request that costs something is loaded before that is sent: a part that
 * does not come then costs nothing. A failure is not remembered here, but some browsers remember it until
 * the page is loaded anew.
 *
 * @param name - What the part is for, for the message.
 * @throws `APIConnectionError` when the part cannot be loaded
 */
export function later<Part>(name: string, load: () => Promise<Part>): Later<Part> {
  let coming: Promise<Part> | undefined;
  const late: Later<Part> = () => {
    coming ??= load().then(
      (part) => (late.part = part),
      (cause: unknown) => {
        coming = undefined;
        const reason = cause instanceof Error ? cause.message : String(cause);
        const message = `The part of model-gateway for ${name} could not be loaded: ${reason.replace(/\.$/, '')}.`;
        throw new APIConnectionError(message, { outcome: 'not_sent', advice, cause });
      },
    );
    return coming;
  };
  return late;
}
