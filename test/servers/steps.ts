/** The moments of a worker before and after something that another process could see, counted from 1. */
export class Steps {
  count = 0;
  readonly #reached: (name: string, count: number) => void;

  /** @param reached - May end the process. */
  constructor(reached: (name: string, count: number) => void) {
    this.#reached = reached;
  }

  take(name: string): void {
    this.count += 1;
    this.#reached(name, this.count);
  }

  /** The same object with a step before and after each of these methods. */
  around<Owner extends object>(owner: Owner, names: readonly string[]): Owner {
    return new Proxy(owner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (!names.includes(String(name))) return value.bind(target);
        return async (...parameters: unknown[]) => {
          this.take(`before ${String(name)}`);
          const result: unknown = await Reflect.apply(value, target, parameters);
          this.take(`after ${String(name)}`);
          return result;
        };
      },
    });
  }

  /** The runtime's `fetch`, with a step before and after. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    this.take('before fetch');
    const response = await fetch(input, init);
    this.take('after fetch');
    return response;
  };
}
