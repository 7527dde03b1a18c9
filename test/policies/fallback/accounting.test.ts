import { describe, expect, test } from 'vitest';
import type { ObservedCall } from '../../../src/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';
import { ReportedCosts } from '../../../src/programs/reported-costs.ts';
import { traced } from '../../adapters/otel/support.ts';

const image = { model: 'model-a', prompt: 'a boat' };
const chat = { model: 'model-a', messages: [{ role: 'user' as const, content: 'hi' }] };
const fallback = ['model-b'];
const perCall = { 'model-a': 0.01, 'model-b': 0.04 };
const rejected = { type: 'error', status: 429 } as const;

describe('a budget of a call with fallbacks', () => {
  test('a budget reserves and counts the price of the requested model', async () => {
    const { client, emulator } = emulated({ maxRetries: 0, budget: { limit: 0.05, perCall } });
    failFirst(emulator, rejected);
    const reserved: (number | undefined)[] = [];
    const counting = client.withOptions({
      onRequest({ operation }) {
        if (operation !== 'images.generate') return;
        void client.account.spent().then(({ budget }) => reserved.push(budget?.reserved));
      },
    });

    await counting.images.generate(image, { fallback });

    const { budget, lines } = await client.account.spent();
    expect(reserved).toEqual([0.01, 0.04]);
    expect(budget).toMatchObject({ spent: 0.04, reserved: 0 });
    expect(lines).toEqual([
      expect.objectContaining({ operation: 'images.generate', model: 'model-b', calls: 1 }),
    ]);
  });

  test('a budget counts both models if the first may be billed', async () => {
    const { client, emulator } = emulated({ maxRetries: 0, budget: { limit: 0.05, perCall } });
    failFirst(emulator, { type: 'reset', when: 'after-charge' });

    await client.chat.completions.create(chat, { fallback });

    const { budget, lines } = await client.account.spent();
    expect(budget?.spent).toBeCloseTo(0.05);
    expect(lines).toEqual([
      expect.objectContaining({ model: 'model-a', calls: 0, unknown: 1 }),
      expect.objectContaining({ model: 'model-b', calls: 1, unknown: 0 }),
    ]);
    expect(requestedModels(emulator).charges).toEqual(['model-a', 'model-b']);
  });

  test('a budget counts only the first model if that may be billed and the next one is rejected', async () => {
    const ends: unknown[] = [];
    const { client, emulator } = emulated({
      maxRetries: 0,
      budget: { limit: 0.05, perCall },
      observer: {
        start: ({ model }) => ({
          end: ({ outcome }) => model !== undefined && ends.push([model, outcome]),
        }),
      },
    });
    failFirst(emulator, { type: 'reset', when: 'after-charge' });
    emulator.fail({ fault: rejected, times: Infinity });

    const failed = await failureOf(client.chat.completions.create(chat, { fallback }));

    expect(failed).toMatchObject({ name: 'RateLimitError', outcome: 'unknown' });
    const { budget, lines } = await client.account.spent();
    expect(budget).toMatchObject({ spent: 0.01, reserved: 0 });
    expect(lines).toEqual([expect.objectContaining({ model: 'model-a', calls: 0, unknown: 1 })]);
    expect(ends).toEqual([
      ['model-a', 'unknown'],
      ['model-b', 'rejected'],
    ]);
    expect(requestedModels(emulator).charges).toEqual(['model-a']);
  });

  test('a budget counts the cost that a stream reports before it fails without content', async () => {
    const costs = new ReportedCosts();
    const failing = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 0, cost: 0.3 } };
    const delta = { role: 'assistant', content: 'Hi' };
    const usage = { prompt_tokens: 5, completion_tokens: 1, cost: 0.5 };
    const { client } = scripted(
      [
        eventStream(failing, { error: { message: 'Overloaded', code: 502 } }),
        eventStream(
          { choices: [{ index: 0, delta, finish_reason: 'stop' }] },
          { choices: [], usage },
          '[DONE]',
        ),
      ],
      { maxRetries: 0, gateway: 'openrouter', observer: costs },
    );

    await collect(await client.chat.completions.create({ ...chat, stream: true }, { fallback }));

    const { lines } = await client.account.spent();
    expect(lines).toEqual([
      expect.objectContaining({ model: 'model-a', unknown: 1, reported: 1 }),
      expect.objectContaining({ model: 'model-b', calls: 1, reported: 1 }),
    ]);
    expect(costs.total).toBeCloseTo(0.8);
  });

  test('a budget that is too small for the next model ends the call with the previous error', async () => {
    const { client, emulator } = emulated({ maxRetries: 0, budget: { limit: 0.03, perCall } });
    failFirst(emulator, rejected);

    const failed = await failureOf(client.images.generate(image, { fallback }));

    expect(failed).toMatchObject({ name: 'RateLimitError', outcome: 'rejected' });
    expect(String(failed)).toMatch(
      /The next request was not sent: .*model-b would exceed the budget/,
    );
    expect(requestedModels(emulator)).toEqual({ requests: ['model-a'], charges: [] });
    const { budget } = await client.account.spent();
    expect(budget).toMatchObject({ spent: 0, reserved: 0 });
  });
});

