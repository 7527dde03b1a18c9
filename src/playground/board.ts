import type { VideoTaskRef } from '../index.ts';
import type { Backend } from './backend.ts';
import { newView, LiveCall, type SentFiles } from './live-call.ts';
import { describeProblem } from './problem.ts';
import type { Books, CallInput, CallView, PlaygroundEvent } from './protocol.ts';
import { payByRivalRule } from './rival.ts';
import { runChat } from './run-chat.ts';
import { runEmbeddings, runImages, runSpeech, runTranslation } from './run-media.ts';
import { runVideo, waitForVideo } from './run-video.ts';
import { faultOf } from './scenarios.ts';
import type { Store } from './store.ts';
import { Viewer } from './viewer.ts';

/** What the playground is built on. */
export interface BoardParts {
  readonly backend: Backend;
  readonly store: Store;
  /** Told of each video task that was submitted. */
  readonly onSubmitted?: ((ref: VideoTaskRef) => Promise<void>) | undefined;
}

/** How many calls are held. More would fill the memory with what nobody looks at. */
export const callLimit = 500;

/** How often the books of the emulator are read, in milliseconds. */
const bookInterval = 200;

/** Every call since the start, and who watches. A call goes on, whoever leaves. */
export class Board implements AsyncDisposable {
  readonly #parts: BoardParts;
  readonly #calls = new Map<string, LiveCall>();
  readonly #viewers = new Set<Viewer>();
  readonly #running = new Set<Promise<void>>();
  #books: Books;
  readonly #timer: NodeJS.Timeout;
  #isClosing = false;

  private constructor(parts: BoardParts) {
    this.#parts = parts;
    this.#books = parts.backend.books();
    this.#timer = setInterval(() => this.#readBooks(), bookInterval);
    this.#timer.unref();
  }

  /** A board with the calls that the store has kept. */
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

  /** Begins a call. It is written down before anything is sent. */
  async start(id: string, input: CallInput, files: SentFiles): Promise<CallView> {
    const call = this.#add(newView(id, input, files), files, input.times ?? 1);
    try {
      await call.save();
    } catch (error) {
      this.#calls.delete(id);
      throw error;
    }
    this.#tell({ type: 'call', call: call.view });
    this.#track(this.#run(call, () => this.#work(call)));
    if (input.fault !== undefined) this.#track(this.#compare(call));
    return call.view;
  }

  /** Goes on waiting for the video of a call. @returns whether there is one to wait for */
  resume(call: LiveCall): boolean {
    const { video, status, files } = call.view;
    if (video === undefined || status === 'running' || files.length > 0) return false;
    call.restart();
    call.set({ status: 'running', problem: undefined, endedAt: undefined });
    const { backend } = this.#parts;
    this.#track(this.#run(call, () => waitForVideo(call, backend.client(call), backend, false)));
    return true;
  }

  /** Forgets a call and its files. One that runs is kept. */
  async remove(call: LiveCall): Promise<boolean> {
    if (call.view.status === 'running') return false;
    this.#calls.delete(call.id);
    await this.#parts.store.remove(call.id);
    this.#tell({ type: 'gone', id: call.id });
    return true;
  }

  readFile(id: string, index: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#parts.store.readFile(id, index);
  }

  /** Everything that is there, and then everything that happens, a line of JSON each. */
  watch(): ReadableStream<Uint8Array> {
    const viewer = new Viewer(() => this.#viewers.delete(viewer));
    viewer.tell({ type: 'all', calls: this.calls, books: this.#books });
    this.#viewers.add(viewer);
    return viewer.body;
  }

  /** Ends what runs. What is paid for is in the store. */
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
      message: 'The playground ended while this call was under way.',
      advice: 'It may have been charged. Look at the account before you send it again.',
      outcome: 'unknown',
    } as const;
    call.set({ status: 'failed', endedAt: kept.startedAt, problem });
    await call.save();
  }

  async #work(call: LiveCall): Promise<void> {
    const { backend } = this.#parts;
    const onSubmitted = async (ref: VideoTaskRef): Promise<void> => {
      // The task is written down here already; only other lists will not have it.
      await this.#parts.onSubmitted?.(ref).catch(() => {});
    };
    const client = backend.client(call);
    switch (call.view.kind) {
      case 'chat':
        return runChat(call, client);
      case 'image':
        return runImages(call, client);
      case 'speech':
        return runSpeech(call, client);
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
      // The next start goes on waiting for a video that is paid for.
      if (this.#isClosing && call.view.video !== undefined) return;
      status = call.signal.aborted ? 'stopped' : 'failed';
      call.set({ problem: describeProblem(error) });
    }
    call.set({ status, endedAt: Date.now(), attempts: this.#parts.backend.attempts(call.id) });
    this.#readBooks();
    await call.save().catch((error: unknown) => {
      call.set({ problem: describeProblem(error) });
    });
  }

  async #compare(call: LiveCall): Promise<void> {
    const { operation, body, fault = '', kind } = call.view;
    if (call.files.size > 0 || operation === 'videos.remix') return;
    const sent = kind === 'chat' ? { ...body, stream: true } : body;
    const rival = await payByRivalRule(operation, sent, faultOf(fault), call.times);
    call.set({ rival });
    await call.save();
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch(() => {
        // What a call fails with is in its state.
      })
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  #tell(event: PlaygroundEvent): void {
    for (const viewer of this.#viewers) viewer.tell(event);
  }

  #readBooks(): void {
    const { backend } = this.#parts;
    const books = backend.books();
    if (JSON.stringify(books) === JSON.stringify(this.#books)) return;
    this.#books = books;
    this.#tell({ type: 'books', books });
    for (const call of this.#calls.values()) {
      const attempts = backend.attempts(call.id);
      if (JSON.stringify(attempts) !== JSON.stringify(call.view.attempts)) call.set({ attempts });
    }
  }
}
