import type { Duplex } from 'node:stream';

/** A request as it came over the wire, as far as the fault servers look at it. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

function lengthOfBody(head: string, rest: string): number | undefined {
  if (/^transfer-encoding:.*chunked/im.test(head)) {
    const end = rest.indexOf('0\r\n\r\n');
    return end === -1 ? undefined : end + 5;
  }
  return Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
}

/** Calls back for every complete request on a connection, and once when the first head is there. */
export function readRequests(
  socket: Duplex,
  onRequest: (request: RawRequest) => void,
  onHead?: () => void,
): void {
  let buffered = '';
  let announced = false;
  socket.on('data', (piece: Buffer) => {
    buffered += piece.toString('latin1');
    for (;;) {
      const endOfHead = buffered.indexOf('\r\n\r\n');
      if (endOfHead === -1) return;
      const head = buffered.slice(0, endOfHead);
      const [method = '', path = ''] = head.split(' ', 2);
      if (!announced && method !== 'OPTIONS') {
        announced = true;
        onHead?.();
      }
      const rest = buffered.slice(endOfHead + 4);
      const length = lengthOfBody(head, rest);
      if (length === undefined || rest.length < length) return;
      buffered = rest.slice(length);
      onRequest({ method, path, body: rest.slice(0, length) });
    }
  });
}
