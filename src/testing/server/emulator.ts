import type { Operation } from '../../endpoints.ts';
import type { Fetch } from '../../options.ts';
import type { World } from './call.ts';
import { CannedAnswers, type RespondOptions, type Responder } from '../control/canned.ts';
import { EmulatorClock } from '../control/clock.ts';
import { dispatch, type Gateway } from './dispatch.ts';
import { FaultRules } from '../faults/fault-rules.ts';
import type { ActiveFault, FaultRule } from '../faults/faults.ts';
import { createFetch } from './fetch.ts';
import { Files, Origins } from './files.ts';
import { Ids } from '../control/ids.ts';
import { Ledger, type Charge } from '../control/ledger.ts';
import { defaultModels, type EmulatorModel } from '../control/models.ts';
import { checkOperation, checkQuirks, checkRule } from '../control/check-setup.ts';
import { defaultQuirks, type Quirks } from '../faults/quirks.ts';
import {
  RequestLog,
  type ReceivedPreflight,
  type ReceivedRequest,
} from '../control/request-log.ts';
import { startServer, type EmulatorServer } from './server.ts';
import { VideoTasks } from '../videos/tasks.ts';

/** How an emulator is set up. */
export interface EmulatorOptions {
  /** The only key that is accepted. @defaultValue "sk-emulator" */
  apiKey?: string | undefined;
  /** The address that `fetch` answers for. Only its origin counts. @defaultValue "http://emulator.test" */
  baseURL?: string | undefined;
  /**
   * The models that are listed. When they are given, every other model is refused; otherwise every
   * name is accepted but `missing-model`.
   */
  models?: readonly EmulatorModel[] | undefined;
  /** The first path segment of the vendor's status route. @defaultValue "kling" */
  vendorPrefix?: string | undefined;
  /** How long a video task takes, in milliseconds of the emulator's clock; 0 for none. @defaultValue 3000 */
  videoDuration?: number | undefined;
  /** Credit units that may be charged before the account is refused. @defaultValue Infinity */
  credit?: number | undefined;
  /** Behaviour that differs from the common one. */
  quirks?: Partial<Quirks> | undefined;
}

/**
 * A model of the gateway that answers every documented operation, charges an account that nobody pays,
 * and fails on request.
 *
 * Make one with `createEmulator()`.
 */
export class Emulator implements AsyncDisposable {
  /** The key that is accepted. */
  readonly apiKey: string;
  /** The address that `fetch` answers for. */
  readonly baseURL: string;
  /** A `fetch` function that reaches the emulator and nothing else. It needs no `this`. */
  readonly fetch: Fetch;
  /** The time on which video tasks move. */
  readonly clock = new EmulatorClock();
  /** Behaviour in which gateways differ. Change it at any time. */
  readonly quirks: Quirks;
  /** The video tasks, which can be failed, completed, expired and forgotten by hand. */
  readonly videos: VideoTasks;
  /** The models that are listed. */
  readonly models: readonly EmulatorModel[];
  readonly #options: EmulatorOptions;
  readonly #gateway: Gateway;
  readonly #ledger = new Ledger();
  readonly #origins = new Origins();
  readonly #servers = new Set<EmulatorServer>();

  /** @internal */
  constructor(options: EmulatorOptions) {
    this.#options = options;
    this.apiKey = options.apiKey ?? 'sk-emulator';
    this.baseURL = new URL(options.baseURL ?? 'http://emulator.test').origin;
    checkQuirks(options.quirks);
    this.quirks = { ...defaultQuirks, ...options.quirks };
    this.models = options.models ?? defaultModels;
    const ids = new Ids(this.baseURL);
    const { quirks, models, clock } = this;
    const parts = { quirks, models, clock, ids, ledger: this.#ledger };
    this.videos = new VideoTasks(parts, options.videoDuration ?? 3000);
    const world: World = {
      quirks,
      clock,
      ledger: this.#ledger,
      ids,
      files: new Files(ids),
      tasks: this.videos,
      models,
      strictModels: options.models !== undefined,
      vendorPrefix: options.vendorPrefix ?? 'kling',
      credit: options.credit ?? Infinity,
      otherOrigin: (origin) => this.#origins.other(origin),
    };
    this.#gateway = {
      world,
      apiKey: this.apiKey,
      log: new RequestLog(),
      faults: new FaultRules(),
      canned: new CannedAnswers(),
      controlled: this,
      isOtherOrigin: (origin) => this.#origins.isOther(origin),
    };
    const origins = [this.baseURL, this.filesOrigin()];
    const handle = (request: Request): Promise<Response> => this.handle(request);
    this.fetch = createFetch({ origins, handle }, this.baseURL);
  }

