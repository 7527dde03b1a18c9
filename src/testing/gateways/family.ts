import type { Operation } from '../../endpoints.ts';
import type { Ids } from '../control/ids.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { Handler, World } from '../server/call.ts';
import type { ErrorDialect } from '../server/errors.ts';
import type { RequestBody } from '../server/request-body.ts';
import type { FindRoute } from '../server/router.ts';

/** Kinds of gateways that the emulator can be. */
export type EmulatedGateway = 'new-api' | 'openrouter' | 'litellm' | 'openai';

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
  readonly answerOther: (request: Request, world: World, apiKey: string) => Response;
  readonly errors: ErrorDialect;
  readonly nextRequestId: (ids: Ids, now: number, request: Request) => string;
  /** Headers of all responses. */
  readonly headers: (requestId: string | undefined) => Readonly<Record<string, string>>;
  /** Operations whose cost may be in a header, by the quirk `reportedCost`; by default all. */
  readonly costHeaders?: ReadonlySet<Operation>;
  readonly quirks: Partial<Quirks>;
}
