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
import { speechEvents, followToFile, speechFile } from './answers.ts';
import { transcriptionAnswer, transcriptionEvents } from './transcripts.ts';
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

export function speak(
  transport: Transport,
  params: SpeechCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<Response | Stream<SpeechStreamEvent>> {
  const operation = 'audio.speech.create';
  const write = writeSpeech;
  if (params?.stream_format === 'sse') {
    const format = () => speechEvents;
    return transport.operate(operation, params, { kind: 'events', write, format }, options);
  }
  const format = (own: SpeechCreateParamsBase) => speechFile(transport, listURLs(own));
  return transport.operate(operation, params, { kind: 'binary', write, format }, options);
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

export function transcribe(
  transport: Transport,
  params: TranscriptionCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<TranscriptionCreateResponse | string | Stream<TranscriptionStreamEvent>> {
  const operation = 'audio.transcriptions.create';
  const write = (own: TranscriptionCreateParams) => ({ form: audioForm('transcriptions', own) });
  if (params?.stream === true) {
    const format = () => transcriptionEvents;
    return transport.operate(operation, params, { kind: 'events', write, format }, options);
  }
  const format = (own: TranscriptionCreateParams) => transcriptionAnswer(own.response_format);
  return transport.operate(operation, params, { kind: 'text', write, format }, options);
}

export function translate(
  transport: Transport,
  params: TranslationCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<TranslationCreateResponse | string> {
  const operation = 'audio.translations.create';
  const write = (own: TranslationCreateParams) => ({ form: audioForm('translations', own) });
  const format = (own: TranslationCreateParams) => transcriptionAnswer(own.response_format);
  return transport.operate(operation, params, { kind: 'text', write, format }, options);
}
