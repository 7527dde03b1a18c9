import type { CallInput, CallView } from './protocol.ts';
import type { Store } from './store.ts';
import type { Operation } from '../endpoints.ts';

/** Who is told of what happens to a call. */
export interface CallListener {
  changed(call: LiveCall, fields: readonly string[]): void;
  grew(call: LiveCall, text: string, reasoning: string): void;
}

/** A file that the page sent along. */
export type SentFiles = ReadonlyMap<string, readonly File[]>;

function operationOf({ kind, remixOf }: CallInput, files: SentFiles): Operation {
  switch (kind) {
    case 'chat':
      return 'chat.completions.create';
    case 'image':
      return files.has('image') ? 'images.edit' : 'images.generate';
    case 'speech':
      return 'audio.speech.create';
    case 'translation':
      return 'audio.translations.create';
    case 'embeddings':
      return 'embeddings.create';
    case 'video':
      return remixOf === undefined ? 'videos.create' : 'videos.remix';
  }
}

/** The state that a call begins in. */
export function newView(id: string, input: CallInput, files: SentFiles): CallView {
  const { times: _, ...rest } = input;
  const { model } = input.body;
  return {
    ...rest,
    id,
    operation: operationOf(input, files),
    model: typeof model === 'string' ? model : '',
    sent: [...files].flatMap(([field, list]) => list.map(({ name }) => ({ field, name }))),
    startedAt: Date.now(),
    status: 'running',
    text: '',
    reasoning: '',
    chunks: 0,
    toolCalls: [],
    files: [],
    links: [],
  };
}

/** A call that runs or has ended, and what came of it. */
export class LiveCall {
  readonly files: SentFiles;
  readonly times: number;
  readonly #store: Store;
  readonly #listener: CallListener;
  #controller = new AbortController();
  #view: CallView;
  /** Writes to the store follow one another. */
  #written: Promise<void> = Promise.resolve();

  constructor(
    view: CallView,
    files: SentFiles,
    times: number,
    store: Store,
    listener: CallListener,
  ) {
    this.#view = view;
    this.files = files;
    this.times = times;
    this.#store = store;
    this.#listener = listener;
  }

  get view(): CallView {
    return this.#view;
  }

  get id(): string {
    return this.#view.id;
  }

  /** Aborted when the person stops it. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The parameters that the page sent. The client checks them, as it does for everybody. */
  get params(): ReturnType<typeof JSON.parse> {
    return JSON.parse(JSON.stringify(this.#view.body));
  }

  stop(): void {
    this.#controller.abort();
  }

  /** Goes on after a stop. */
  restart(): void {
    this.#controller = new AbortController();
  }

  set(changes: Partial<CallView>): void {
    this.#view = { ...this.#view, ...changes };
    this.#listener.changed(this, Object.keys(changes));
  }

  /** Text that is added; it is sent on in one piece with what else comes in these milliseconds. */
  add(text: string, reasoning: string): void {
    const { firstAt = Date.now(), chunks } = this.#view;
    this.#view = {
      ...this.#view,
      firstAt,
      chunks: chunks + 1,
      text: this.#view.text + text,
      reasoning: this.#view.reasoning + reasoning,
    };
    this.#listener.grew(this, text, reasoning);
  }

  /** Keeps a result before anybody is told of it. */
  async keep(name: string, type: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#store.writeFile(this.id, this.#view.files.length, bytes);
    const file = { name, type, bytes: bytes.byteLength };
    this.set({ files: [...this.#view.files, file] });
    await this.trySave();
  }

  /** Keeps the state of the call. */
  save(): Promise<void> {
    const before = this.#written.catch(() => {});
    this.#written = before.then(() => this.#store.write(this.#view));
    return this.#written;
  }

  /** The same while there is more to come: what is paid for counts more than the list, which is told of at the end. */
  async trySave(): Promise<void> {
    await this.save().catch(() => {});
  }
}

/** An id as the page makes them. */
export const isCallId = (id: string): boolean => /^[\w-]{8,64}$/.test(id);
