/** What a promise for an event gives: nothing, its only argument, or all of them. */
export type EmittedValue<Values extends readonly unknown[]> = Values extends readonly []
  ? void
  : Values extends readonly [infer Only]
    ? Only
    : Values;

interface Registration<Values extends readonly unknown[]> {
  // A method: an emitter of narrow events is then one of wider events too.
  listener(this: void, ...values: Values): void;
  readonly isOnce: boolean;
}

type EventMap<Events> = { [Event in keyof Events]: readonly unknown[] };

/** Calls listeners by the name of an event. `Events` maps names to what listeners are given. */
export class EventEmitter<Events extends EventMap<Events>> {
  #registrations: { [Event in keyof Events]?: Registration<Events[Event]>[] } = {};

  /** Adds a listener; the same one can be added more than once. */
  add<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
    isOnce: boolean,
  ): void {
    // A new list each time, so that a listener may add and remove listeners while it is called.
    this.#registrations[event] = [...(this.#registrations[event] ?? []), { listener, isOnce }];
  }

  /** Removes one registration of a listener. */
  remove<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
  ): void {
    const registrations = this.#registrations[event] ?? [];
    const position = registrations.findIndex((registration) => registration.listener === listener);
    if (position !== -1) this.#registrations[event] = registrations.toSpliced(position, 1);
  }

  /** Removes every listener: what comes late is told to nobody. */
  clear(): void {
    this.#registrations = {};
  }

  /** Whether anybody listens. */
  has(event: keyof Events): boolean {
    return Boolean(this.#registrations[event]?.length);
  }

  /** Calls the listeners of an event in the order in which they were added. */
  emit<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    const registrations = this.#registrations[event];
    if (registrations === undefined) return;
    if (registrations.some(({ isOnce }) => isOnce)) {
      this.#registrations[event] = registrations.filter(({ isOnce }) => !isOnce);
    }
    for (const { listener } of registrations) listener(...values);
  }

  /** The same at the end of a call, which a failing listener cannot fail any more: its error is uncaught. */
  emitLast<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    try {
      this.emit(event, ...values);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
