import { ImageTasks } from '../images/tasks.ts';
import type { Operation } from '../../endpoints.ts';
import type { Fetch } from '../../options/options.ts';
import type { World } from './call.ts';
import {
  CannedAnswers,
  type ModelAnswer,
  type RespondOptions,
  type Responder,
} from '../control/canned.ts';
import { EmulatorClock } from '../control/clock.ts';
import { dispatch, type Gateway } from './dispatch.ts';
import { FaultRules } from '../faults/fault-rules.ts';
import type { ActiveFault, FaultRule } from '../faults/faults.ts';
import { findFamily } from '../gateways/families.ts';
import type { EmulatedGateway, Family, NewApiEdition } from '../gateways/family.ts';
import { createFetch } from './fetch.ts';
import { Files, Origins } from './files.ts';
import { Ids } from '../control/ids.ts';
import { Ledger, type Charge } from '../control/ledger.ts';
import { defaultModels, type EmulatorModel } from '../control/models.ts';
import {
  checkModelAnswer,
  checkOperation,
  checkQuirks,
  checkRule,
} from '../control/check-setup.ts';
import { defaultQuirks, type Quirks } from '../faults/quirks.ts';
import {
  RequestLog,
  type ReceivedPreflight,
  type ReceivedRequest,
} from '../control/request-log.ts';
import { startServer, type EmulatorServer } from './server.ts';
import { VideoTasks } from '../videos/tasks.ts';

/** Options of `createEmulator()`. */
export interface EmulatorOptions {
  /** The only valid key. @defaultValue "sk-emulator" */
  apiKey?: string | undefined;
  /** The URL that `fetch` handles. Only its origin is used. @defaultValue "http://emulator.test" */
  baseURL?: string | undefined;
  /**
   * The listed models. If set, all other models are rejected; otherwise every name except `missing-model`
   * is accepted.
   */
  models?: readonly EmulatorModel[] | undefined;
  /** First path segment of the vendor's status route. @defaultValue "kling" */
  vendorPrefix?: string | undefined;
  /** Duration of a video task, in milliseconds of the emulator's clock; 0 for none. @defaultValue 3000 */
  videoDuration?: number | undefined;
  /** Credit units that may be charged before requests are rejected. @defaultValue Infinity */
  credit?: number | undefined;
  /**
   * The kind of gateway, for example `openrouter` with the routes below `/api/v1`, and the responses and errors
   * of OpenRouter.
   * @defaultValue "new-api"
   */
  gateway?: EmulatedGateway | undefined;
  /**
   * The build of new-api. `2026` is v1.0.0-rc.25, which differs from stable releases: its own validation answers
   * 500, content needs a key, images are streamed, and errors have other texts. The default stays `2025` until a
   * stable release behaves like it.
   * @defaultValue "2025"
   */
  edition?: NewApiEdition | undefined;
  /** Differences from the common behaviour. */
  quirks?: Partial<Quirks> | undefined;
}

/**
 * An emulator of the gateway that handles every documented operation, records charges without real cost,
 * and injects faults on request.
 *
 * Create one with `createEmulator()`.
 */
export class Emulator implements AsyncDisposable {
  /** The valid key. */
  readonly apiKey: string;
  /** The URL that `fetch` handles. */
  readonly baseURL: string;
  /** A `fetch` function that only reaches the emulator. It does not need `this`. */
  readonly fetch: Fetch;
  /** The clock that drives video tasks. */
  readonly clock = new EmulatorClock();
  /** Differences from the common behaviour. May be changed at any time. */
  readonly quirks: Quirks;
  /** The video tasks, which can be failed, completed, expired and removed manually. */
  readonly videos: VideoTasks;
  /** The listed models. */
  readonly models: readonly EmulatorModel[];
  readonly #defaults: Quirks;
  readonly #gateway: Gateway;
  readonly #ledger = new Ledger();
  readonly #origins = new Origins();
  readonly #servers = new Set<EmulatorServer>();

