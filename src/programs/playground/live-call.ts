import type { CallInput, CallStep, CallView } from './protocol.ts';
import type { Store } from './store.ts';
import { usageOf } from '../../index.ts';
import { selectOperation } from './operation.ts';

/** Receives the changes of a call. */
export interface CallListener {
  changed(call: LiveCall, fields: readonly string[]): void;
  grew(call: LiveCall, text: string, reasoning: string): void;
}

/** The files of a call, by the field of the form. */
export type SentFiles = ReadonlyMap<string, readonly File[]>;

/** Creates the initial state of a call. */
export function newView(id: string, input: CallInput, files: SentFiles): CallView {
  const { times: _, ...rest } = input;
  const { model } = input.body;
  return {
    ...rest,
    id,
    operation: selectOperation(input, [...files.keys()]),
    model: typeof model === 'string' ? model : '',
    sent: [...files].flatMap(([field, list]) => list.map(({ name }) => ({ field, name }))),
    startedAt: Date.now(),
    status: 'running',
    steps: [],
    text: '',
    reasoning: '',
    chunks: 0,
    toolCalls: [],
    files: [],
    links: [],
  };
}

/** Returns the token counts of a response for the page. */
export function countTokens(usage: object): NonNullable<CallView['usage']> {
  const { inputTokens: input = 0, outputTokens: output = 0 } = usageOf(usage);
  return { input, output };
}

/** A running or finished call and its results. */
export class LiveCall {
  readonly files: SentFiles;
  readonly times: number;
  readonly #store: Store;
  readonly #listener: CallListener;
  #controller = new AbortController();
  #view: CallView;
  /** The last write to the store. Writes run one after another. */
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

  /** Aborted when the user stops the call. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The parameters from the page, unchecked: the client validates them. */
  get params(): ReturnType<typeof JSON.parse> {
    return JSON.parse(JSON.stringify(this.#view.body));
  }

  stop(): void {
    this.#controller.abort();
  }

  /** Renews the signal, to continue after a stop. */
  restart(): void {
    this.#controller = new AbortController();
  }

  set(changes: Partial<CallView>): void {
    this.#view = { ...this.#view, ...changes };
    this.#listener.changed(this, Object.keys(changes));
  }

  addStep(step: Omit<CallStep, 'at'>): void {
    this.set({ steps: [...(this.#view.steps ?? []), { at: Date.now(), ...step }] });
  }

  /** Appends text. Viewers receive it together with other changes of the same frame. */
  add(text: string, reasoning: string): void {
    const { firstAt = Date.now(), chunks, kind } = this.#view;
    if (chunks === 0 && kind === 'chat') this.addStep({ type: 'first-token' });
    this.#view = {
      ...this.#view,
      firstAt,
      chunks: chunks + 1,
      text: this.#view.text + text,
      reasoning: this.#view.reasoning + reasoning,
    };
    this.#listener.grew(this, text, reasoning);
  }

  /** Stores a result file before the page is notified of it. */
  async keep(name: string, type: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#store.writeFile(this.id, this.#view.files.length, bytes);
    const file = { name, type, bytes: bytes.byteLength };
    this.set({ files: [...this.#view.files, file] });
    await this.trySave();
  }

  /** Stores the state of the call. */
  save(): Promise<void> {
    const previous = this.#written.catch(() => {});
    this.#written = previous.then(() => this.#store.write(this.#view));
    return this.#written;
  }

  /** Stores the state, and ignores errors: the final `save()` reports them. */
  async trySave(): Promise<void> {
    await this.save().catch(() => {});
  }
}

/** Checks the format of a call id, which the page creates. */
export const isCallId = (id: string): boolean => /^[\w-]{8,64}$/.test(id);