  /** Every charge since the start or the last reset. Its length is how often the user has paid. */
  get charges(): readonly Charge[] {
    this.videos.settle();
    return this.#ledger.charges;
  }

  /** Every request that was received, but preflights, since the start or the last reset. */
  get requests(): readonly ReceivedRequest[] {
    return this.#gateway.log.requests;
  }

  /** Every preflight request of a browser. */
  get preflights(): readonly ReceivedPreflight[] {
    return this.#gateway.log.preflights;
  }

  /** The faults that will still hit a request. */
  get faults(): readonly ActiveFault[] {
    return this.#gateway.faults.active;
  }

  /**
   * Makes the next matching request fail.
   *
   * @throws `InvalidInputError` when there is no such fault or operation
   *
   * @example
   * ```ts
   * emulator.fail({ operation: 'videos.create', fault: { type: 'reset', when: 'after-charge' } });
   * ```
   */
  fail(rule: FaultRule): ActiveFault {
    checkRule(rule);
    return this.#gateway.faults.add(rule);
  }

  /**
   * Gives one answer made by hand to the next request for an operation. It is not charged by itself.
   *
   * @throws `InvalidInputError` when there is no such operation
   */
  respondOnce(operation: Operation | '*', respond: Responder, options: RespondOptions = {}): void {
    checkOperation(operation);
    this.#gateway.canned.add({ operation, respond, charged: options.charged ?? false });
  }

  /**
   * Answers one request, whatever its host.
   *
   * @throws `TypeError` when a fault loses the connection.
   */
  handle(request: Request): Promise<Response> {
    return dispatch(this.#gateway, request);
  }

  /** The origin next to a gateway's address that serves only files, as `quirks` can ask for. */
  filesOrigin(baseURL: string = this.baseURL): string {
    return this.#origins.other(new URL(baseURL).origin);
  }

  /**
   * Serves the emulator over HTTP. Needs Node, Bun or Deno. Whoever sends its key can steer it below
   * `/__emulator`; pages of other sites cannot.
   *
   * @param port - 0 takes a free one.
   */
  async listen(port = 0, host = '127.0.0.1'): Promise<EmulatorServer> {
    const server = await startServer((request) => this.handle(request), port, host);
    const forget = this.#origins.register(server.port, Number(new URL(server.filesURL).port));
    const close = async (): Promise<void> => {
      forget();
      this.#servers.delete(listening);
      await server.close();
    };
    const listening: EmulatorServer = { ...server, close, [Symbol.asyncDispose]: close };
    this.#servers.add(listening);
    return listening;
  }

  /** Back to the state after `createEmulator()`: no charges, requests, tasks and faults. Servers go on. */
  reset(): void {
    const { world, log, faults, canned } = this.#gateway;
    this.clock.reset();
    this.videos.clear();
    this.#ledger.clear();
    world.files.clear();
    world.ids.reset();
    log.clear();
    faults.clear();
    canned.clear();
    Object.assign(this.quirks, defaultQuirks, this.#options.quirks);
  }

  /** Closes every server that listens. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers].map((server) => server.close()));
  }
}

/**
 * Makes an emulator of the gateway: no network, no account, the same behaviour.
 *
 * It runs wherever `fetch` is known; only `listen()` needs a server runtime.
 *
 * @example
 * ```ts
 * const emulator = createEmulator();
 * const { apiKey, baseURL, fetch } = emulator;
 * const client = new Gateway({ apiKey, baseURL, fetch });
 * await client.images.generate({ model: 'm-image', prompt: 'a red circle' });
 * expect(emulator.charges).toHaveLength(1);
 * ```
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  return new Emulator(options);
}
