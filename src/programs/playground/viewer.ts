import type { CallView, PlaygroundEvent } from './protocol.ts';

/** Changes are collected for this time, in milliseconds: about a frame. */
const pause = 15;

interface Change {
  fields: Set<string>;
  text: string;
  reasoning: string;
  view: CallView | undefined;
}

/** A page that watches. Changes within a frame are sent together, regardless of the number of chunks. */
export class Viewer {
  readonly body: ReadableStream<Uint8Array>;
  readonly #changes = new Map<string, Change>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onClose: () => void;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      // The page reads again: send the collected changes.
      pull: () => this.#flush(),
      cancel: () => this.#leave(),
    });
  }

  send(event: PlaygroundEvent): void {
    // Earlier changes are sent first.
    this.#sendChanges();
    this.#write(event);
  }

  change(view: CallView, fields: readonly string[]): void {
    const change = this.#changeFor(view.id);
    change.view = view;
    for (const field of fields) change.fields.add(field);
    this.#schedule();
  }

  grow(view: CallView, text: string, reasoning: string): void {
    this.change(view, ['chunks', 'firstAt']);
    const change = this.#changeFor(view.id);
    change.text += text;
    change.reasoning += reasoning;
  }

  end(): void {
    this.#sendChanges();
    this.#controller?.close();
    this.#leave();
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#controller = undefined;
    this.#onClose();
  }

  #changeFor(id: string): Change {
    const known = this.#changes.get(id);
    if (known !== undefined) return known;
    const change = { fields: new Set<string>(), text: '', reasoning: '', view: undefined };
    this.#changes.set(id, change);
    return change;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, pause);
  }

  /** Sends nothing while the page is not reading, so that changes keep being merged. */
  #flush(): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#sendChanges();
  }

  #sendChanges(): void {
    // Cleared first, because writing can call pull(), which calls this method again.
    const changes = [...this.#changes];
    this.#changes.clear();
    for (const [id, { fields, text, reasoning, view }] of changes) {
      // JSON cannot represent `undefined`: removed fields are sent as `null`.
      const pairs = [...fields].map((name): [string, unknown] => [
        name,
        (view && Reflect.get(view, name)) ?? null,
      ]);
      this.#write({ type: 'change', id, changes: Object.fromEntries(pairs), text, reasoning });
    }
  }

  #write(event: PlaygroundEvent): void {
    this.#controller?.enqueue(new TextEncoder().encode(`${JSON.stringify(event)}\n`));
  }
}
