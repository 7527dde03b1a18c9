import { speechEventSchema } from './schema.ts';
import type { JsonObject } from '../types.ts';
import type { SpeechStreamEvent } from './types.ts';
import { type StreamProtocol, typedProtocol } from '../streams/protocol.ts';

/** How a stream of speech is read. It ends without a terminator; its last event is the proof. */
export const speechProtocol: StreamProtocol<SpeechStreamEvent> = {
  ...typedProtocol({
    schema: speechEventSchema,
    endType: 'speech.audio.done',
    fromAnswer: () => [],
  }),
  fromFile: toEvents,
};

/** Small enough for the call stack, and whole groups of three bytes, so that no piece ends in `=`. */
const pieceBytes = 24_576;

function toEvents(bytes: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    const piece = String.fromCharCode(...bytes.subarray(start, start + pieceBytes));
    events.push({ type: 'speech.audio.delta', audio: btoa(piece) });
  }
  return [...events, { type: 'speech.audio.done' }];
}
