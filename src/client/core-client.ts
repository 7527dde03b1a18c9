import { checkDuration, checkNumber, checkObject } from '../options/check.ts';
import { untilAborted } from '../http/abort.ts';
import { getPlace, listMissing, policyTable } from '../options/option-table.ts';
import { withoutNulls } from '../options/resolve.ts';
import { tracing } from '../policies/observing/channel.ts';
import { logging } from '../policies/observing/log.ts';
import type { GatewayReader } from '../gateways/find.ts';
import { withLimit } from '../tasks/limits.ts';
import { changeSettings, type ClientSettings, resolveSettings } from '../calls/settings.ts';
import {
  type Features,
  type Policy,
  requirePolicies,
  type SettleSubmission,
  type Subscriber,
  Transport,
} from '../calls/transport.ts';
import type { ApiKey, GatewayOptions, LogLevel } from '../options/options.ts';

/** The options that are readable and writable on a client. */
const readable: Readonly<Record<string, (client: ClientSettings) => unknown>> = {
  apiKey: ({ credential }) => credential.reveal(),
  baseURL: ({ findBase }) => findBase()?.text ?? '',
  maxRetries: ({ call }) => call.maxRetries,
  timeout: ({ call }) => call.timeout,
  retryUnknownOutcome: ({ call }) => call.retryUnknownOutcome,
  logLevel: ({ log }) => log.level,
  organization: ({ account }) => account['openai-organization'] ?? null,
  project: ({ account }) => account['openai-project'] ?? null,
};

/** Functions of the resource `account` that a client uses for its other calls. */
export interface AccountPart {
  /** Records the cost of calls, and rejects those that could exceed the budget. */
  readonly recordCall: Subscriber;
  /** Looks up in the usage log whether a submission was charged. */
  readonly settle: SettleSubmission;
}

/** The parts of a client that its options use. */
export interface ClientParts {
  readonly policies: readonly Policy[];
  /** Set if the client has the resource `account`. */
  readonly account?: AccountPart | undefined;
  /** Reads the option `gateway`. */
  readonly readGateway?: GatewayReader;
}

/** Returns the policy that comes with the resource `account`: it records costs, and keeps a budget. */
const spending = ({ recordCall }: AccountPart): Policy => ({
  name: 'spending',
  options: policyTable.spending.options,
  listen: () => recordCall,
});

function createFeatures(options: GatewayOptions, { policies, account }: ClientParts): Features {
  const { budget } = options;
  checkObject('budget', budget);
  // The budget checks its other fields before the first call is sent.
  checkNumber('budget.limit', budget ? budget.limit : 0, 0);
  const all = [logging, tracing, ...policies, ...(account ? [spending(account)] : [])];
  const sorted = all.toSorted((one, other) => getPlace(one.name) - getPlace(other.name));
  const missing = listMissing(all);
  requirePolicies(missing, options);
  return {
    subscribers: sorted.flatMap(({ listen }) => listen?.(options) ?? []),
    policies: sorted.filter(({ wrap }) => wrap !== undefined),
    missing,
    settle: account?.settle,
  };
}

/** Returns the root of the gateway; `""` while the base URL is missing. */
const readRoot = ({ client }: Transport): string => client.findBase()?.root ?? '';

/** The options of a client. `Gateway` and `createGateway()` add resources. */
export class GatewayCore {
  /**
   * The key, or the function that returns it; `null` if there is none. Copies of the client, its printed form
   * and its JSON don't contain it. This option and those below can be set: later calls use the new value,
   * while running calls and waits for videos keep the old one. `undefined` sets the default.
   *
   * @throws `InvalidInputError` if it is set to an invalid value
   */
  declare apiKey: ApiKey | null;
  /**
   * The base URL as it was set, without a trailing slash; a path is absolute, and a missing URL is `""`.
   * `ref.baseURL` of a task is the root of the gateway.
   */
  declare baseURL: string;
  /** Maximum number of retries. */
  declare maxRetries: number;
  /** Time limit of one attempt in milliseconds. */
  declare timeout: number;
  /** Allows repeating calls that may have been charged; `undefined` depends on the operation. */
  declare retryUnknownOutcome: boolean | undefined;
  /** The log level. */
  declare logLevel: LogLevel;
  /** The header `openai-organization`, or `null` if it is not sent. */
  declare organization: string | null;
  /** The header `openai-project`, or `null` if it is not sent. */
  declare project: string | null;

  /**
   * The only state of clients and resources. It is a function in a property of the object: unlike private
   * fields, proxies and copies can use it, and printing or storing a client does not reveal its content.
   *
   * @internal
   */
  readonly transport: () => Transport;

  /** @internal */
  constructor(options: GatewayOptions, parts: ClientParts) {
    const settings = resolveSettings(options, parts.readGateway);
    const features = createFeatures(withoutNulls(options, 'client'), parts);
    const transport = new Transport(settings, features);
    this.transport = () => transport;
    for (const [name, read] of Object.entries(readable)) {
      // Defined on the object, because proxies and copies can use neither private fields nor prototype getters.
      Object.defineProperty(this, name, {
        enumerable: name !== 'apiKey',
        get: () => read(transport.client),
        set: (value: unknown) => {
          transport.client = changeSettings(transport.client, { [name]: value });
        },
      });
    }
  }

  /**
   * Returns a client of the same class with changed options. The original is unchanged. Both share their
   * budget, spending, `limits` and `retryBudget`, and the download queue if the gateway limits downloads.
   *
   * @throws `InvalidInputError` if an option is invalid
   */
  withOptions(options: GatewayOptions): this {
    const original = this.transport();
    const changed = { ...original.client.original(), ...options };
    const copy: this = Reflect.construct(this.constructor, [changed]);
    const transport = copy.transport();
    const { shared, limits, budget, pending } = original.client;
    transport.client = { ...transport.client, pending };
    if (readRoot(transport) === readRoot(original)) {
      Object.assign(transport.client, {
        shared,
        ...(options.limits === undefined && { limits }),
        ...(options.retryBudget === undefined && { budget }),
      });
    }
    return copy;
  }

  /**
   * Waits until the outcome of every submission with a `ledger` is recorded, also of those that were aborted. Call it
   * before the process ends, after `signal` of the calls was aborted. The client and its copies stay usable.
   *
   * @param options - `timeout`: in milliseconds; 0 only looks. Default: 35000, which is enough for aborted submissions.
   * @returns `false` if some are still under way
   * @throws `InvalidInputError` if the timeout is invalid
   */
  async settled(options: { readonly timeout?: number | undefined } = {}): Promise<boolean> {
    const { timeout = 35_000 } = options;
    checkDuration('timeout', timeout, 0);
    const { pending } = this.transport().client;
    await withLimit(undefined, timeout, undefined, async (signal) => {
      while (pending.size > 0 && !signal.aborted) {
        await untilAborted(Promise.allSettled(pending.keys()), signal).catch(() => {});
      }
    });
    return pending.size === 0;
  }

  /** The output of `console.log` in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Gateway { baseURL: '${readRoot(this.transport())}' }`;
  }

  /** The output of `JSON.stringify`. */
  toJSON(): { baseURL: string } {
    return { baseURL: readRoot(this.transport()) };
  }
}
