import { isObject } from '../answers/objects.ts';
import { checkNumber } from '../check.ts';
import { APIConnectionError, APIError, UnexpectedResponseError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { followSignal, untilAborted } from '../http/abort.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import { retryAfterFrom } from '../http/retry.ts';
import type { RequestOptions } from '../options.ts';
import { callbackError, failedError, stoppedError, type Waited } from './errors.ts';
import {
  findComplaint,
  findFailure,
  isCausedByInput,
  namesTask,
  defineHidden,
  restateVideo,
  videoSchema,
} from './schema.ts';
import { makeRef, nameTask, noteCompleted, ownTask, type NamedTask } from './ref.ts';
import { readStatusWord } from './schema.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';
import {
  resolveWait,
  type VideoUpdate,
  type VideoWaitAllOptions,
  type VideoWaitOptions,
  type VideoWaitState,
  type VideoWaitStep,
  type WaitSettings,
} from './wait-options.ts';
import {
  asksVendor,
  begin,
  decide,
  hasChanged,
  type Observation,
  type Pause,
  statuses,
} from './wait.ts';

/** The document of a browser tab; other runtimes have none. */
const tab = (): Document | undefined => (typeof document === 'undefined' ? undefined : document);

/**
 * What the waits of one call share: options, signal, clock and pauses.
 *
 * Pauses do not listen to the signal themselves: with ten thousand listeners, adding and removing one
 * takes long.
 */
export class WaitScope {
  readonly transport: Transport;
  readonly settings: WaitSettings;
  readonly #controller = new AbortController();
  readonly #offset = Date.now() - performance.now();
  /** The pauses that are under way: each is looked at after an abort, and when the tab becomes visible. */
  readonly #wakers = new Set<() => void>();
  readonly #wake = (): void => {
    for (const wake of this.#wakers) wake();
  };
  readonly #unfollow: readonly (() => void)[];

  /** @param left - Aborted when nobody waits any more. */
  constructor(transport: Transport, options: VideoWaitOptions, left?: AbortSignal) {
    transport.checkNames(options);
    // Plain JavaScript may give none as `null`.
    this.settings = resolveWait(options ?? {});
    const { signal, request } = this.settings;
    transport.checkOptions({ ...request, signal });
    this.transport = transport;
    this.signal.addEventListener('abort', this.#wake);
    this.#unfollow = [signal, left].map((end) => followSignal(end, this.#controller));
    tab()?.addEventListener('visibilitychange', this.#wake);
  }

  /** Reads what the caller gave for a task: one of this gateway, unless another is allowed. */
  nameTask(task: VideoTaskLike): NamedTask {
    const { transport, settings } = this;
    if (settings.allowOtherBaseURL) return nameTask(task, transport.baseURL);
    return ownTask(transport, task, 'Or set allowOtherBaseURL: true.');
  }

  /** Aborted together with the caller's. Polls listen here, so that nothing piles up on the caller's. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds since 1970, on a clock that does not jump while the scope lives. */
  get now(): number {
    return this.#offset + performance.now();
  }

  /** Awaited before every poll, where the caller has no limiter. */
  takeTurn: (() => Promise<void>) | undefined;

  /** Lets polls begin one after the other, so that no more than so many do in a second. */
  limit(options: VideoWaitAllOptions): void {
    const { maxPollsPerSecond = 10 } = options ?? {};
    const perSecond = checkNumber('maxPollsPerSecond', maxPollsPerSecond, 0.001, 100_000);
    let free = 0;
    this.takeTurn = () => {
      const { now } = this;
      const turn = Math.max(now, free);
      free = turn + 1_000 / perSecond;
      return this.pause({ delayMs: turn - now, earliestMs: turn - now });
    };
  }

  /**
   * Sleeps. Browsers hardly let the timers of a hidden tab run, so a tab that becomes visible wakes
   * it up, though not before the shortest pause has passed.
   *
   * @throws the reason of the signal, as soon as it is aborted
   */
  pause({ delayMs, earliestMs }: Pause): Promise<void> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const begun = performance.now();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const end = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const sleep = (rest: number): void => {
        clearTimeout(timer);
        if (rest <= 0 || signal.aborted) end();
        else timer = setTimeout(end, rest);
      };
      const wake = (): void => {
        const isVisible = tab()?.visibilityState === 'visible';
        if (signal.aborted || isVisible) sleep(begun + earliestMs - performance.now());
      };
      this.#wakers.add(wake);
      sleep(delayMs);
    });
  }

  /** Ends whatever is under way, and takes the listeners off. */
  close(): void {
    for (const unfollow of this.#unfollow) unfollow();
    tab()?.removeEventListener('visibilitychange', this.#wake);
    this.#controller.abort();
    this.signal.removeEventListener('abort', this.#wake);
  }
}

/** Reads the status of a task once, on its own route or on another. */
export function readTask(
  transport: Transport,
  { ref, given }: NamedTask,
  options: RequestOptions | undefined,
  route = ref.route,
): GatewayPromise<VideoTask> {
  const { id, trace } = ref;
  const answer = jsonAnswer({ schema: videoSchema }, (task) => {
    // Some gateways pass on the body of their provider, with the provider's id in it.
    task.id = id;
    task.task_id = id;
    const { model, created_at: created } = task;
    const createdAt = created === undefined ? Date.now() : Math.round(created * 1_000);
    defineHidden(task, 'ref', given === undefined ? makeRef({ ...ref, createdAt, model }) : ref);
    if (task.status === 'completed') noteCompleted(task.ref, given);
    return task;
  });
  if (route.type === 'openai') {
    return transport.call('videos.retrieve', { params: { task_id: id }, trace }, answer, options);
  }
  const params = { vendor_prefix: route.vendorPrefix, task_id: id };
  return transport.call('videos.retrieveFromVendor', { params, trace }, answer, options);
}

/** What a poll gave. */
interface Polled {
  readonly task?: VideoTask;
  readonly error?: unknown;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** Whether the vendor's route was asked as well; a failure of the task is then known from there. */
  readonly hasAskedVendor?: true;
}

/** What the error of a poll says of the task: nothing for now, that it is missing, or nothing ever. */
function classifyPollError(error: unknown): 'missing' | 'transient' | 'fatal' {
  if (InvalidInputError.isInstance(error)) {
    // The function that gives the key failed; it may work at the next poll.
    return error.field === 'apiKey' && error.cause !== undefined ? 'transient' : 'fatal';
  }
  if (APIConnectionError.isInstance(error)) return 'transient';
  // Only strict validation refuses fields; the same answer would fail again.
  const refused = UnexpectedResponseError.isInstance(error) ? error.issues[0]?.path : undefined;
  if ((refused ?? '') !== '' || !APIError.isInstance(error)) return 'fatal';
  const { status = 0, code, message, outcome } = error;
  // Most gateways say so with status 400.
  const isNamed = status === 400 && /task.{0,100}?not.{0,6}(exist|found)/i.test(message);
  if (status === 404 || code === 'task_not_exist' || isNamed) return 'missing';
  // 501 and 505 mean that the route does not exist.
  if ([0, 501, 505].includes(status)) return 'fatal';
  const passes = status < 300 || status >= 500 || [425, 429].includes(status);
  return passes || outcome === 'unknown' ? 'transient' : 'fatal';
}

/** Turns what a poll gave into what the decision is made of. */
function observe(
  { task, error, hasAskedVendor, retryAfter }: Polled,
  unknownStatus: WaitSettings['unknownStatus'],
): Observation {
  if (task === undefined) {
    const type = classifyPollError(error);
    return type === 'fatal' ? { type } : { type, retryAfter };
  }
  const { raw_status: rawStatus, raw } = task;
  if (rawStatus !== undefined && readStatusWord(rawStatus).word === 'foreign') {
    if (typeof unknownStatus === 'function') {
      const read = unknownStatus(rawStatus);
      const problem = `unknownStatus gave ${JSON.stringify(read)} for "${rawStatus}"; it must give one of ${statuses.join(', ')}.`;
      if (!statuses.includes(read)) throw new TypeError(problem);
      restateVideo(task, read);
    } else if (unknownStatus === 'fail' && task.inferred !== true) {
      return { type: 'foreign_status', rawStatus };
    }
  }
  const { status, progress } = task;
  const isWordless = status === 'queued' && rawStatus === undefined && isObject(raw);
  const failure = (isWordless ? findComplaint(raw) : task.error) ?? undefined;
  const isFinal = hasAskedVendor === true || (failure !== undefined && isCausedByInput(failure));
  const seen = { status, rawStatus, progress, failure, isFinal, hasAskedVendor, retryAfter };
  return { type: 'task', ...seen };
}

/** How long the last poll of a wait, and a poll of the vendor's route, may take, in milliseconds. */
const shortPoll = 10_000;

/** The route of the gateway's own record of a task, whichever vendor made it. */
const vendorRoute = { type: 'vendor', vendorPrefix: 'kling' } as const;

/** A step, and what it has changed. */
type WaitRunStep = VideoWaitStep & { readonly update?: VideoUpdate };

/**
 * One wait, poll by poll. Between two polls it holds nothing of the one before but its state: there
 * may be thousands of waits at the same time.
 */
export class WaitRun {
  readonly #scope: WaitScope;
  readonly #task: NamedTask;
  readonly #submittedAt: number | undefined;
  #state: VideoWaitState;
  #pause: Pause | undefined;

  /**
   * @param stored - The state of a wait that goes on, with a poll at once.
   * @param isNew - Whether the task may just have been submitted, so that its handle tells when.
   */
  constructor(
    scope: WaitScope,
    task: NamedTask,
    stored?: VideoWaitState,
    isNew = task.given !== undefined,
  ) {
    this.#scope = scope;
    this.#task = task;
    this.#submittedAt = isNew ? task.ref.createdAt : undefined;
    const { now, settings } = scope;
    const { state, pause } = begin(now, this.#ageAt(now), settings, Math.random());
    this.#state = stored ?? state;
    if (stored === undefined) this.#pause = pause;
  }

  /** Pauses, polls once, and says what follows from it. */
  async step(): Promise<WaitRunStep> {
    const { signal, settings } = this.#scope;
    const { timeout: limit, pollTimeout: timeout, onUpdate } = settings;
    try {
      if (this.#pause !== undefined) await this.#scope.pause(this.#pause);
      await this.#takeTurn();
      const before = this.#state;
      const started = this.#elapsed;
      const remaining = limit === null ? null : Math.ceil(limit - started);
      const totalTimeout = remaining === null || remaining > 0 ? remaining : shortPoll;
      const polled = await this.#askVendor(await this.#poll({ timeout, totalTimeout }));
      const step = this.#conclude(polled, started);
      this.#state = step.state;
      if ('delayMs' in step.next) this.#pause = step.next;
      const { state, task } = step;
      if (task === undefined || !hasChanged(before, state)) return step;
      const { rawStatus, progress, polls } = state;
      const elapsed = Math.round(this.#elapsed);
      const update = { status: task.status, rawStatus, progress, elapsed, polls, task };
      if (onUpdate !== undefined) await this.#call('onUpdate', () => onUpdate(update));
      return { ...step, update };
    } catch (error) {
      // Whatever an abort broke off: it is the caller's own decision and not a failure.
      throw signal.aborted && error === signal.reason
        ? stoppedError('aborted', this.#waited, error)
        : error;
    }
  }

  /** Polls until the task is completed, one poll after the other. */
  async untilDone(): Promise<VideoTask> {
    for (;;) {
      const { next } = await this.step();
      if ('error' in next) throw next.error;
      if ('video' in next) return next.video;
    }
  }

  /** Awaits the turn to poll, where polls are limited. */
  async #takeTurn(): Promise<void> {
    const { signal, settings, takeTurn } = this.#scope;
    const { limiter } = settings;
    if (limiter === undefined) return takeTurn?.();
    return this.#call('limiter', () => limiter(signal));
  }

  async #poll(limits: RequestOptions, route?: VideoTaskRef['route']): Promise<Polled> {
    const { transport, settings, signal } = this.#scope;
    const options = { ...settings.request, signal, ...limits };
    try {
      const read = readTask(transport, this.#task, options, route).withResponse();
      const { data, response } = await untilAborted(read, signal);
      return { task: data, retryAfter: retryAfterFrom(response.headers, response.status) };
    } catch (error) {
      // A poll that was broken off by the abort reports it as its own error.
      signal.throwIfAborted();
      if (!APIError.isInstance(error) || error.headers === undefined) return { error };
      return { error, retryAfter: retryAfterFrom(error.headers, error.status) };
    }
  }

  /**
   * Asks the vendor's route too when the status has been unknown for long. Of its answer only a
   * failure of this task counts.
   */
  async #askVendor(polled: Polled): Promise<Polled> {
    const { id, route } = this.#task.ref;
    if (route.type !== 'openai' || polled.task === undefined) return polled;
    if (!asksVendor(this.#state, polled.task, this.#elapsed)) return polled;
    await this.#takeTurn();
    const limits = { timeout: shortPoll, totalTimeout: shortPoll, maxRetries: 0 };
    const { task } = await this.#poll(limits, vendorRoute);
    // Other software may call its own answer a failure, and that has an id too.
    const hasFailed = task?.status === 'failed' && isObject(task.raw) && namesTask(task.raw, id);
    return { ...(hasFailed ? { task } : polled), hasAskedVendor: true };
  }

  /** What follows from a poll. */
  #conclude(polled: Polled, started: number): VideoWaitStep {
    const { settings, now } = this.#scope;
    const { task, error: pollError } = polled;
    const elapsed = now - this.#state.since;
    let seen: Observation;
    try {
      seen = observe(polled, settings.unknownStatus);
    } catch (error) {
      throw callbackError('unknownStatus', this.#waited, error);
    }
    const moment = { started, elapsed, age: this.#ageAt(now) };
    const { state, next } = decide(this.#state, seen, moment, settings, Math.random());
    const step = { state, task, pollError };
    const { ref } = this.#task;
    if (typeof next === 'object') return { ...step, next };
    if (next === 'completed' && task !== undefined) return { ...step, next: { video: task } };
    if (next === 'failed') {
      if (task !== undefined) restateVideo(task, 'failed');
      const error = failedError(ref, state.failure ?? findFailure({}), task?.raw);
      return { ...step, next: { error } };
    }
    const waited = { ref, state, elapsed };
    return { ...step, next: { error: stoppedError(next, waited, pollError, settings.timeout) } };
  }

  /** Awaits a function of the caller's. */
  async #call(name: 'onUpdate' | 'limiter', run: () => unknown): Promise<void> {
    const { signal } = this.#scope;
    try {
      await untilAborted((async () => run())(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw callbackError(name, this.#waited, error);
    }
  }

  /** Milliseconds since the submission, where it is known when that was. */
  #ageAt(now: number): number | undefined {
    return this.#submittedAt === undefined ? undefined : now - this.#submittedAt;
  }

  get #elapsed(): number {
    return this.#scope.now - this.#state.since;
  }

  get #waited(): Waited {
    return { ref: this.#task.ref, state: this.#state, elapsed: this.#elapsed };
  }
}
