import { costBy, costInAnswer } from '../answers/cost.ts';
import { isObject } from '../answers/objects.ts';
import type { PreparedBody } from '../http/request.ts';
import type { IncomingResponse } from '../http/responses/response-body.ts';
import type { FailedAttempt } from '../http/retry.ts';
import type { JsonObject } from '../types.ts';
import type { ClientSettings } from './settings.ts';

/** The result of a request. */
export interface Ending {
  readonly error?: unknown;
  readonly result?: unknown;
  /** The content and usage of a stream up to its end. */
  readonly progress?: { readonly partial: unknown; readonly usage: unknown } | undefined;
  /** `true` if the whole response was received. */
  readonly isWhole?: boolean;
}

/** The events in the life of a request. Those from `sent` to `retrying` repeat with each attempt. */
export interface RequestEvents {
  /** An attempt is about to be sent. */
  readonly sent: { readonly headers: Headers; readonly body: PreparedBody };
  /** An attempt received a success status. Its body is still unread. */
  readonly answered: IncomingResponse;
  /** An attempt failed, possibly while its body was read. In the phase `local` nothing was sent. */
  readonly failed: FailedAttempt;
  /** The attempt is repeated after `delayMs`; `undefined` if too many calls of the client fail. */
  readonly retrying: { readonly failed: FailedAttempt; readonly delayMs: number | undefined };
  /** No attempt follows, and the request fails with this error. */
  readonly gaveUp: Error;
  /** The caller starts reading the body, or stops for now. */
  readonly reading: boolean;
  /** Events of a stream were received: `true` for the first ones. */
  readonly chunk: boolean;
  /** A stream ended, successfully or not. */
  readonly streamEnded: { readonly verdict: string; readonly error?: unknown };
  /** The request ended. Emitted once. */
  readonly ended: Ending;
}

/** A function for each event that a listener handles. */
export type RequestHandlers = {
  readonly [Name in keyof RequestEvents]?: (event: RequestEvents[Name]) => void;
};

/** Listens to the events of one request. Must not throw. */
export interface Listener extends RequestHandlers {
  /** Stored in the handle of the video task that the call submits; see `CallObserver.trace`. */
  readonly trace?: string | undefined;
  /** Awaited before the first attempt, once the body is encoded. A rejection fails the request unsent. */
  readonly beforeRequest?: (() => Promise<void> | undefined) | undefined;
  /** Awaited before each attempt, outside its `timeout`. Rejects only if `signal` is aborted. */
  readonly beforeAttempt?: (signal: AbortSignal) => Promise<void>;
  /** Calls `work` once, immediately, in its own context, and returns its result. */
  readonly run?: <T>(work: () => T) => T;
}

/** Returns the token usage that a response reports. */
export function usageFrom({ result, progress, error }: Ending): JsonObject | undefined {
  const fields: JsonObject = Object(result);
  // Errors about a paid response have its usage.
  const { usage: failed }: JsonObject = Object(error);
  const usage = progress?.usage ?? fields['usage'] ?? fields['usageMetadata'] ?? failed;
  return isObject(usage) ? usage : undefined;
}

/** Returns the cost in US dollars that the response of a request reports. */
export function costFrom(
  { client }: { readonly client: Pick<ClientSettings, 'findBase'> },
  ending: Ending,
  headers = new Headers(),
): number | undefined {
  const read = client.findBase()?.gateway?.profile.readCost ?? costInAnswer;
  const { result, progress, error } = ending;
  const hasResult = progress === undefined && error === undefined;
  return costBy(read, hasResult ? result : { usage: usageFrom(ending) }, headers);
}
