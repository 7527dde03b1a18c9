import type { JsonObject } from '../../types.ts';
import { byteStream, resizeChunks, ConnectionLoss } from './byte-stream.ts';
import { utf8, type Bytes } from '../media/bytes.ts';
import type { Call } from './call.ts';
import type { StreamQuirks } from '../faults/quirks.ts';
import { withStreamFault, type Step, type StreamEvent } from '../faults/stream-faults.ts';
import { delay, untilAborted } from '../../http/abort.ts';

/** The changes of a kind of gateway to responses in the common format. */
export interface AnswerDialect {
  readonly whole: (body: JsonObject) => JsonObject;
  readonly event: (event: StreamEvent) => readonly StreamEvent[];
}

/** The common format. */
export const plainDialect: AnswerDialect = { whole: (body) => body, event: (event) => [event] };

const lineEnds = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

function serializeEvent({ event, data }: StreamEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

async function* written(
  steps: readonly Step[],
  quirks: Readonly<StreamQuirks>,
  signal: AbortSignal,
): AsyncGenerator<Bytes> {
  const bytes = (text: string): Bytes => utf8(text.replaceAll('\n', lineEnds[quirks.lineEnding]));
  const heartbeat = `${quirks.heartbeatText}\n\n`;
  let events = 0;
  for (const step of steps) {
    if (quirks.eventDelay > 0) await delay(quirks.eventDelay, signal);
    switch (step.do) {
      case 'write':
        if (quirks.heartbeatEvery > 0 && events % quirks.heartbeatEvery === 0) {
          yield bytes(heartbeat);
        }
        events += 1;
        yield bytes(serializeEvent(step.event));
        break;
      case 'write-raw':
        yield bytes(step.text);
        break;
      case 'heartbeats':
        for (;;) {
          yield bytes(heartbeat);
          await delay(step.every, signal);
        }
      case 'nothing':
        await untilAborted(new Promise<never>(() => {}), signal);
        break;
      case 'reset':
        throw ConnectionLoss.inBody('reset');
    }
  }
}

/** Headers of all streams, set before the gateway calls the vendor. */
export const streamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Creates a response that streams events, with the fault of the call applied. */
export function eventResponse(call: Call, events: readonly StreamEvent[]): Response {
  // Copy the quirks: a test may change them while the stream is still being read.
  const quirks = { ...call.world.quirks };
  const steps = withStreamFault(events, call);
  const body = byteStream(call.request.signal, (signal) => {
    const pieces = written(steps, quirks, signal);
    return quirks.streamChunkBytes > 0 ? resizeChunks(pieces, quirks.streamChunkBytes) : pieces;
  });
  return new Response(body, { headers: streamHeaders });
}
