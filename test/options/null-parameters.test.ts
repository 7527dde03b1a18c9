import { expect, test } from 'vitest';
import type { Method } from '../../src/options/methods.ts';
import { emulated } from '../helpers/clients.ts';
import { everyMethod, start } from '../helpers/every-method.ts';

/** The names of optional parameters. */
const optional: { readonly [Name in Method]?: string } = {
  'chat.completions.create':
    'audio function_call functions logit_bias logprobs max_tokens metadata modalities n prediction reasoning_effort response_format seed stop stream stream_options temperature tool_choice tools top_p user web_search_options',
  'chat.completions.parse': 'response_format tools n tool_choice',
  'chat.completions.runTools':
    'tool_choice n response_format parallel_tool_calls toolContext stream',
  'generate.content':
    'generationConfig systemInstruction safetySettings tools toolConfig cachedContent labels',
  'generate.runTools':
    'generationConfig systemInstruction safetySettings tools toolConfig toolContext',
  'embeddings.create': 'dimensions encoding_format user',
  'images.generate':
    'n size quality response_format background output_format moderation partial_images stream user style',
  'images.edit':
    'n size quality response_format background mask input_fidelity partial_images stream user',
  'audio.speech.create': 'voice response_format speed instructions stream_format',
  'audio.transcriptions.create':
    'language prompt response_format temperature timestamp_granularities include chunking_strategy stream',
  'audio.translations.create': 'prompt response_format temperature',
  'videos.create': 'seconds size input_reference',
};

const cases = everyMethod.flatMap(({ method, call }) =>
  (optional[method]?.split(' ') ?? []).map((name) => ({ method, call, name })),
);

test.each(cases)('a null $name of $method is not sent', async ({ call, name }) => {
  const { client, emulator } = emulated();

  await start(call, client, undefined, { [name]: null });

  expect(emulator.requests.length).toBeGreaterThan(0);
  for (const { body } of emulator.requests) expect(JSON.stringify(body)).not.toContain('[null]');
});
