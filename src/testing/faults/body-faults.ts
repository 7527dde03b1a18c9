import { byteStream, streamChunks, resizeChunks, ConnectionLoss } from '../server/byte-stream.ts';
import type { Bytes } from '../media/bytes.ts';
import type { BodyFault } from './faults.ts';
import { delay, untilAborted } from '../../http/abort.ts';

type ByteFault = Exclude<BodyFault, { type: 'empty' }>;

async function* firstBytes(pieces: AsyncIterable<Bytes>, count: number): AsyncGenerator<Bytes> {
  let left = count;
  if (left <= 0) return;
  for await (const piece of pieces) {
    yield piece.length > left ? piece.slice(0, left) : piece;
    left -= piece.length;
    if (left <= 0) return;
  }
}

async function* faulty(
  pieces: AsyncIterable<Bytes>,
  fault: ByteFault,
  signal: AbortSignal,
): AsyncGenerator<Bytes> {
  switch (fault.type) {
    case 'cut':
      yield* firstBytes(pieces, fault.bytes);
      if (fault.how !== 'end') throw ConnectionLoss.inBody('reset');
      break;
    case 'stall':
      yield* firstBytes(pieces, fault.bytes);
      await untilAborted(new Promise<never>(() => {}), signal);
      break;
    case 'drip':
      for await (const piece of resizeChunks(pieces, fault.bytes ?? 1024)) {
        await delay(fault.milliseconds, signal);
        yield piece;
      }
  }
}

/** Adds a fault to the body of a response. */
export function withBodyFault(response: Response, fault: ByteFault, signal: AbortSignal): Response {
  const { body, status, headers } = response;
  if (body === null) return response;
  const broken = byteStream(signal, (wanted) => faulty(streamChunks(body), fault, wanted));
  return new Response(broken, { status, headers });
}
