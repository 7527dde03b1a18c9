import { isObject } from '../answers/objects.ts';
import { APIConnectionError, APIError, UnexpectedResponseError } from '../errors/api-errors.ts';
import { type GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { untilAborted } from '../http/abort.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import type { RequestOptions } from '../options/options.ts';
import { changeOptions } from '../options/resolve.ts';
import { describePoll, describeProgress, type Waited } from './errors.ts';
import type { AnyRef, Target, TaskKind } from './kind.ts';
import { findComplaint, findFailure } from '../answers/failure.ts';
import { isCausedByInput, isMissingTask, namesTask } from './reading.ts';
import type { WaitScope } from './scope.ts';
import { shorter } from './limits.ts';
import type { NextPoll, PolledTask, TaskUpdate, TaskWaitState } from './types.ts';
import { shouldPollVendor, begin, decide, hasChanged, type Observation } from './decide.ts';

interface Polled<Task> {
  readonly task?: Task;
  readonly error?: unknown;
  /** The delay that the server requests, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** `true` if the vendor's route was requested as well; a failed task was then read from it. */
  readonly hasPolledVendor?: true;
}

/** Classifies a poll error: the task is missing, a later poll may succeed, or none ever will. */
function classifyPollError(error: unknown): 'missing' | 'transient' | 'fatal' {
  if (InvalidInputError.isInstance(error)) {
    // The function that returns the key failed; it may succeed at the next poll.
    return error.field === 'apiKey' && error.cause !== undefined ? 'transient' : 'fatal';
  }
  if (APIConnectionError.isInstance(error)) return 'transient';
  // Only strict validation rejects fields; the same response would fail again.
  const rejected = UnexpectedResponseError.isInstance(error) ? error.issues[0]?.path : undefined;
  if ((rejected ?? '') !== '' || !APIError.isInstance(error)) return 'fatal';
  if (isMissingTask(error)) return 'missing';
  const { status = 0, outcome } = error;
  // 501 and 505 mean that the route does not exist.
  if ([0, 501, 505].includes(status)) return 'fatal';
  const passes = status < 300 || status >= 500 || [425, 429].includes(status);
  return passes || outcome === 'unknown' ? 'transient' : 'fatal';
}

/** Converts the result of a poll into the observation that `decide` takes. */
function observe<Task extends PolledTask>({
  task,
  error,
  hasPolledVendor,
  retryAfter,
}: Polled<Task>): Observation {
  if (task === undefined) {
    const type = classifyPollError(error);
    return type === 'fatal' ? { type } : { type, retryAfter };
  }
  const { raw_status: rawStatus, raw } = task;
  const { status, progress } = task;
  const isWordless = status === 'queued' && rawStatus === undefined && isObject(raw);
  const failure = (isWordless ? findComplaint(raw) : task.error) ?? undefined;
  const isFinal = hasPolledVendor === true || (failure !== undefined && isCausedByInput(failure));
  const seen = { status, rawStatus, progress, failure, isFinal, hasPolledVendor, retryAfter };
  return { type: 'task', ...seen };
}

/** Time limit of the last poll of a wait and of polls of the vendor's route, in milliseconds. */
const shortPoll = 10_000;

/** The state after one poll, and what to do next. */
export interface RunStep<Task> {
  readonly state: TaskWaitState;
  readonly next: NextPoll | { readonly result: Task } | { readonly error: GatewayError };
  /** The task as the poll found it; `undefined` when the poll failed. */
  readonly task?: Task | undefined;
  readonly pollError?: unknown;
  /** The change since the last poll, if there is one. */
  readonly update?: TaskUpdate<Task> | undefined;
}

/** How a wait begins. */
interface Beginning {
  /** The state of a wait to continue; it polls immediately. */
  readonly stored?: TaskWaitState | undefined;
  /** `true` if the task may just have been submitted, at the time in its handle. */
  readonly isNew?: boolean | undefined;
  /** The start of the wait, in milliseconds since 1970, if it began before its first poll. */
  readonly since?: number | undefined;
}

/**
 * One wait, poll by poll. Between two polls it keeps only its state, because there may be thousands of
 * waits at the same time.
 */
export class WaitRun<Ref extends AnyRef, Task extends PolledTask> {
  readonly #scope: WaitScope<Ref, Task>;
  readonly #target: Target<Ref>;
  /** In milliseconds since 1970; `undefined` if that is unknown. */
  readonly #submittedAt: number | undefined;
  #state: TaskWaitState;
  #pause: NextPoll | undefined;
  #last: Polled<Task> | undefined;

  constructor(
    scope: WaitScope<Ref, Task>,
    target: Target<Ref>,
    { stored, isNew = target.handle !== undefined, since = scope.now }: Beginning = {},
  ) {
    this.#scope = scope;
    this.#target = target;
    this.#submittedAt = isNew ? target.ref.createdAt : undefined;
    if (stored !== undefined) {
      this.#state = stored;
      return;
    }
    const { now, settings } = scope;
    const begun = begin(since, this.#ageAt(now), settings, Math.random(), now - since);
    this.#state = begun.state;
    this.#pause = begun.pause;
  }

  /** Pauses, polls once, and returns the next step. */
  async step(): Promise<RunStep<Task>> {
    const { signal, settings } = this.#scope;
    const { timeout: limit, pollTimeout: timeout, onUpdate } = settings;
    try {
      if (this.#pause !== undefined) await this.#scope.pause(this.#pause);
      await this.#scope.takeTurn?.();
      const before = this.#state;
      const started = this.#elapsed;
      const remaining = limit === null ? null : Math.ceil(limit - started);
      const left = remaining === null || remaining > 0 ? remaining : shortPoll;
      const totalTimeout = shorter(left, settings.request.totalTimeout);
      const { read } = this.#kind;
      const polled = await this.#pollVendor(await this.#poll(read, { timeout, totalTimeout }));
      this.#last = polled;
      const step = this.#conclude(polled, started);
      if ('delayMs' in step.next) this.#pause = step.next;
      const { state, task } = step;
      if (task === undefined || !hasChanged(before, state)) return step;
      const { rawStatus, progress, polls } = state;
      const elapsed = Math.round(this.#elapsed);
      const update = { status: task.status, rawStatus, progress, elapsed, polls, task };
      if (onUpdate !== undefined) await this.#call(() => onUpdate(update));
      return { ...step, update };
    } catch (error) {
      // An abort is the decision of the caller, not a failure, whatever it interrupted.
      throw signal.aborted && error === signal.reason
        ? this.#kind.errors.stopped('aborted', this.#waited, error)
        : error;
    }
  }

  /** Polls until the task is completed. Throws if it fails or the wait ends early. */
  async untilDone(): Promise<Task> {
    for (;;) {
      const { next } = await this.step();
      if ('error' in next) throw next.error;
      if ('result' in next) return next.result;
    }
  }

  async #poll(read: TaskKind<Ref, Task>['read'], limits: RequestOptions): Promise<Polled<Task>> {
    const { settings, signal, transport } = this.#scope;
    const options = changeOptions(settings.request, { signal, ...limits });
    try {
      const reading = read(transport, this.#target, options);
      const { data, response } = await untilAborted(reading.withResponse(), signal);
      return { task: data, retryAfter: readRetryAfter(response.headers, response.status) };
    } catch (error) {
      // An aborted poll throws its own error; throw the reason of the abort instead.
      signal.throwIfAborted();
      if (!APIError.isInstance(error) || error.headers === undefined) return { error };
      return { error, retryAfter: readRetryAfter(error.headers, error.status, error) };
    }
  }

  /**
   * Requests the vendor's route too if the status has been unknown for long. Only a failure of this task is
   * read from the response.
   */
  async #pollVendor(polled: Polled<Task>): Promise<Polled<Task>> {
    if (polled.task === undefined) return polled;
    if (!shouldPollVendor(this.#state, polled.task, this.#elapsed)) return polled;
    const { ref } = this.#target;
    const readRecord = this.#kind.recordReader?.(this.#scope.transport, this.#target);
    if (readRecord === undefined) return polled;
    await this.#scope.takeTurn?.();
    const limits = { timeout: shortPoll, totalTimeout: shortPoll, maxRetries: 0 };
    const { task } = await this.#poll(readRecord, limits);
    // Other software may report that the request failed, also with an id.
    const hasFailed =
      task?.status === 'failed' && isObject(task.raw) && namesTask(task.raw, ref.id);
    return { ...(hasFailed ? { task } : polled), hasPolledVendor: true };
  }

  /** Decides the next step after a poll, and keeps the state after it. */
  #conclude(polled: Polled<Task>, started: number): RunStep<Task> {
    const { settings, now } = this.#scope;
    const { errors, restate } = this.#kind;
    const { task, error: pollError } = polled;
    const moment = { started, elapsed: now - this.#state.since, age: this.#ageAt(now) };
    const { state, next } = decide(this.#state, observe(polled), moment, settings, Math.random());
    this.#state = state;
    const step = { state, task, pollError };
    if (typeof next === 'object') return { ...step, next };
    if (next === 'completed' && task !== undefined) return { ...step, next: { result: task } };
    const waited = this.#waited;
    if (next === 'failed') {
      if (task !== undefined) restate(task, 'failed');
      const error = errors.failed(waited, state.failure ?? findFailure({}), task?.raw);
      return { ...step, next: { error } };
    }
    return { ...step, next: { error: errors.stopped(next, waited, pollError, settings.timeout) } };
  }

  /** Runs `onUpdate` of the caller and waits for it. */
  async #call(run: () => unknown): Promise<void> {
    const { signal } = this.#scope;
    try {
      await untilAborted((async () => run())(), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#kind.errors.callback('onUpdate', this.#waited, error);
    }
  }

  /** Milliseconds since the submission; `undefined` if its time is unknown. */
  #ageAt(now: number): number | undefined {
    return this.#submittedAt === undefined ? undefined : now - this.#submittedAt;
  }

  get #elapsed(): number {
    return this.#scope.now - this.#state.since;
  }

  get #kind(): TaskKind<Ref, Task> {
    return this.#scope.kind;
  }

  get #waited(): Waited<Ref> {
    const { hide } = this.#scope;
    const { ref } = this.#target;
    const { task, error } = this.#last ?? {};
    const failure = error === undefined ? undefined : `The last poll failed${describePoll(error)}`;
    const said = task === undefined ? failure : describeProgress(task);
    return { ref, state: this.#state, elapsed: this.#elapsed, said, hide };
  }
}
