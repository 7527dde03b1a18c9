import { ResponseAccumulator as Accumulator } from '../../../src/resources/responses/accumulator.ts';
import { outputText as textOf } from '../../../src/resources/responses/output.ts';
import { untyped } from '../../helpers/untyped.ts';

/** An event as a gateway may send it. */
export type Event = { readonly type: string; readonly [field: string]: unknown };

/** The accumulator, for events of any shape. */
export class ResponseAccumulator {
  readonly #progress: Accumulator;

  constructor(keeps: boolean) {
    this.#progress = new Accumulator(keeps);
  }

  add(event: Event): void {
    this.#progress.add(untyped(event));
  }

  get partial() {
    return this.#progress.partial;
  }
}

/** Returns the text of items. */
export function outputText(items: readonly object[]): string {
  return textOf(untyped(items));
}
