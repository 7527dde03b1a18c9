import { followSignal } from '../http/abort.ts';
import type { Transport } from '../calls/transport.ts';
import type { AnyRef, Target, TaskKind } from './kind.ts';
import { checkGateway } from './ref.ts';
import type { NextPoll, PolledTask, WaitSettings } from './types.ts';
import { type CheckedWait, toWaitSettings } from './wait-options.ts';

/** The reason after `close()`. Creating one for each wait would cost a tenth of a poll, for its stack. */
const closed = /* @__PURE__ */ new DOMException('The wait has ended.', 'AbortError');

/** The document of a browser tab; other runtimes have none. */
const tab = (): Document | undefined => (typeof document === 'undefined' ? undefined : document);

/**
 * The options, signal, clock and pauses that the waits of one call share.
 *
 * Pauses do not add listeners to the signal: with ten thousand listeners, adding and removing one is
 * slow.
 */
export class WaitScope<Ref extends AnyRef, Task extends PolledTask> {
  readonly kind: TaskKind<Ref, Task>;
  readonly transport: Transport;
  readonly settings: WaitSettings<Task>;
  readonly #controller = new AbortController();
  readonly #offset = Date.now() - performance.now();
  /** Wakes the current pauses: called after an abort, and when the tab becomes visible. */
  readonly #wakers = new Set<() => void>();
  readonly #wake = (): void => {
    for (const wake of this.#wakers) wake();
  };
  readonly #unfollow: readonly (() => void)[];

  /**
   * @param options - The checked options of the method.
   * @param left - Aborted once the result is not needed any more.
   */
  constructor(
    kind: TaskKind<Ref, Task>,
    transport: Transport,
    options: CheckedWait<Task>,
    left?: AbortSignal,
  ) {
    this.kind = kind;
    this.transport = transport;
    this.settings = toWaitSettings(options);
    this.signal.addEventListener('abort', this.#wake);
    this.#unfollow = [options.signal, left].map((end) => followSignal(end, this.#controller));
    tab()?.addEventListener('visibilitychange', this.#wake);
  }

  /** Aborted with the caller's signal. Polls use this one, so listeners don't pile up on the caller's. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Removes the key from words. */
  readonly hide = (text: string): string => this.transport.client.credential.hide(text);

  /** Milliseconds since 1970, from a monotonic clock. */
  get now(): number {
    return this.#offset + performance.now();
  }

  /** Resolves the caller's task. Rejects a handle from another gateway. */
  resolve(task: unknown): Target<Ref> {
    const { baseURL } = this.transport;
    const target = this.kind.resolve(task, baseURL);
    checkGateway(target.ref, baseURL, 'If it has moved here, change baseURL in the handle.');
    return target;
  }

  /** Awaited before every poll, if polls are limited. */
  takeTurn: (() => Promise<void>) | undefined;

  /** Limits how many polls may begin per second. */
  limit(perSecond: number): void {
    let free = 0;
    this.takeTurn = () => {
      const { now } = this;
      const turn = Math.max(now, free);
      free = turn + 1_000 / perSecond;
      return this.pause({ delayMs: turn - now, earliestMs: turn - now });
    };
  }

  /**
   * Sleeps. Browsers throttle the timers of hidden tabs, so the pause ends early when the tab becomes
   * visible, but not before `earliestMs`.
   *
   * @throws the reason of the signal, as soon as it is aborted
   */
  pause({ delayMs, earliestMs }: NextPoll): Promise<void> {
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

  /** Aborts all pauses and polls, and removes the listeners. */
  close(): void {
    for (const unfollow of this.#unfollow) unfollow();
    tab()?.removeEventListener('visibilitychange', this.#wake);
    this.#controller.abort(closed);
    this.signal.removeEventListener('abort', this.#wake);
  }
}
