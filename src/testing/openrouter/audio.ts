import type { JsonObject } from '../../types.ts';
import { decodeBase64 } from '../../answers/bytes.ts';
import { present, record, text } from '../control/json.ts';
import { createTranscription } from '../routes/audio-texts.ts';
import { createSpeech } from '../routes/speech.ts';
import { costField, readFields, type Call } from '../server/call.ts';
import type { RequestBody } from '../server/request-body.ts';
import { invalidField } from './errors.ts';

/** `POST /api/v1/audio/speech`: MP3 or, by default, PCM. */
export function createOpenRouterSpeech(call: Call): Response | Promise<Response> {
  const fields = readFields(call);
  for (const name of ['stream_format', 'instructions']) {
    if (fields.raw(name) !== undefined) throw invalidField(name, 'Unrecognized key');
  }
  const format = fields.string('response_format') ?? 'pcm';
  if (format !== 'mp3' && format !== 'pcm') throw invalidField('response_format');
  const { body } = call;
  const value = { ...record(body.kind === 'json' ? body.value : {}), response_format: format };
  return createSpeech({ ...call, body: body.kind === 'json' ? { kind: 'json', value } : body });
}

/** Converts JSON with `input_audio` to a form with a file. */
function toForm(body: RequestBody): RequestBody {
  if (body.kind !== 'json') return body;
  const { input_audio: audio, ...value } = record(body.value);
  const { data, format } = record(audio);
  const bytes = decodeBase64(text(data) ?? '');
  if (bytes === undefined) throw invalidField('input_audio', 'Required');
  const filename = `audio.${text(format) ?? 'wav'}`;
  const file = new Blob([bytes]);
  const upload = { field: 'file', filename, type: 'audio/*', size: file.size, file };
  const texts = Object.entries(value).map(([name, item]) => [name, String(item)]);
  return { kind: 'multipart', fields: Object.fromEntries(texts), files: [upload] };
}

/** `POST /api/v1/audio/transcriptions`, as JSON or as a form. */
export async function createOpenRouterTranscription(call: Call): Promise<Response> {
  const converted: Call = { ...call, body: toForm(call.body) };
  const fields = readFields(converted);
  const format = fields.string('response_format') ?? 'json';
  if (format !== 'json' && format !== 'verbose_json') throw invalidField('response_format');
  const response = await createTranscription({ ...converted, fault: undefined });
  const { ledger, quirks } = call.world;
  const charge = ledger.charges.find(({ requestId }) => requestId === call.requestId);
  const answer: JsonObject = record(await response.json());
  const { type: _, ...usage } = record(answer['usage']);
  const cost = costField(charge?.amount ?? 0, quirks);
  return Response.json(present({ ...answer, usage: { ...usage, ...cost } }));
}
