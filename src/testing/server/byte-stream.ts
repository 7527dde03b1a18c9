import type { Bytes } from '../media/bytes.ts';

/**
 * The connection is lost. The server cuts the socket; `fetch` rejects with it as it stands, so it looks
 * like what Node's `fetch` throws.
 */
export class ConnectionLoss extends TypeError {
  /** Whether the client sees a reset or a regular end of the connection. */
  readonly how: 'reset' | 'end';

  private constructor(message: string, how: 'reset' | 'end', cause: Error) {
    super(message, { cause });
    this.how = how;
  }

  static #cause(message: string, code: string): Error {
    return Object.assign(new Error(message), { code });
  }

  /** A reset before the headers of an answer. */
  static beforeAnswer(): ConnectionLoss {
    const cause = ConnectionLoss.#cause('read ECONNRESET', 'ECONNRESET');
    return new ConnectionLoss('fetch failed', 'reset', Object.assign(cause, { syscall: 'read' }));
  }

  /** A loss in the middle of a body. */
  static inBody(how: 'reset' | 'end'): ConnectionLoss {
    const cause =
      how === 'reset'
        ? ConnectionLoss.#cause('read ECONNRESET', 'ECONNRESET')
        : ConnectionLoss.#cause('other side closed', 'UND_ERR_SOCKET');
    return new ConnectionLoss('terminated', how, cause);
  }
}

/**
 * A body made from pieces of bytes; it asks for the next piece only when it is wanted.
 *
 * @param outer - Ends the waiting inside the pieces, as a cancelled body does.
 * @param make - Makes the pieces; its signal aborts when nobody wants them any more.
 */
export function byteStream(
  outer: AbortSignal,
  make: (signal: AbortSignal) => AsyncIterable<Bytes>,
): ReadableStream<Bytes> {
  const cancelled = new AbortController();
  const iterator = make(AbortSignal.any([outer, cancelled.signal]))[Symbol.asyncIterator]();
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel(reason) {
        cancelled.abort(reason);
        // A generator that waits goes on only now, so its end is not awaited here.
        iterator.return?.().catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The pieces of a body. Stopping early cancels it. */
export async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Bytes> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield new Uint8Array(value);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** The same bytes in pieces of `size`; the last one may be shorter. */
export async function* resized(pieces: AsyncIterable<Bytes>, size: number): AsyncGenerator<Bytes> {
  let rest = new Uint8Array(0);
  for await (const piece of pieces) {
    const joined = new Uint8Array(rest.length + piece.length);
    joined.set(rest);
    joined.set(piece, rest.length);
    let start = 0;
    for (; joined.length - start >= size; start += size) yield joined.slice(start, start + size);
    rest = joined.slice(start);
  }
  if (rest.length > 0) yield rest;
}

/** What happens to a body. */
export interface BodyWatch {
  /** Errors the body at once when it aborts. */
  readonly signal: AbortSignal;
  /** The last byte was taken. */
  readonly onEnd: () => void;
  /** Whoever reads it stopped before the end. */
  readonly onCancel: (reason: unknown) => void;
}

/** The same body, observed. */
export function watched(
  body: ReadableStream<Uint8Array>,
  { signal, onEnd, onCancel }: BodyWatch,
): ReadableStream<Bytes> {
  const reader = body.getReader();
  let abort: (() => void) | undefined;
  const release = (): void => {
    if (abort !== undefined) signal.removeEventListener('abort', abort);
  };
  return new ReadableStream<Bytes>(
    {
      start(controller) {
        abort = () => {
          controller.error(signal.reason);
          reader.cancel(signal.reason).catch(() => undefined);
        };
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) {
          controller.enqueue(new Uint8Array(value));
          return;
        }
        release();
        onEnd();
        controller.close();
      },
      cancel(reason) {
        release();
        onCancel(reason);
        reader.cancel(reason).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
