// A provider that rejects `stream_options` is asked once more without, and later requests leave it out.
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import { APIError, type Gateway, tool } from '../../src/index.ts';
import type { Quirks } from '../../src/testing/index.ts';
import { collect, emulated, failureOf, json, scripted } from '../helpers/clients.ts';

const asked = {
  model: 'm-large',
  messages: [{ role: 'user' as const, content: 'Hi' }],
  stream_options: { include_usage: true },
};
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
const now = tool({ name: 'now', execute: () => 'noon' });

const doors: Readonly<Record<string, (client: Gateway) => Promise<unknown>>> = {
  'a loop': async ({ chat }) => collect(await chat.completions.create({ ...asked, stream: true })),
  'a loop with extraBody': async ({ chat }) => {
    const { stream_options, ...params } = asked;
    const options = { extraBody: { stream_options } };
    return collect(await chat.completions.create({ ...params, stream: true }, options));
  },
  'the helper': async ({ chat }) => chat.completions.stream(asked).finalContent(),
  'runTools()': async ({ chat }) =>
    chat.completions.runTools({ ...asked, tools: [now], stream: true }).finalContent(),
  'the AI SDK': async (client) => {
    const { stream } = await createModelGateway({ client })('m-large').doStream({ prompt });
    const parts = await collect(stream);
    expect(parts.map(({ type }) => type)).not.toContain('error');
    return parts;
  },
};

const rejections = ['rejected', 'forbidden'] satisfies Quirks['chatStreamOptions'][];

/** Whether each request had `stream_options`. */
const optionsIn = ({ requests }: ReturnType<typeof emulated>['emulator']): boolean[] =>
  requests.map(
    ({ body }) => body.kind === 'json' && Object(body.value).stream_options !== undefined,
  );

describe.each(Object.entries(doors))('%s', (name, open) => {
  test.each(rejections)(
    'a call is answered by a provider with %s stream_options',
    async (chatStreamOptions) => {
      const { client, emulator } = emulated({}, { quirks: { chatStreamOptions } });

      await open(client);
      await open(client.withOptions({ timeout: 5_000 }));

      const calls = name === 'runTools()' ? 4 : 2;
      expect(optionsIn(emulator)).toEqual([true, ...Array.from({ length: calls }, () => false)]);
      expect(emulator.charges).toHaveLength(calls);
    },
  );

  test('a call has stream_options where they are read', async () => {
    const { client, emulator } = emulated();

    await open(client);

    expect(optionsIn(emulator)).not.toContain(false);
  });
});

test('another error, or a second rejection, is not followed by a request', async () => {
  const refusal = { error: { message: 'stream_options is not supported', type: 'x' } };
  for (const [body, status, count] of [
    [{ error: { message: 'messages: too long', type: 'x' } }, 400, 1],
    [refusal, 403, 1],
    [refusal, 400, 2],
  ] as const) {
    const { client, requests } = scripted([json(body, status)]);

    const error = await failureOf(client.chat.completions.create({ ...asked, stream: true }));

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, outcome: 'rejected' });
    expect(requests).toHaveLength(count);
    expect(await (requests[1]?.json() ?? {})).not.toHaveProperty('stream_options');
  }
});

test('each model of a fallback is asked with them first', async () => {
  const { client, emulator } = emulated({}, { quirks: { chatStreamOptions: 'rejected' } });
  emulator.fail({ fault: { type: 'error', status: 503 }, times: 1 });

  const params = { ...asked, stream: true } as const;
  const options = { fallback: ['m-small'], maxRetries: 0 };
  await collect(await client.chat.completions.create(params, options));

  expect(emulator.charges).toHaveLength(1);
  expect(optionsIn(emulator).at(-1)).toBe(false);
});

test('includeUsage: false of the AI SDK never sends them', async () => {
  const { client, emulator } = emulated();

  for (const model of [
    createModelGateway({ client, includeUsage: false })('m-large'),
    createModelGateway({ client })('m-large', { includeUsage: false }),
  ]) {
    await collect((await model.doStream({ prompt })).stream);
  }

  expect(optionsIn(emulator)).toEqual([false, false]);
});