  /** @internal */
  constructor(options: EmulatorOptions) {
    this.apiKey = options.apiKey ?? 'sk-emulator';
    this.baseURL = new URL(options.baseURL ?? 'http://emulator.test').origin;
    checkQuirks(options.quirks);
    const family = findFamily(options.gateway, options.edition);
    this.#defaults = { ...defaultQuirks, ...family.quirks, ...options.quirks };
    this.quirks = { ...this.#defaults };
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
      imageTasks: new ImageTasks(),
      models,
      strictModels: options.models !== undefined,
      errors: family.errors,
      vendorPrefix: options.vendorPrefix ?? 'kling',
      credit: options.credit ?? Infinity,
      otherOrigin: (origin) => this.#origins.other(origin),
    };
    this.#gateway = {
      world,
      family,
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

  /** All charges since the start or the last reset. The length is the number of payments. */
  get charges(): readonly Charge[] {
    this.videos.settle();
    return this.#ledger.charges;
  }

  /** All received requests except preflights, since the start or the last reset. */
  get requests(): readonly ReceivedRequest[] {
    return this.#gateway.log.requests;
  }

  /** All received preflight requests. */
  get preflights(): readonly ReceivedPreflight[] {
    return this.#gateway.log.preflights;
  }

  /** Faults that still apply to further requests. */
  get faults(): readonly ActiveFault[] {
    return this.#gateway.faults.active;
  }

  /**
   * Makes the next matching request fail.
   *
   * @throws `InvalidInputError` if the fault or operation does not exist, or a field of the fault is missing
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
   * Sends a custom response to the next request for an operation. A function returns the response, which is
   * not charged unless `charged` is set. For chat and generate, an object defines the model's output, which is
   * sent complete or streamed as requested, and charged as usual.
   *
   * @throws `InvalidInputError` if the operation does not exist, or an object is passed for an operation other
   * than chat and generate
   *
   * @example
   * ```ts
   * emulator.respondOnce('chat.completions.create', { text: 'Paris' });
   * ```
   */
  respondOnce(
    operation: Operation | '*',
    respond: Responder | ModelAnswer,
    options: RespondOptions = {},
  ): void {
    checkOperation(operation);
    checkModelAnswer(operation, respond);
    this.#gateway.canned.add({ operation, respond, charged: options.charged ?? false });
  }

  /**
   * Handles a request with any host.
   *
   * @throws `TypeError` if a fault loses the connection
   */
  handle(request: Request): Promise<Response> {
    return dispatch(this.#gateway, request);
  }

  /** @internal The supported routes. */
  get routes(): Pick<Family, 'paths' | 'otherPaths'> {
    return this.#gateway.family;
  }

  /** Returns the second origin of a gateway URL, which only serves files; see the quirk `fileOrigin`. */
  filesOrigin(baseURL: string = this.baseURL): string {
    return this.#origins.other(new URL(baseURL).origin);
  }

  /**
   * Serves the emulator over HTTP. Requires Node, Bun or Deno. Clients with the key can control it under
   * `/__emulator`; pages of other sites cannot.
   *
   * @param port - 0 selects a free port.
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

  /** Restores the initial state, without charges, requests, tasks and faults. Servers keep running. */
  reset(): void {
    const { world, log, faults, canned } = this.#gateway;
    this.clock.reset();
    this.videos.clear();
    this.#ledger.clear();
    world.files.clear();
    world.imageTasks.clear();
    world.ids.reset();
    log.clear();
    faults.clear();
    canned.clear();
    Object.assign(this.quirks, this.#defaults);
  }

  /** Closes all servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers].map((server) => server.close()));
  }
}

/**
 * Creates an emulator of the gateway, with the same behaviour but without network or account.
 *
 * It runs in every environment with `fetch`; only `listen()` requires a server runtime.
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
