import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { type Gateway, type GatewayOptions, responseFormat } from '../../../src/index.ts';
import type { Fault } from '../../../src/testing/index.ts';
import { collect, emulated } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';

const model = 'model-a';
const fallback = ['model-b'];
const prompt = 'a boat';
const file = new File([mediaHeads.mp3], 'talk.mp3');
const messages = [{ role: 'user' as const, content: 'hi' }];
const response_format = responseFormat(z.object({ city: z.string() }), 'trip');

fakeWaitingTime();

interface Row {
  readonly operation: string;
  readonly call: (
    client: Gateway,
    options: Pick<GatewayOptions, 'fallback'>,
  ) => PromiseLike<unknown>;
  /** A part of the result. */
  readonly result: unknown;
  readonly calls?: number;
}

const metered: readonly Row[] = [
  {
    operation: 'chat.completions.parse',
    call: ({ chat }, options) =>
      chat.completions.parse({ model, messages, response_format }, options),
    result: { choices: [{ message: { parsed: { city: expect.any(String) } } }] },
  },
  {
    operation: 'chat.completions.stream',
    call: ({ chat }, options) =>
      chat.completions.stream({ model, messages, response_format }, options).finalChatCompletion(),
    result: { choices: [{ message: { parsed: { city: expect.any(String) } } }] },
  },
  {
    operation: 'generate.content',
    call: ({ generate }, options) => generate.content({ model, contents: 'hi' }, options),
    result: { text: expect.stringMatching(/./) },
  },
  {
    operation: 'generate.contentStream',
    call: async ({ generate }, options) =>
      collect(await generate.contentStream({ model, contents: 'hi' }, options)),
    result: expect.arrayContaining([expect.objectContaining({ text: expect.stringMatching(/./) })]),
  },
  {
    operation: 'audio.speech.create',
    call: async ({ audio }, options) => {
      const speech = await audio.speech.create({ model, input: 'hi', voice: 'alloy' }, options);
      return (await speech.arrayBuffer()).byteLength;
    },
    result: expect.any(Number),
  },
  {
    operation: 'audio.transcriptions.create',
    call: ({ audio }, options) => audio.transcriptions.create({ model, file }, options),
    result: { text: expect.stringMatching(/./) },
  },
  {
    operation: 'audio.translations.create',
    call: ({ audio }, options) => audio.translations.create({ model, file }, options),
    result: { text: expect.stringMatching(/./) },
  },
];

const charged: readonly Row[] = [
  {
    operation: 'images.generateMany',
    call: ({ images }, options) =>
      collect(
        images.generateMany(
          [1, 2, 3].map(() => ({ model, prompt })),
          { ...options, concurrency: 1 },
        ),
      ),
    result: [1, 2, 3].map(() => ({ images: { data: [{}] } })),
    calls: 3,
  },
  {
    operation: 'videos.createAndWait',
    call: ({ videos }, options) => videos.createAndWait({ model, prompt }, options),
    result: { status: 'completed', ref: { model: 'model-b' } },
  },
  {
    operation: 'videos.createAndWaitAll',
    call: ({ videos }, options) =>
      collect(
        videos.createAndWaitAll(
          [
            { model, prompt },
            { model, prompt },
          ],
          {
            ...options,
            concurrency: 1,
          },
        ),
      ),
    result: [1, 2].map(() => ({ video: { status: 'completed', ref: { model: 'model-b' } } })),
    calls: 2,
  },
];

const run = async ({ call }: Row, fault: Fault, options: GatewayOptions = {}) => {
  const { client, emulator } = emulated({ maxRetries: 0, ...options });
  failFirst(emulator, fault);
  return {
    end: await settle(Promise.resolve(call(client, { fallback }))),
    ...requestedModels(emulator),
  };
};

describe('the next model is requested', () => {
  test.for([...metered, ...charged])(
    'the next model is requested by $operation after a 429',
    async (row) => {
      const { end, requests, charges } = await run(row, { type: 'error', status: 429 });
      const each = Array.from({ length: row.calls ?? 1 });

      expect(end).toMatchObject({ value: row.result });
      expect(requests).toEqual(each.flatMap(() => ['model-a', 'model-b']));
      expect(charges).toEqual(each.map(() => 'model-b'));
    },
  );

  test.for(metered)(
    'the next model is requested by $operation after a lost response',
    async (row) => {
      const { end, requests, charges } = await run(row, { type: 'reset', when: 'after-charge' });

      expect(end).toMatchObject({ value: row.result });
      expect(requests).toEqual(['model-a', 'model-b']);
      expect(charges).toEqual(['model-a', 'model-b']);
    },
  );
});

describe('no other model is requested', () => {
  test.for(charged)(
    'no other model is requested by $operation after a lost response',
    async (row) => {
      const fault = { type: 'reset', when: 'after-charge' } as const;
      const { requests, charges } = await run(row, fault, { retryUnknownOutcome: true });
      const each = Array.from({ length: row.calls ?? 1 }, () => 'model-a');
      expect(requests).toEqual(each);
      expect(charges).toEqual(each);
    },
  );

  test.for(metered)(
    'no other model is requested by $operation after an unknown outcome that may not be retried',
    async (row) => {
      const fault = { type: 'reset', when: 'after-charge' } as const;
      const { end, requests } = await run(row, fault, { retryUnknownOutcome: false });
      expect(end).toMatchObject({ error: { outcome: 'unknown' } });
      expect(requests).toEqual(['model-a']);
    },
  );

  test('no other model is requested by chat.completions.parse after a response that does not match the schema', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    emulator.respondOnce('chat.completions.create', { text: '{"city":5}' });
    const call = client.chat.completions.parse({ model, messages, response_format }, { fallback });
    const end = await settle(Promise.resolve(call));
    expect(end).toHaveProperty('error.name', 'InvalidOutputError');
    expect(requestedModels(emulator)).toEqual({ requests: ['model-a'], charges: ['model-a'] });
  });
});
