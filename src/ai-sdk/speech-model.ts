import type { SharedV4Warning, SpeechModelV4 } from '@ai-sdk/provider';
import type { Gateway } from '../index.ts';
import { calling } from './errors.ts';
import { headersOf, providerName, readCall, unsupported } from './options.ts';

const operation = 'audio.speech.create';

/**
 * A model that speaks.
 *
 * @param connect - Gives the client, at the first call.
 */
export function speechModel(connect: () => Gateway, modelId: string): SpeechModelV4 {
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.speech`,
    modelId,
    async doGenerate(options) {
      const { text, voice, outputFormat, speed, instructions, language } = options;
      const { request } = readCall(options);
      const warnings: SharedV4Warning[] = [];
      if (language !== undefined) {
        warnings.push(unsupported('language', 'The models go by the text.'));
      }
      const client = connect();
      const params = {
        model: modelId,
        input: text,
        voice,
        response_format: outputFormat,
        speed,
        instructions,
      };
      const failed = { client, operation, signal: options.abortSignal } as const;
      const { audio, response } = await calling(failed, async () => {
        const file = await client.audio.speech.create(params, request);
        return { audio: new Uint8Array(await file.arrayBuffer()), response: file };
      });
      return {
        audio,
        warnings,
        request: { body: params },
        response: { timestamp: new Date(), modelId, headers: headersOf(response) },
      };
    },
  };
}
