import type { SpeechPlace, TranscriptForm } from '../faults/quirks.ts';
import { doneEvent, type StreamEvent } from '../faults/stream-faults.ts';
import { base64, type Bytes } from '../media/bytes.ts';
import { fileURL, type Call } from '../server/call.ts';
import { eventResponse } from '../server/event-stream.ts';

/** Speech with its content type and file extension. */
export interface Sound {
  readonly bytes: Bytes;
  readonly type: string;
  readonly extension: string;
}

const hex = (bytes: Bytes): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Splits bytes into pieces for the events of a stream. */
export function pieces(bytes: Bytes): Bytes[] {
  const size = 4_096;
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.slice(at * size, (at + 1) * size),
  );
}

/** Returns MiniMax's events, the last of which repeats all of the audio. */
function miniMaxEvents(bytes: Bytes): StreamEvent[] {
  const base_resp = { status_code: 0, status_msg: 'success' };
  const deltas = pieces(bytes).map((piece): StreamEvent => ({
    role: 'delta',
    data: { data: { audio: hex(piece), status: 1 }, base_resp },
  }));
  const last = { data: { audio: hex(bytes), status: 2 }, base_resp };
  return [...deltas, { role: 'finish', data: last }];
}

const speechChunk = (data: string | null, finish_reason: string | null) => ({
  id: 'speech-1',
  object: 'audio.speech.chunk',
  audio: data === null ? null : { data },
  finish_reason,
});

/** Returns sglang-omni's events. */
function chunkEvents(bytes: Bytes): StreamEvent[] {
  const deltas = pieces(bytes).map((piece): StreamEvent => ({
    role: 'delta',
    data: speechChunk(base64(piece), null),
  }));
  return [...deltas, { role: 'finish', data: speechChunk(null, 'stop') }, doneEvent];
}

/**
 * Responds with speech at the place of the quirk.
 *
 * @param events - The events of OpenAI's stream.
 */
export function placeSpeech(
  call: Call,
  place: Exclude<SpeechPlace, 'file'>,
  { bytes, type, extension }: Sound,
  events: readonly StreamEvent[],
): Response {
  switch (place) {
    case 'audio_data':
      return Response.json({ audio_data: base64(bytes) });
    case 'audio':
      return Response.json({ audio: base64(bytes), format: extension });
    case 'audio-hex':
      return Response.json({ audio: hex(bytes) });
    case 'data.audio':
      return Response.json({
        data: { audio: hex(bytes), status: 2 },
        base_resp: { status_code: 0, status_msg: 'success' },
      });
    case 'output.audio.data':
      return Response.json({ output: { audio: { data: base64(bytes), id: 'audio_1' } } });
    case 'output.audio.url': {
      const path = call.world.files.add(extension, { type, bytes: () => Promise.resolve(bytes) });
      const url = fileURL(call, path);
      return Response.json({
        output: { finish_reason: 'stop', audio: { data: '', url, id: 'audio_1' } },
      });
    }
    case 'message.audio': {
      const audio = { id: 'audio_1', data: base64(bytes), transcript: '', expires_at: 1 };
      const message = { role: 'assistant', content: null, audio };
      return Response.json({ choices: [{ index: 0, finish_reason: 'stop', message }] });
    }
    case 'inlineData': {
      const parts = [{ inlineData: { mimeType: type, data: base64(bytes) } }];
      return Response.json({ candidates: [{ content: { role: 'model', parts } }] });
    }
    case 'events':
      return eventResponse(call, events);
    case 'data-events':
      return eventResponse(call, miniMaxEvents(bytes));
    case 'chunk-events':
      return eventResponse(call, chunkEvents(bytes));
  }
}

/** Returns a transcript in the form of the quirk. `plain` is the documented one, as text. */
export function formTranscript(form: Exclude<TranscriptForm, 'plain'>, plain: string): Response {
  switch (form) {
    case 'json-string':
      return Response.json(plain);
    case 'in-json':
      return Response.json({ text: plain });
    case 'doubled-json':
      return Response.json(plain.startsWith('{') ? plain : JSON.stringify({ text: plain }));
  }
}

/** Returns vLLM's events of a transcript. A recording of several windows has a finish reason for each. */
export function vllmEvents(deltas: readonly string[], seconds: number): StreamEvent[] {
  const head = { id: 'trsc-1', object: 'transcription.chunk', created: 1, model: 'whisper' };
  const middle = Math.ceil(deltas.length / 2);
  const chunk = (content: string, finish_reason: string | null): StreamEvent => ({
    role: 'delta',
    data: { ...head, choices: [{ delta: { content }, finish_reason, stop_reason: null }] },
  });
  const usage = { type: 'duration', seconds };
  return [
    ...deltas.slice(0, middle).map((delta) => chunk(delta, null)),
    chunk('', 'stop'),
    ...deltas.slice(middle).map((delta) => chunk(delta, null)),
    { ...chunk('', 'stop'), role: 'finish' },
    { role: 'count', data: { ...head, choices: [], usage } },
  ];
}

/** Returns Mistral's events of a transcript. */
export function mistralEvents(deltas: readonly string[], usage: object): StreamEvent[] {
  const language = { type: 'transcription.language', audio_language: 'en' };
  const events = deltas.map((text) => ({ type: 'transcription.text.delta', text }));
  const segment = { type: 'transcription.segment', text: deltas.join(''), start: 0, end: 1 };
  const done = { type: 'transcription.done', text: deltas.join(''), language: 'en', usage };
  return [language, ...events, segment, done].map((data) => ({
    role: data === done ? 'finish' : 'delta',
    event: data.type,
    data,
  }));
}
