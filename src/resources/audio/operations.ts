import { checkModel, checkNumber, checkParams, checkText } from '../../options/check.ts';
import { changeable, formatByParams } from '../../policies/fallback/fallback.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { BodyEncoding, Change } from '../../http/request.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { Stream } from '../../streams/stream.ts';
import { checkFile } from '../../uploads/file-input.ts';
import { formBody, formFields } from '../../uploads/multipart.ts';
import type { Uploadable } from '../../uploads/types.ts';
import {
  speechEvents,
  transcriptionEvents,
  followToFile,
  speechFile,
  transcriptionAnswer,
} from './answers.ts';
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

export function speak(
  transport: Transport,
  params: SpeechCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<Response | Stream<SpeechStreamEvent>> {
  const paramsFor = changeable(transport, params, options);
  const request = (change?: Change) => ({
    json: speechBody(paramsFor(change)),
    readFile: followToFile,
  });
  return params?.stream_format === 'sse'
    ? transport.call('audio.speech.create', request, speechEvents, options)
    : transport.call('audio.speech.create', request, speechFile, options);
}

function speechBody(params: SpeechCreateParamsBase): SpeechCreateParamsBase {
  checkParams('audio.speech.create', params);
  checkModel(params.model);
  checkText('input', params.input, 'the text to speak');
  checkNumber('speed', params.speed ?? 1);
  const advice = 'the name of a voice, or omitted; { id } is not supported';
  if (params.voice !== undefined && params.voice !== null) {
    checkText('voice', params.voice, advice);
  }
  return params;
}

/** Parameters that transcriptions and translations share. */
interface AudioParams {
  readonly file: Uploadable;
  readonly model: string;
  readonly temperature?: number | undefined;
}

/** Checks the parameters and encodes them as a form. */
function audioForm(resource: string, params: AudioParams): BodyEncoding {
  checkParams(`audio.${resource}.create`, params);
  checkModel(params.model);
  checkNumber('temperature', params.temperature ?? 0);
  const { file, ...others } = params;
  checkFile('file', file);
  return formBody([...formFields(others), ['file', file, 'audio']]);
}

function transcriptFormat<Params extends { readonly response_format?: string | undefined }>(
  params: Params,
) {
  return formatByParams('text', params, (own: Params | undefined) =>
    transcriptionAnswer(own?.response_format),
  );
}

export function transcribe(
  transport: Transport,
  params: TranscriptionCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<TranscriptionCreateResponse | string | Stream<TranscriptionStreamEvent>> {
  const operation = 'audio.transcriptions.create';
  const paramsFor = changeable(transport, params, options);
  const format = transcriptFormat(params);
  const request = (change?: Change) => ({
    form: audioForm('transcriptions', format.use(paramsFor(change))),
  });
  return params?.stream === true
    ? transport.call(operation, request, transcriptionEvents, options)
    : transport.call(operation, request, format, options);
}

export function translate(
  transport: Transport,
  params: TranslationCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<TranslationCreateResponse | string> {
  const paramsFor = changeable(transport, params, options);
  const format = transcriptFormat(params);
  const request = (change?: Change) => ({
    form: audioForm('translations', format.use(paramsFor(change))),
  });
  return transport.call('audio.translations.create', request, format, options);
}
