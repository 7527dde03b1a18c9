import { isObject } from '../answers/objects.ts';
import { APIConnectionError, APIError, UnexpectedResponseError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { followSignal, untilAborted } from '../http/abort.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import { retryAfterFrom } from '../http/retry.ts';
import type { RequestOptions } from '../options.ts';
import {
  callbackError,
  failedError,
  stoppedError,
  summarize,
  type VideoWaitSummary,
} from './errors.ts';
import {
  findComplaint,
  findFailure,
  isCausedByInput,
  namesTask,
  defineHidden,
  restateVideo,
  videoSchema,
} from './schema.ts';
import { makeRef, noteCompleted, type NamedTask } from './ref.ts';
import { readStatusWord } from './status.ts';
import type { VideoStatus, VideoTask, VideoTaskRef } from './types.ts';
import type { VideoUpdate, VideoWaitState, VideoWaitStep, WaitSettings } from './wait-options.ts';
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

/** The abort reason of a scope that its caller has left. It is never reported. */
const left = new Error('Nobody waits any more.');

/**
 * What the polls of one wait share, or of many that end together: signal, clock and pauses.
 *
 * Pauses do not listen to the signal themselves: with ten thousand listeners, adding and removing one
 * takes long.
 */
export class WaitScope {
  readonly #controller = new AbortController();
  readonly #offset = Date.now() - performance.now();
  /** The pauses that are under way: each is looked at after an abort, and when the tab becomes visible. */
  readonly #wakers = new Set<() => void>();
  readonly #wake = (): void => {
    for (const wake of this.#wakers) wake();
  };
  readonly #unfollow: () => void;

  constructor(signal: AbortSignal | null | undefined) {
    this.#controller.signal.addEventListener('abort', this.#wake);
    this.#unfollow = followSignal(signal, this.#controller);
    tab()?.addEventListener('visibilitychange', this.#wake);
  }

  /** Aborted together with the caller's. Polls listen here, so that nothing piles up on the caller's. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds since 1970, on a clock that does not jump while the scope lives. */
  get now(): number {
    return this.#offset + performance.now();
  }

  /** Whether the caller has left it before its end. */
  get isLeft(): boolean {
    return this.signal.reason === left;
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

  /** Ends whatever is under way, because nobody waits for it any more. */
  leave(): void {
    this.#controller.abort(left);
  }

  /** Leaves, and takes the listeners off. */
  close(): void {
    this.#unfollow();
    tab()?.removeEventListener('visibilitychange', this.#wake);
    this.leave();
    this.signal.removeEventListener('abort', this.#wake);
  }
}

/** Reads the status of a task once, on its own route. */
export function readTask(
  transport: Transport,
  { id, route, ref, given }: NamedTask,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  const answer = jsonAnswer({ schema: videoSchema }, (task, { baseURL }) => {
    // Some gateways pass on the body of their provider, with the provider's id in it.
    task.id = id;
    task.task_id = id;
    const { model, created_at: created } = task;
    const createdAt = created === undefined ? Date.now() : Math.round(created * 1_000);
    defineHidden(task, 'ref', ref ?? makeRef({ id, baseURL, createdAt, route, model }));
    if (task.status === 'completed') noteCompleted(task.ref, given);
    return task;
  });
  const trace = ref?.trace;
  if (route.type === 'openai') {
    return transport.call('videos.retrieve', { params: { task_id: id }, trace }, answer, options);
  }
  const params = { vendor_prefix: route.vendorPrefix, task_id: id };
  return transport.call('videos.retrieveFromVendor', { params, trace }, answer, options);
}

/** The answer to a poll: a task or an error, and how long the server asks to wait, in milliseconds. */
type PollResult = {
  readonly retryAfter?: number | undefined;
  /** Whether the vendor's route was asked as well; a failure of the task is then known from there. */
  readonly hasAskedVendor?: true | undefined;
} & (
  | { readonly task: VideoTask; readonly error?: undefined }
  | { readonly task?: undefined; readonly error: unknown }
);

/** Whether the gateway says that it has no such task; most say so with status 400. */
function saysMissing({ status, code, message }: APIError): boolean {
  if (status === 404 || code === 'task_not_exist') return true;
  return status === 400 && /task.{0,100}?not.{0,6}(exist|found)/i.test(message);
}

/** Whether an answer passes by itself. 501 and 505 mean that the route does not exist. */
function passes({ status, outcome }: APIError): boolean {
  if (status === undefined) return false;
  if (status >= 500) return status !== 501 && status !== 505;
  return status < 300 || status === 425 || status === 429 || outcome === 'unknown';
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
  if (saysMissing(error)) return 'missing';
  return passes(error) ? 'transient' : 'fatal';
}

/**
 * Turns what a poll gave into what the decision is made of.
 *
 * @throws `TypeError` when the caller's `unknownStatus` gives something else than a status
 */
function observe(
  { task, error, hasAskedVendor, retryAfter }: PollResult,
  unknownStatus: WaitSettings['unknownStatus'],
): Observation {
  if (task === undefined) {
    const type = classifyPollError(error);
    return type === 'fatal' ? { type } : { type, retryAfter };
  }
  const { raw_status: rawStatus, raw } = task;
  if (rawStatus !== undefined && readStatusWord(rawStatus).word === 'foreign') {
    if (typeof unknownStatus === 'function') {
      restateVideo(task, askForStatus(unknownStatus, rawStatus));
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

function askForStatus(read: (rawStatus: string) => VideoStatus, word: string): VideoStatus {
  const status = read(word);
  if (statuses.includes(status)) return status;
  throw new TypeError(
    `unknownStatus gave ${JSON.stringify(status)} for "${word}"; it must give one of ${statuses.join(', ')}.`,
  );
}

/** What is waited for, and how. */
export interface Wait {
  readonly transport: Transport;
  readonly task: NamedTask & { readonly ref: VideoTaskRef };
  /** Whether the handle says when the task was submitted. */
  readonly isDated: boolean;
  readonly settings: WaitSettings;
  /** Awaited before every poll, where the caller has no limiter. */
  readonly takeTurn?: (() => Promise<void>) | undefined;
}

/** Milliseconds since the submission, where it is known when that was. */
function ageOf({ task, isDated }: Wait, now: number): number | undefined {
  return isDated ? now - task.ref.createdAt : undefined;
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
  readonly #wait: Wait;
  readonly #scope: WaitScope;
  #state: VideoWaitState;
  #pause: Pause | undefined;

  /** @param stored - The state of a wait that goes on, with a poll at once. */
  constructor(wait: Wait, scope: WaitScope, stored?: VideoWaitState) {
    this.#wait = wait;
    this.#scope = scope;
    const { now } = scope;
    const { state, pause } = begin(now, ageOf(wait, now), wait.settings, Math.random());
    this.#state = stored ?? state;
    if (stored === undefined) this.#pause = pause;
  }

  /**
   * Pauses, polls once, and says what follows from it.
   *
   * @throws whatever ends the wait
   */
  async step(): Promise<WaitRunStep> {
    const { signal } = this.#scope;
    try {
      if (this.#pause !== undefined) await this.#scope.pause(this.#pause);
      await this.#takeTurn();
      const { timeout: limit, pollTimeout: timeout } = this.#wait.settings;
      const started = this.#elapsed;
      const remaining = limit === null ? null : Math.ceil(limit - started);
      const totalTimeout = remaining === null || remaining > 0 ? remaining : shortPoll;
      const polled = await this.#poll({ timeout, totalTimeout });
      const before = this.#state;
      const step = this.#conclude(await this.#askVendor(polled), started);
      this.#state = step.state;
      if ('delayMs' in step.next) this.#pause = step.next;
      const { state, task } = step;
      if (task === undefined || !hasChanged(before, state)) return step;
      const { rawStatus, progress, polls } = state;
      const { elapsed } = this.#summary();
      const update = { status: task.status, rawStatus, progress, elapsed, polls, task };
      const { onUpdate } = this.#wait.settings;
      if (onUpdate !== undefined) await this.#call('onUpdate', () => onUpdate(update));
      return { ...step, update };
    } catch (error) {
      // Whatever an abort broke off: it is the caller's own decision and not a failure.
      throw signal.aborted && error === signal.reason
        ? stoppedError('aborted', this.#summary(), error)
        : error;
    }
  }

  /** Awaits the turn to poll, where polls are limited. */
  async #takeTurn(): Promise<void> {
    const { settings, takeTurn } = this.#wait;
    const { limiter } = settings;
    if (limiter === undefined) return takeTurn?.();
    return this.#call('limiter', () => limiter(this.#scope.signal));
  }

  /** Reads the status once, on the route of the handle or on another. */
  async #poll(limits: RequestOptions, route?: VideoTaskRef['route']): Promise<PollResult> {
    const { transport, task, settings } = this.#wait;
    const { signal } = this.#scope;
    const options = { ...settings.request, signal, ...limits };
    try {
      const named = route === undefined ? task : { ...task, route };
      const read = readTask(transport, named, options).withResponse();
      const { data, response } = await untilAborted(read, signal);
      const { headers, status } = response;
      return { task: data, retryAfter: retryAfterFrom(headers, status) };
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
  async #askVendor(polled: PollResult): Promise<PollResult> {
    const { id, route } = this.#wait.task;
    if (route.type !== 'openai' || polled.task === undefined) return polled;
    if (!asksVendor(this.#state, polled.task, this.#elapsed)) return polled;
    await this.#takeTurn();
    const limits = { timeout: shortPoll, totalTimeout: shortPoll, maxRetries: 0 };
    const { task } = await this.#poll(limits, vendorRoute);
    // Other software may call its own answer a failure, and that has an id too.
    const isOfTask = isObject(task?.raw) && namesTask(task.raw, id);
    const hasFailed = task?.status === 'failed' && isOfTask;
    return { ...(hasFailed ? { task } : polled), hasAskedVendor: true };
  }

  /** What follows from a poll. */
  #conclude(result: PollResult, started: number): VideoWaitStep {
    const {
      task: { ref },
      settings,
    } = this.#wait;
    const { task, error: pollError } = result;
    const { now } = this.#scope;
    const elapsed = now - this.#state.since;
    let seen: Observation;
    try {
      seen = observe(result, settings.unknownStatus);
    } catch (error) {
      throw callbackError('unknownStatus', this.#summary(), error);
    }
    const moment = { started, elapsed, age: ageOf(this.#wait, now) };
    const { state, next } = decide(this.#state, seen, moment, settings, Math.random());
    const step = { state, task, pollError };
    if (typeof next === 'object') return { ...step, next };
    if (next === 'completed' && task !== undefined) return { ...step, next: { video: task } };
    if (next === 'failed') {
      if (task !== undefined) restateVideo(task, 'failed');
      const error = failedError(ref, state.failure ?? findFailure({}), task?.raw);
      return { ...step, next: { error } };
    }
    const summary = summarize(ref, state, elapsed);
    return { ...step, next: { error: stoppedError(next, summary, pollError, settings.timeout) } };
  }

  /** Awaits a function of the caller's. */
  async #call(name: 'onUpdate' | 'limiter', run: () => unknown): Promise<void> {
    const { signal } = this.#scope;
    try {
      await untilAborted((async () => run())(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw callbackError(name, this.#summary(), error);
    }
  }

  get #elapsed(): number {
    return this.#scope.now - this.#state.since;
  }

  #summary(): VideoWaitSummary {
    return summarize(this.#wait.task.ref, this.#state, this.#elapsed);
  }
}
