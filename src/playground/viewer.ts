import type { CallView, PlaygroundEvent } from './protocol.ts';

/** What is collected before it is sent, in milliseconds: about a frame of a screen. */
const pause = 15;

interface Change {
  fields: Set<string>;
  text: string;
  reasoning: string;
  view: CallView | undefined;
}

/** One page that watches. What happens within a frame reaches it in one piece, however many chunks it was. */
export class Viewer {
  readonly body: ReadableStream<Uint8Array>;
  readonly #changes = new Map<string, Change>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onLeft: () => void;

  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      // Somebody reads again: send what has been collected.
      pull: () => this.#flush(),
      cancel: () => this.#leave(),
    });
  }

  tell(event: PlaygroundEvent): void {
    // Changes that came before it are told before it.
    this.#send();
    this.#write(event);
  }

  change(view: CallView, fields: readonly string[]): void {
    const change = this.#of(view.id);
    change.view = view;
    for (const field of fields) change.fields.add(field);
    this.#plan();
  }

  grow(view: CallView, text: string, reasoning: string): void {
    this.change(view, ['chunks', 'firstAt']);
    const change = this.#of(view.id);
    change.text += text;
    change.reasoning += reasoning;
  }

  end(): void {
    this.#send();
    this.#controller?.close();
    this.#leave();
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#controller = undefined;
    this.#onLeft();
  }

  #of(id: string): Change {
    const known = this.#changes.get(id);
    if (known !== undefined) return known;
    const change = { fields: new Set<string>(), text: '', reasoning: '', view: undefined };
    this.#changes.set(id, change);
    return change;
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, pause);
  }

  /** A page that does not read gets one change later, in place of many now. */
  #flush(): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#send();
  }

  #send(): void {
    // Taken first: writing lets the reader ask for more, and that comes back here.
    const changes = [...this.#changes];
    this.#changes.clear();
    for (const [id, { fields, text, reasoning, view }] of changes) {
      // JSON has no `undefined`: what is gone is told as `null`.
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
