import { checkModel, checkNumber, checkParams, checkText } from '../check.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { Stream } from '../streams/stream.ts';
import { eventsOfSpeech, fileBehind, fileOfSpeech } from './answers.ts';
import type { SpeechCreateParamsBase, SpeechStreamEvent } from './types.ts';

export function speak(
  transport: Transport,
  params: SpeechCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<Response | Stream<SpeechStreamEvent>> {
  const request = () => ({ json: speechBody(params), readFile: fileBehind });
  return params?.stream_format === 'sse'
    ? transport.call('audio.speech.create', request, eventsOfSpeech, options)
    : transport.call('audio.speech.create', request, fileOfSpeech, options);
}

function speechBody(params: SpeechCreateParamsBase): SpeechCreateParamsBase {
  checkParams('audio.speech.create', params);
  checkModel(params.model);
  checkText('input', params.input, 'the text to speak');
  checkNumber('speed', params.speed ?? 1);
  if (params.voice !== undefined) {
    checkText(
      'voice',
      params.voice,
      'the name of a voice or leave it out; { id } is not understood',
    );
  }
  return params;
}
