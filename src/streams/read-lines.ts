import { EventTooLarge, type Framing, type ServerSentEvent } from './read-events.ts';

/** Cuts bytes into lines and hands each out as an event, for lines of JSON. */
export class LineReader implements Framing {
  readonly strayText = '';
  readonly #decoder = new TextDecoder();
  readonly #maxEventBytes: number;
  readonly #onEvent: (event: ServerSentEvent) => void;
  #held: string[] = [];
  #heldLength = 0;

  constructor(maxEventBytes: number, onEvent: (event: ServerSentEvent) => void) {
    this.#maxEventBytes = maxEventBytes;
    this.#onEvent = onEvent;
  }

  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!text.includes('\n')) {
      this.#hold(text);
      return;
    }
    const lines = (this.#held.join('') + text).split('\n');
    this.#held = [];
    this.#heldLength = 0;
    this.#hold(lines.pop() ?? '');
    for (const data of lines) this.#onEvent({ name: undefined, data, isOpen: false });
  }

  end(): void {
    const data = this.#held.join('') + this.#decoder.decode();
    this.#held = [];
    this.#onEvent({ name: undefined, data, isOpen: true });
  }

  #hold(text: string): void {
    this.#held.push(text);
    this.#heldLength += text.length;
    if (this.#heldLength > this.#maxEventBytes) throw new EventTooLarge(this.#maxEventBytes);
  }
}
