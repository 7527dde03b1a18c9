import { InvalidInputError } from '../../errors/gateway-error.ts';

/** A complete list with the members of a page of `openai`. There are no other pages. */
export class ListPage<Item> implements AsyncIterable<Item> {
  /** Always `"list"`. */
  readonly object = 'list';
  /** All items. */
  readonly data: Item[];

  /** @internal */
  constructor(list: { readonly data: Item[] }) {
    this.data = list.data;
    for (const [key, value] of Object.entries(list)) {
      // Fields of the gateway must not replace methods or the prototype.
      if (!(key in this)) Reflect.set(this, key, value);
    }
  }

  /** Returns the items, same as `data`. */
  getPaginatedItems(): Item[] {
    return this.data;
  }

  /** Always returns `false`. */
  hasNextPage(): boolean {
    return false;
  }

  /** Always rejects. Check `hasNextPage()` first. */
  getNextPage(): Promise<this> {
    return Promise.reject(
      new InvalidInputError('getNextPage', 'there is no next page; check hasNextPage() first.'),
    );
  }

  /** Iterates over the pages: only this page. */
  async *iterPages(): AsyncGenerator<this, void, undefined> {
    yield this;
  }

  /** Iterates over the items. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* this.data;
  }
}
