interface Registration<Values extends readonly unknown[]> {
  // A method, because its parameters are bivariant: a run with narrow events can be used as one with wider
  // events.
  listener(this: void, ...values: Values): void;
  readonly isOnce: boolean;
}

type EventMap<Events> = { [Event in keyof Events]: readonly unknown[] };

/** Emits events. `Events` maps their names to the arguments of listeners. */
export class EventEmitter<Events extends EventMap<Events>> {
  #listeners: { [Event in keyof Events]?: readonly Registration<Events[Event]>[] } = {};

  /** Adds a listener; the same one can be added more than once. */
  on<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
    isOnce = false,
  ): void {
    // Copied, so that listeners may add and remove listeners while they are called.
    this.#listeners[event] = [...(this.#listeners[event] ?? []), { listener, isOnce }];
  }

  /** Removes one registration of a listener. */
  off<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
  ): void {
    const registrations = this.#listeners[event] ?? [];
    const position = registrations.findIndex((registration) => registration.listener === listener);
    if (position >= 0) this.#listeners[event] = registrations.toSpliced(position, 1);
  }

  has(event: keyof Events): boolean {
    return Boolean(this.#listeners[event]?.length);
  }

  /** Calls the listeners of an event in the order they were added. */
  emit<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    const registrations = this.#listeners[event] ?? [];
    this.#listeners[event] = registrations.filter(({ isOnce }) => !isOnce);
    for (const { listener } of registrations) listener(...values);
  }

  /** Emits an event after the end of the run. An error thrown by a listener is uncaught. */
  emitLast<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    try {
      this.emit(event, ...values);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** Removes every listener. */
  clear(): void {
    this.#listeners = {};
  }
}
