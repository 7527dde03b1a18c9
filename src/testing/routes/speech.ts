import { endFile } from '../control/task-ends.ts';
import { pieces, placeSpeech, type Sound } from '../audio/places.ts';
import { base64, type Bytes } from '../media/bytes.ts';
import {
  charge,
  checkVendor,
  readFields,
  fileURL,
  invalid,
  requireModel,
  type Call,
  type Handler,
} from '../server/call.ts';
import type { StreamEvent } from '../faults/stream-faults.ts';
import { eventResponse } from '../server/event-stream.ts';
import { checkWords } from './prompts.ts';
import { encodeMp3 } from '../media/mp3.ts';
import { countTokens } from './usage.ts';
import { toTones } from '../media/tones.ts';
import { encodePcm, encodeWav } from '../media/wav.ts';

const longest = 4096;
const formats = new Set(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']);

/**
 * Creates the audio for a text: WAV and PCM as requested, MP3 for all other formats, like vendors that only
 * support MP3.
 */
function makeSound(text: string, format: string, speed: number): Sound {
  const tones = toTones(text, speed);
  if (format === 'wav')
    return { bytes: encodeWav(tones, text), type: 'audio/wav', extension: 'wav' };
  if (format === 'pcm') return { bytes: encodePcm(tones), type: 'audio/pcm', extension: 'pcm' };
  return { bytes: encodeMp3(tones, text), type: 'audio/mpeg', extension: 'mp3' };
}

function speechEvents(bytes: Bytes, input: string): StreamEvent[] {
  const events = pieces(bytes).map((piece): StreamEvent => ({
    role: 'delta',
    data: { type: 'speech.audio.delta', audio: base64(piece) },
  }));
  const [heard, spoken] = [countTokens(input), Math.ceil(bytes.length / 100)];
  const usage = { input_tokens: heard, output_tokens: spoken, total_tokens: heard + spoken };
  return [...events, { role: 'finish', data: { type: 'speech.audio.done', usage } }];
}

/** `POST /v1/audio/speech`. */
export const createSpeech: Handler = (call: Call) => {
  const { quirks, files } = call.world;
  const fields = readFields(call);
  const model = requireModel(call, fields.string('model'));
  checkVendor(call, model, 'anthropic');
  const input = fields.string('input') ?? '';
  fields.string('voice');
  fields.string('instructions');
  const format = fields.string('response_format') ?? 'mp3';
  const speed = fields.number('speed') ?? 1;
  if (input.length > longest) throw invalid(call, `input is longer than ${longest} characters`);
  if (!formats.has(format)) throw invalid(call, `invalid response_format "${format}"`);
  if (speed < 0.25 || speed > 4) throw invalid(call, 'speed must be from 0.25 to 4');
  checkWords(input);
  const isEvents = fields.string('stream_format') === 'sse';
  charge(call, model, Math.max(1, input.length));
  const sound = makeSound(input, format, speed);
  const { bytes, type, extension } = sound;
  const { speechPlace: place } = quirks;
  const isStreamed = place.endsWith('events');
  if (place !== 'file' && (!isEvents || isStreamed)) {
    return placeSpeech(call, place, sound, speechEvents(bytes, input));
  }
  if (isEvents) return eventResponse(call, speechEvents(bytes, input));
  if (quirks.speechDelivery === 'redirect') {
    const path = files.add(extension, { type, bytes: () => Promise.resolve(bytes) });
    return new Response(null, { status: 302, headers: { location: fileURL(call, path, 'other') } });
  }
  const types = { true: type, 'octet-stream': 'application/octet-stream', missing: '' };
  const response = new Response(
    call.fault?.type === 'empty' ? new Uint8Array(0) : endFile(bytes, quirks),
  );
  response.headers.set('content-type', types[quirks.speechType]);
  if (quirks.speechType === 'missing') response.headers.delete('content-type');
  return response;
};

export const speechHandlers = {
  'audio.speech.create': createSpeech,
};
