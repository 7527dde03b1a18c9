import type { Gateway, Observer, VideoTaskRef } from '../../index.ts';
import { ReportedCosts } from '../reported-costs.ts';
import type { Backend } from './backend.ts';
import { newView, LiveCall, type SentFiles } from './live-call.ts';
import { describeProblem } from './problem.ts';
import type { EmulatorAccount, CallInput, CallView, PlaygroundEvent } from './protocol.ts';
import { runRivals } from './rival.ts';
import { runChat } from './runs/chat.ts';
import {
  runEmbeddings,
  runImages,
  runSpeech,
  runTranscription,
  runTranslation,
} from './runs/media.ts';
import { runVideo, waitForVideo } from './runs/video.ts';
import { findFault } from './scenarios.ts';
import type { Store } from './store.ts';
import { Viewer } from './viewer.ts';

/** The parts that a board uses. */
export interface BoardParts {
  readonly backend: Backend;
  readonly store: Store;
  /** Called with each submitted video task. */
  readonly onSubmitted?: ((ref: VideoTaskRef) => Promise<void>) | undefined;
}

/** Maximum number of calls to keep, to limit memory. */
export const callLimit = 500;

/** Time between reads of the emulator's account, in milliseconds. */
const accountInterval = 200;

/** Adds the attempts of a call to its steps. Polls of a video are not part of them. */
const observeSteps = (call: LiveCall): Observer => ({
  start: ({ chargeClass }) =>
    chargeClass === 'free'
      ? undefined
      : {
          attempt() {
            call.addStep({ type: 'sent' });
            return ({ status = 0 }) => {
              const type = status >= 200 && status < 300 ? 'answered' : 'failed';
              call.addStep({ type, ...(status === 0 ? {} : { status }) });
            };
          },
          retry: ({ retry: number, maxRetries: most, delayMs }) =>
            call.addStep({
              type: 'waiting',
              retry: { number, most },
              until: Date.now() + delayMs,
            }),
        },
});

/** All calls, and the pages that watch them. A call continues when its page is closed. */
export class Board implements AsyncDisposable {
  readonly #parts: BoardParts;
  readonly #calls = new Map<string, LiveCall>();
  readonly #viewers = new Set<Viewer>();
  readonly #running = new Set<Promise<void>>();
  #account: EmulatorAccount;
  readonly #timer: NodeJS.Timeout;
  #isClosing = false;

  private constructor(parts: BoardParts) {
    this.#parts = parts;
    this.#account = parts.backend.account();
    this.#timer = setInterval(() => this.#updateAccount(), accountInterval);
    this.#timer.unref();
  }

  /** Creates a board with the calls of the store. */
  static async open(parts: BoardParts): Promise<Board> {
    const board = new Board(parts);
    for (const kept of await parts.store.load()) await board.#restore(kept);
    return board;
  }

