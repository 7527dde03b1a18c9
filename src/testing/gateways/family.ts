import type { Operation } from '../../endpoints.ts';
import type { Ids } from '../control/ids.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { Call, Handler, World } from '../server/call.ts';
import type { ErrorDialect } from '../server/errors.ts';
import type { RequestBody } from '../server/request-body.ts';
import type { FindRoute } from '../server/router.ts';

/** Kinds of gateways that the emulator can be. */
export type EmulatedGateway = 'new-api' | 'openrouter' | 'litellm' | 'openai';

/** Builds of new-api: the stable releases of 2025, and v1.0.0-rc.25 of November 2026. */
export type NewApiEdition = '2025' | '2026';

/** The differences between kinds of gateways. */
export interface Family {
  /** Paths of the supported operations. */
  readonly paths: Readonly<Partial<Record<Operation, string>>>;
  /** Paths of other routes, all of them for GET. */
  readonly otherPaths: readonly string[];
  readonly handlers: Readonly<Partial<Record<Operation, Handler>>>;
  readonly findRoute: FindRoute;
  /** Returns the operation of a request where several share a route. */
  readonly operationFor: (operation: Operation, body: RequestBody) => Operation;
  /** Handles requests that are not operations: account routes and unknown paths. */
  readonly answerOther: (
    request: Request,
    world: World,
    apiKey: string,
  ) => Response | Promise<Response>;
  readonly errors: ErrorDialect;
  readonly nextRequestId: (ids: Ids, now: number, request: Request) => string;
  /** Headers of all responses. */
  readonly headers: (requestId: string | undefined) => Readonly<Record<string, string>>;
  /** Returns whether the cost of a call may be in a header, by the quirk `reportedCost`; by default always. */
  readonly reportsCost?: (call: Call) => boolean;
  readonly quirks: Partial<Quirks>;
}
