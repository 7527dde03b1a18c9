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