describe('observers of a call with fallbacks', () => {
  test('observers of a call with fallbacks receive a call for each model, with the same id', async () => {
    const calls: (Pick<ObservedCall, 'callId' | 'model'> & { error?: string })[] = [];
    const { client, emulator } = emulated({
      maxRetries: 0,
      observer: {
        start({ callId, model }) {
          const call: (typeof calls)[number] = { callId, model };
          calls.push(call);
          return {
            end({ error }) {
              if (error instanceof Error) call.error = error.name;
            },
          };
        },
      },
    });
    failFirst(emulator, rejected);

    await client.chat.completions.create(chat, { fallback, callId: 'talk-1' });

    expect(calls).toEqual([
      { callId: 'talk-1', model: 'model-a', error: 'RateLimitError' },
      { callId: 'talk-1', model: 'model-b' },
    ]);
  });

  test('observers of a call with fallbacks write a span for each model', async () => {
    const { observer, calls } = traced();
    const { client, emulator } = emulated({ maxRetries: 0, observer });
    failFirst(emulator, rejected);

    await client.chat.completions.create(chat, { fallback });

    const spans = calls().map(({ name, attributes }) => [name, attributes['error.type']]);
    expect(spans).toEqual([
      ['chat model-a', expect.anything()],
      ['chat model-b', undefined],
    ]);
  });
});

describe('calls with fallbacks at the same time', () => {
  test('each continue by their own failure', async () => {
    const open: (() => void)[] = [];
    const answer = (response: () => Response) => async () => {
      await new Promise<void>((resolve) => {
        open.push(resolve);
      });
      return response();
    };
    const { client, requests } = scripted(
      [
        answer(json({ error: { message: 'Slow down' } }, 429)),
        answer(json({ error: { message: 'No', code: 'content_filter' } }, 400)),
        json({ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }),
      ],
      { maxRetries: 0, fallback, fallbackOn: ['content'] },
    );
    const reasons: unknown[] = [];
    const create = (callId: string) =>
      client.chat.completions
        .create(chat, { callId, onFallback: ({ error }) => reasons.push(Object(error).callId) })
        .then(
          ({ choices }) => choices[0]?.message.content,
          (error: unknown) => error,
        );

    const results = [create('limited'), create('filtered')];
    await expect.poll(() => open).toHaveLength(2);
    // The last request to be answered is the first one.
    for (const respond of open.toReversed()) respond();

    await expect(Promise.all(results)).resolves.toEqual([
      expect.objectContaining({ name: 'RateLimitError', callId: 'limited' }),
      'Hi',
    ]);
    expect(reasons).toEqual(['filtered']);
    expect(requests).toHaveLength(3);
  });
});