  get calls(): readonly CallView[] {
    return [...this.#calls.values()].map(({ view }) => view);
  }

  call(id: string): LiveCall | undefined {
    return this.#calls.get(id);
  }

  get isFull(): boolean {
    return this.#calls.size >= callLimit;
  }

  /** Starts a call. It is stored before anything is sent. */
  async start(id: string, input: CallInput, files: SentFiles): Promise<CallView> {
    const call = this.#add(newView(id, input, files), files, input.times ?? 1);
    try {
      await call.save();
    } catch (error) {
      this.#calls.delete(id);
      throw error;
    }
    this.#send({ type: 'call', call: call.view });
    this.#track(this.#run(call, () => this.#work(call)));
    if (input.fault !== undefined) this.#track(this.#compare(call));
    return call.view;
  }

  /** Continues waiting for the video of a call. @returns `false` if it has none to wait for */
  resume(call: LiveCall): boolean {
    const { video, status, files } = call.view;
    if (video === undefined || status === 'running' || files.length > 0) return false;
    call.restart();
    call.set({ status: 'running', problem: undefined, endedAt: undefined });
    const { backend } = this.#parts;
    this.#track(this.#run(call, () => waitForVideo(call, this.#clientFor(call), backend, false)));
    return true;
  }

  /** Removes a call and its files. @returns `false` if it is running */
  async remove(call: LiveCall): Promise<boolean> {
    if (call.view.status === 'running') return false;
    this.#calls.delete(call.id);
    await this.#parts.store.remove(call.id);
    this.#send({ type: 'gone', id: call.id });
    return true;
  }

  readFile(id: string, index: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#parts.store.readFile(id, index);
  }

  /** Streams the current state and then all events, one line of JSON each. */
  watch(): ReadableStream<Uint8Array> {
    const viewer = new Viewer(() => this.#viewers.delete(viewer));
    viewer.send({ type: 'all', calls: this.calls, account: this.#account });
    this.#viewers.add(viewer);
    return viewer.body;
  }

  /** Stops running calls. Results that were paid for are in the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosing = true;
    for (const call of this.#calls.values()) call.stop();
    await Promise.all(this.#running);
    for (const viewer of this.#viewers) viewer.end();
  }

  #add(view: CallView, files: SentFiles, times: number): LiveCall {
    const call = new LiveCall(view, files, times, this.#parts.store, {
      changed: ({ view: now }, fields) => {
        for (const viewer of this.#viewers) viewer.change(now, fields);
      },
      grew: ({ view: now }, text, reasoning) => {
        for (const viewer of this.#viewers) viewer.grow(now, text, reasoning);
      },
    });
    this.#calls.set(view.id, call);
    return call;
  }

  async #restore(kept: CallView): Promise<void> {
    const call = this.#add(kept, new Map(), 1);
    if (kept.status !== 'running') return;
    if (kept.video !== undefined) {
      call.set({ status: 'stopped' });
      this.resume(call);
      return;
    }
    const problem = {
      name: 'Interrupted',
      message: 'The playground stopped while this call was running.',
      advice: 'It may have been charged. Check the account before you send it again.',
      outcome: 'unknown',
    } as const;
    call.set({ status: 'failed', endedAt: kept.startedAt, problem });
    await call.save();
  }

  /** Returns a client that adds steps and reported costs to the call. */
  #clientFor(call: LiveCall): Gateway {
    const observer = [new ReportedCosts((cost) => call.set({ cost })), observeSteps(call)];
    return this.#parts.backend.client(call).withOptions({ observer });
  }

  async #work(call: LiveCall): Promise<void> {
    const { backend } = this.#parts;
    const onSubmitted = async (ref: VideoTaskRef): Promise<void> => {
      // The store already has the task; only the list of the command line will miss it.
      await this.#parts.onSubmitted?.(ref).catch(() => {});
    };
    const client = this.#clientFor(call);
    switch (call.view.kind) {
      case 'chat':
        return runChat(call, client);
      case 'image':
        return runImages(call, client);
      case 'speech':
        return runSpeech(call, client);
      case 'transcription':
        return runTranscription(call, client);
      case 'translation':
        return runTranslation(call, client);
      case 'embeddings':
        return runEmbeddings(call, client);
      case 'video': {
        const original = this.#calls.get(call.view.remixOf ?? '')?.view.video?.ref;
        return runVideo(call, client, { original, onSubmitted, interval: backend.interval });
      }
    }
  }

  async #run(call: LiveCall, work: () => Promise<void>): Promise<void> {
    let status: CallView['status'] = 'done';
    try {
      await work();
    } catch (error) {
      // The next start of the playground continues waiting for the video.
      if (this.#isClosing && call.view.video !== undefined) return;
      status = call.signal.aborted ? 'stopped' : 'failed';
      call.set({ problem: describeProblem(error) });
    }
    call.set({ status, endedAt: Date.now(), attempts: this.#parts.backend.attempts(call.id) });
    this.#updateAccount();
    await call.save().catch((error: unknown) => {
      call.set({ problem: describeProblem(error) });
    });
  }

  async #compare(call: LiveCall): Promise<void> {
    const { operation, body, fault = '', kind } = call.view;
    if (call.files.size > 0 || operation === 'videos.remix') return;
    const sent = kind === 'chat' ? { ...body, stream: true } : body;
    const rivals = await runRivals(kind, operation, sent, findFault(fault), call.times);
    call.set({ rivals });
    await call.save();
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch(() => {
        // The error is in the state of the call.
      })
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  #send(event: PlaygroundEvent): void {
    for (const viewer of this.#viewers) viewer.send(event);
  }

  #updateAccount(): void {
    const { backend } = this.#parts;
    const account = backend.account();
    if (JSON.stringify(account) === JSON.stringify(this.#account)) return;
    this.#account = account;
    this.#send({ type: 'account', account });
    for (const call of this.#calls.values()) {
      const attempts = backend.attempts(call.id);
      if (JSON.stringify(attempts) !== JSON.stringify(call.view.attempts)) call.set({ attempts });
    }
  }
}
