import { subscribe } from 'node:diagnostics_channel';

/**
 * Counts the POST requests that `fetch` began, by origin: also those that no server ever saw. Every
 * client here sends with Node's own `fetch`, which reports each request on a diagnostics channel.
 */
export class AttemptCounter {
  readonly #counts = new Map<string, number>();

  constructor() {
    subscribe('undici:request:create', (message) => {
      const { method, origin } = parseRequest(message);
      if (method === 'POST') this.#counts.set(origin, this.of(origin) + 1);
    });
  }

  /** Forgets an origin: its port may have belonged to an earlier server. */
  reset(origin: string): void {
    this.#counts.delete(origin);
  }

  /** Returns the number of requests to this origin since the last reset. */
  of(origin: string): number {
    return this.#counts.get(origin) ?? 0;
  }
}

function parseRequest(message: unknown): { method: string; origin: string } {
  if (typeof message === 'object' && message !== null && 'request' in message) {
    const { request } = message;
    if (
      typeof request === 'object' &&
      request !== null &&
      'method' in request &&
      'origin' in request
    ) {
      return { method: String(request.method), origin: new URL(String(request.origin)).origin };
    }
  }
  throw new Error("Node's fetch reports requests in another form than this benchmark reads.");
}
