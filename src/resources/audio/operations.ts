import { checkModel, checkNumber, checkText } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import { listURLs } from '../../answers/result-places.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { BodyEncoding } from '../../http/request.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { Stream } from '../../streams/stream.ts';
import { checkFile } from '../../uploads/file-input.ts';
import { formBody, formFields } from '../../uploads/multipart.ts';
import { speechEvents, followToFile, speechFile } from './formats.ts';
import { transcriptionFormat, transcriptionEvents } from './transcripts.ts';
import type {
  TranscriptionCreateParams,
  TranscriptionCreateResponse,
  TranscriptionStreamEvent,
} from './transcription-types.ts';
import type {
  SpeechCreateParamsBase,
  SpeechStreamEvent,
  TranslationCreateParams,
  TranslationCreateResponse,
} from './types.ts';

function writeSpeech(params: SpeechCreateParamsBase) {
  checkParams('audio.speech.create', params);
  checkModel(params.model);
  checkText('input', params.input, 'the text to speak');
  checkNumber('speed', params.speed ?? 1);
  const advice = 'the name of a voice, or omitted; { id } is not supported';
  if (params.voice !== undefined && params.voice !== null) {
    checkText('voice', params.voice, advice);
  }
  return { json: params, readFile: followToFile };
}

const speechStream = { kind: 'events', write: writeSpeech, format: () => speechEvents } as const;

export function speak(
  transport: Transport,
  params: SpeechCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<Response | Stream<SpeechStreamEvent>> {
  const operation = 'audio.speech.create';
  if (params?.stream_format === 'sse') {
    return transport.operate(operation, params, speechStream, options);
  }
  const format = (changed: SpeechCreateParamsBase) => speechFile(transport, listURLs(changed));
  const file = { kind: 'binary', write: writeSpeech, format } as const;
  return transport.operate(operation, params, file, options);
}

/** Checks the parameters and encodes them as a form. */
function audioForm(
  resource: string,
  params: TranscriptionCreateParams | TranslationCreateParams,
): BodyEncoding {
  checkParams(`audio.${resource}.create`, params);
  checkModel(params.model);
  checkNumber('temperature', params.temperature ?? 0);
  const { file, ...others } = params;
  checkFile('file', file);
  return formBody([...formFields(others), ['file', file, 'audio']]);
}

const writeTranscription = (params: TranscriptionCreateParams) => ({
  form: audioForm('transcriptions', params),
});

const transcription = {
  kind: 'text',
  write: writeTranscription,
  format: (params: TranscriptionCreateParams) => transcriptionFormat(params.response_format),
} as const;

const transcriptionStream = {
  kind: 'events',
  write: writeTranscription,
  format: () => transcriptionEvents,
} as const;

export const transcribe = (
  transport: Transport,
  params: TranscriptionCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<TranscriptionCreateResponse | string | Stream<TranscriptionStreamEvent>> =>
  params?.stream === true
    ? transport.operate('audio.transcriptions.create', params, transcriptionStream, options)
    : transport.operate('audio.transcriptions.create', params, transcription, options);

const translation = {
  kind: 'text',
  write: (params: TranslationCreateParams) => ({ form: audioForm('translations', params) }),
  format: (params: TranslationCreateParams) => transcriptionFormat(params.response_format),
} as const;

export const translate = (
  transport: Transport,
  params: TranslationCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<TranslationCreateResponse | string> =>
  transport.operate('audio.translations.create', params, translation, options);
