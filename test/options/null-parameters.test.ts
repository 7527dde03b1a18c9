import { describe, expect, test } from 'vitest';
import { type Gateway, tool } from '../../src/index.ts';
import { emulated, misuse } from '../helpers/clients.ts';
import { mediaHeads } from '../helpers/media.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const find = tool({ name: 'find', execute: () => 'found' });
const model = 'm';
const file = mediaHeads.mp3;
const image = mediaHeads.png;

/** An operation with its required parameters, and the names of the optional ones. */
type Row = readonly [call: (client: Gateway, fields: object) => unknown, optional: string];

const operations: Readonly<Record<string, Row>> = {
  'chat.completions.create': [
    ({ chat }, fields) => misuse(chat.completions, 'create', { model, messages, ...fields }),
    'audio function_call functions logit_bias logprobs max_tokens metadata modalities n prediction reasoning_effort response_format seed stop stream stream_options temperature tool_choice tools top_p user web_search_options',
  ],
  'chat.completions.parse': [
    ({ chat }, fields) => misuse(chat.completions, 'parse', { model, messages, ...fields }),
    'response_format tools n tool_choice',
  ],
  'chat.completions.runTools': [
    async ({ chat }, fields) => {
      const params = { model, messages, tools: [find], ...fields };
      const runner = await misuse(chat.completions, 'runTools', params);
      return misuse(Object(runner), 'finalContent', undefined);
    },
    'tool_choice n response_format parallel_tool_calls toolContext stream',
  ],
  'generate.content': [
    ({ generate }, fields) => misuse(generate, 'content', { model, contents: 'Hi', ...fields }),
    'generationConfig systemInstruction safetySettings tools toolConfig cachedContent labels',
  ],
  'generate.runTools': [
    ({ generate }, fields) =>
      misuse(generate, 'runTools', { model, contents: 'Hi', functions: [find], ...fields }),
    'generationConfig systemInstruction safetySettings tools toolConfig toolContext',
  ],
  'embeddings.create': [
    ({ embeddings }, fields) => misuse(embeddings, 'create', { model, input: 'Hi', ...fields }),
    'dimensions encoding_format user',
  ],
  'images.generate': [
    ({ images }, fields) => misuse(images, 'generate', { model, prompt: 'A cat', ...fields }),
    'n size quality response_format background output_format moderation partial_images stream user style',
  ],
  'images.edit': [
    ({ images }, fields) => misuse(images, 'edit', { model, image, prompt: 'A cat', ...fields }),
    'n size quality response_format background mask input_fidelity partial_images stream user',
  ],
  'audio.speech.create': [
    ({ audio }, fields) => misuse(audio.speech, 'create', { model, input: 'Hi', ...fields }),
    'voice response_format speed instructions stream_format',
  ],
  'audio.transcriptions.create': [
    ({ audio }, fields) => misuse(audio.transcriptions, 'create', { model, file, ...fields }),
    'language prompt response_format temperature timestamp_granularities include chunking_strategy stream',
  ],
  'audio.translations.create': [
    ({ audio }, fields) => misuse(audio.translations, 'create', { model, file, ...fields }),
    'prompt response_format temperature',
  ],
  'videos.create': [
    ({ videos }, fields) => misuse(videos, 'create', { model, prompt: 'A boat', ...fields }),
    'seconds size input_reference',
  ],
};

describe.each(Object.entries(operations))('%s', (_, [call, optional]) => {
  test.each(optional.split(' '))('a null %s is not sent', async (name) => {
    const { client, emulator } = emulated();

    await call(client, { [name]: null });

    expect(emulator.requests.length).toBeGreaterThan(0);
    for (const { body } of emulator.requests) expect(JSON.stringify(body)).not.toContain('[null]');
  });
});
