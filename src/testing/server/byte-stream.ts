import type { Bytes } from '../media/bytes.ts';

/**
 * Signals a lost connection. The server closes the socket; `fetch` rejects with this error, which looks
 * like that of Node's `fetch`.
 */
export class ConnectionLoss extends TypeError {
  /** The client sees a reset or a regular end of the connection. */
  readonly how: 'reset' | 'end';

  private constructor(message: string, how: 'reset' | 'end', cause: Error) {
    super(message, { cause });
    this.how = how;
  }

  static #cause(message: string, code: string): Error {
    return Object.assign(new Error(message), { code });
  }

  /** Creates a reset before the response headers. */
  static beforeAnswer(): ConnectionLoss {
    const cause = ConnectionLoss.#cause('read ECONNRESET', 'ECONNRESET');
    return new ConnectionLoss('fetch failed', 'reset', Object.assign(cause, { syscall: 'read' }));
  }

  /** Creates a loss in the middle of a body. */
  static inBody(how: 'reset' | 'end'): ConnectionLoss {
    const cause =
      how === 'reset'
        ? ConnectionLoss.#cause('read ECONNRESET', 'ECONNRESET')
        : ConnectionLoss.#cause('other side closed', 'UND_ERR_SOCKET');
    return new ConnectionLoss('terminated', how, cause);
  }
}

/**
 * Creates a body from chunks, which are read on demand.
 *
 * @param outer - Aborts pending waits, like cancelling the body.
 * @param make - Creates the chunks; its signal aborts when the body is cancelled.
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
        // A generator may still be waiting, so do not await its end.
        iterator.return?.().catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Iterates over the chunks of a body. Stopping early cancels it. */
export async function* streamChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Bytes> {
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

/** Splits the bytes into chunks of `size`; the last one may be shorter. */
export async function* resizeChunks(
  pieces: AsyncIterable<Bytes>,
  size: number,
): AsyncGenerator<Bytes> {
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

/** Callbacks for a body. */
export interface BodyWatch {
  /** Aborts the body immediately. */
  readonly signal: AbortSignal;
  /** Called when the last byte was read. */
  readonly onEnd: () => void;
  /** Called when the reader stops before the end. */
  readonly onCancel: (reason: unknown) => void;
}

/** Wraps a body to observe how it ends. */
export function observeBody(
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
