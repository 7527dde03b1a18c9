import { describe, expect, test, vi } from 'vitest';
import {
  APIUserAbortError,
  type ClientLimits,
  Gateway,
  GatewayError,
  type GatewayOptions,
  InvalidInputError,
} from '../../../src/index.ts';
import { createEmulator, type EmulatorOptions, type Fault } from '../../../src/testing/index.ts';
import { collect, failureOf } from '../../helpers/clients.ts';
import { fakeWaitingTime, resolved, settle } from '../../helpers/fake-time.ts';
import { untyped } from '../../helpers/untyped.ts';

const minute = 60_000;

fakeWaitingTime();

interface Start {
  /** Milliseconds since the client was created. */
  readonly at: number;
  readonly path: string;
  readonly model: unknown;
  readonly prompt: unknown;
}

/** A client with limits on an emulator, and the requests that it sent. */
function limited(limits: ClientLimits, options: GatewayOptions = {}, setup: EmulatorOptions = {}) {
  const emulator = createEmulator({ videoDuration: 1_000, ...setup });
  const created = performance.now();
  const starts: Start[] = [];
  const { apiKey, baseURL } = emulator;
  const client = new Gateway({
    apiKey,
    baseURL,
    logLevel: 'off',
    limits,
    fetch: (input, init) => {
      const { body } = init ?? {};
      const { model, messages }: { model?: unknown; messages?: { content: unknown }[] } =
        typeof body === 'string' ? JSON.parse(body) : {};
      const at = performance.now() - created;
      const path = new URL(new Request(input).url).pathname;
      starts.push({ at, path, model, prompt: messages?.[0]?.content });
      return emulator.fetch(input, init);
    },
    ...options,
  });
  const ask = (content: string, model = 'm-chat', callOptions = {}) =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content }] }, callOptions);
  return {
    client,
    emulator,
    starts,
    ask,
    times: () => starts.map(({ at }) => at),
    prompts: () => starts.map(({ prompt }) => prompt),
  };
}

const advance = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe('requestsPerMinute', () => {
  test('starts at most this many calls in any 60 seconds, in order', async () => {
    const { ask, times, prompts } = limited({ requestsPerMinute: 3 });
    const names = ['1', '2', '3', '4', '5', '6', '7'];

    const calls = Promise.all(names.map((name) => ask(name)));
    await resolved(calls);

    expect(times()).toEqual([0, 0, 0, minute, minute, minute, 2 * minute]);
    expect(prompts()).toEqual(names);
  });

  test('counts in a sliding window', async () => {
    const { ask, times } = limited({ requestsPerMinute: 2 });

    await ask('1');
    await advance(50_000);
    const calls = Promise.all([ask('2'), ask('3'), ask('4')]);
    await resolved(calls);

    expect(times()).toEqual([0, 50_000, minute, 110_000]);
  });

  test('counts retries', async () => {
    const { ask, emulator, times } = limited({ requestsPerMinute: 2 });
    emulator.fail({ fault: { type: 'bare', status: 500 }, times: 2 });

    const call = ask('1');
    await resolved(call);

    expect(times()).toEqual([0, 250, minute]);
  });

  test('requestsPerMinute does not wait for open streams of the model', async () => {
    const { client, ask, prompts } = limited({
      requestsPerMinute: 2,
      models: { busy: { concurrency: 1 } },
    });
    const stream = await client.chat.completions.create({
      model: 'busy',
      messages: [{ role: 'user', content: '1' }],
      stream: true,
    });
    await ask('2');
    const third = ask('3', 'busy');
    const fourth = ask('4');

    await advance(minute);

    expect(prompts()).toEqual(['1', '2', '4']);
    stream.controller.abort();
    await fourth;
    await resolved(third);
  });

  test('counts submissions, polls and downloads of videos', async () => {
    const { client, starts } = limited({ requestsPerMinute: 1 });

    const download = client.videos
      .createAndWait({ model: 'm-video', prompt: 'A boat', seconds: '4' })
      .then((video) => client.videos.downloadContent(video))
      .then((response) => response.arrayBuffer());

    expect((await resolved(download)).byteLength).toBeGreaterThan(0);
    expect(starts.length).toBeGreaterThanOrEqual(3);
    expect(starts.map(({ at }) => at)).toEqual(starts.map((_, index) => index * minute));
  });

  test('counts each request of createMany()', async () => {
    const { client, times } = limited({ requestsPerMinute: 2 });
    const input = Array.from({ length: 10 }, (_, index) => `Text ${index}`);

    const call = client.embeddings.createMany(
      { model: 'm-embedding', input },
      { batchSize: 2, concurrency: 5 },
    );

    expect((await resolved(call)).vectors).toHaveLength(10);
    expect(times()).toEqual([0, 0, minute, minute, 2 * minute]);
  });

  test('counts from the time of sending, not of reading the key', async () => {
    let pause = 10_000;
    const apiKey = async (): Promise<string> => {
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
      pause = 0;
      return 'sk-test';
    };
    const { ask, times } = limited({ requestsPerMinute: 1 }, { apiKey }, { apiKey: 'sk-test' });

    const calls = Promise.all([ask('1'), ask('2')]);
    await resolved(calls);

    const [first, second = 0] = times();
    expect(first).toBe(10_000);
    expect(second).toBeGreaterThanOrEqual(70_000);
    expect(second).toBeLessThan(70_002);
  });

  test('requestsPerMinute does not count an attempt that was not sent', async () => {
    let isBroken = true;
    const apiKey = (): string => {
      if (!isBroken) return 'sk-test';
      isBroken = false;
      throw new Error('The vault is closed');
    };
    const limits = { requestsPerMinute: 1, concurrency: 1 };
    const { ask, times } = limited(limits, { apiKey }, { apiKey: 'sk-test' });

    expect(await failureOf(ask('1'))).toMatchObject({ outcome: 'not_sent' });
    await ask('2');

    expect(times()).toEqual([0]);
  });
});

describe('concurrency', () => {
  test('sends at most this many requests at the same time, in order', async () => {
    const { ask, emulator, times, prompts } = limited({ concurrency: 2 });
    emulator.fail({ fault: { type: 'slow', milliseconds: 1_000 }, times: 5 });

    const calls = Promise.all(['1', '2', '3', '4', '5'].map((name) => ask(name)));
    await resolved(calls);

    expect(times()).toEqual([0, 0, 1_000, 1_000, 2_000]);
    expect(prompts()).toEqual(['1', '2', '3', '4', '5']);
  });

  test('concurrency does not count the pause before a retry', async () => {
    const { ask, emulator, times, prompts } = limited({ concurrency: 1 });
    emulator.fail({ fault: { type: 'bare', status: 500 }, times: 1 });

    const calls = Promise.all([ask('1'), ask('2')]);
    await resolved(calls);

    expect(prompts()).toEqual(['1', '2', '1']);
    expect(times()).toEqual([0, 0, 250]);
  });

  test('concurrency does not count an image task once it is submitted, so that it can be polled', async () => {
    const setup = { quirks: { imageTasks: 'list', imageTaskTime: 1_000 } } as const;
    const { client, starts } = limited({ concurrency: 1 }, {}, setup);

    const result = await resolved(client.images.generate({ model: 'm-image', prompt: 'A boat' }));

    expect(result.data).toHaveLength(1);
    expect(starts.length).toBeGreaterThan(1);
  });

  type Client = ReturnType<typeof limited>;
  const openStream = ({ client }: Client, signal?: AbortSignal) =>
    client.chat.completions.create(
      { model: 'm-chat', messages: [{ role: 'user', content: 'Hello' }], stream: true },
      { signal },
    );
  const readers: readonly {
    end: string;
    read: (limits: Client) => Promise<() => Promise<void>>;
  }[] = [
    {
      end: 'is read to its end',
      read: async (limits) => {
        const stream = await openStream(limits);
        return async () => void (await collect(stream));
      },
    },
    {
      end: 'of a response is read to its end',
      read: async ({ client }) => {
        const ask = { model: 'm-chat', input: 'Hello', stream: true } as const;
        const stream = await client.responses.create(ask);
        return async () => void (await collect(stream));
      },
    },
    {
      end: 'is left with break',
      read: async (limits) => {
        const stream = await openStream(limits);
        return async () => {
          for await (const _ of stream) break;
        };
      },
    },
    {
      end: 'is aborted',
      read: async (limits) => {
        const controller = new AbortController();
        const stream = await openStream(limits, controller.signal);
        return async () => {
          controller.abort();
          expect(await failureOf(collect(stream))).toBeInstanceOf(APIUserAbortError);
        };
      },
    },
    {
      end: 'is cut',
      read: async (limits) => {
        limits.emulator.fail({ fault: { type: 'cut-events', after: 1 }, times: 1 });
        const stream = await openStream(limits);
        return async () => void (await failureOf(collect(stream)));
      },
    },
    {
      end: 'contains an error',
      read: async (limits) => {
        limits.emulator.fail({
          fault: { type: 'stream-error', after: 1, shape: 'error-event' },
          times: 1,
        });
        const stream = await openStream(limits);
        return async () => void (await failureOf(collect(stream)));
      },
    },
    {
      end: 'is read as text',
      read: async (limits) => {
        const response = await openStream(limits).asResponse();
        return async () => void (await response.text());
      },
    },
    {
      end: 'is aborted as a response that is never read',
      read: async (limits) => {
        const controller = new AbortController();
        await openStream(limits, controller.signal).asResponse();
        return async () => controller.abort();
      },
    },
    {
      end: 'is cancelled as a response',
      read: async (limits) => {
        const response = await openStream(limits).asResponse();
        return async () => response.body?.cancel();
      },
    },
  ];

  test.each(readers)('a stream keeps its place until it $end', async ({ read }) => {
    const limits = limited({ concurrency: 1 });
    const end = await read(limits);

    const call = limits.ask('Next');
    await advance(100);
    const before = limits.starts.length;
    await end();
    await resolved(call);

    expect(before).toBe(1);
    expect(limits.starts).toHaveLength(2);
  });
});

const words = (tokens: number): string => 'abc '.repeat(tokens);

describe('tokensPerMinute', () => {
  test('estimates the tokens of a request from its characters', async () => {
    const { ask, times } = limited({ tokensPerMinute: 1_000 });

    const calls = Promise.all([ask(words(400)), ask(words(400)), ask(words(400))]);
    await resolved(calls);

    expect(times()).toEqual([0, 0, minute]);
  });

  test.each([
    { usage: 'more than the estimate', total_tokens: 900, second: 5_000, third: minute },
    { usage: 'less than the estimate', total_tokens: 10, second: 5_000, third: 5_000 },
  ])('counts $usage if the response reports it', async ({ total_tokens, second, third }) => {
    const { client } = limited({ tokensPerMinute: 1_000 });
    const sent: number[] = [];
    const created = performance.now();
    const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
    const reporting = client.withOptions({
      fetch: async () => {
        sent.push(performance.now() - created);
        return Response.json({ choices, usage: { total_tokens } });
      },
    });
    const ask = (content: string) =>
      reporting.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });

    await ask(words(60));
    await advance(5_000);
    const calls = Promise.all([ask(words(50)), ask(words(50))]);
    await resolved(calls);

    expect(sent.slice(0, 3)).toEqual([0, second, third]);
  });

  /** Counts as 1,000 tokens here, and as a few at the emulator. */
  const encoded = 'a'.repeat(600);
  const messages = [{ role: 'user' as const, content: encoded }];
  const reporting: readonly { api: string; call: (client: Gateway) => Promise<unknown> }[] = [
    {
      api: 'chat',
      call: ({ chat }) => chat.completions.create({ model: 'm-chat', messages }),
    },
    {
      api: 'chat, streamed',
      call: async ({ chat }) =>
        collect(await chat.completions.create({ model: 'm-chat', messages, stream: true })),
    },
    {
      api: 'responses',
      call: ({ responses }) => responses.create({ model: 'm-chat', input: encoded }),
    },
    {
      api: 'responses, streamed',
      call: async ({ responses }) =>
        collect(await responses.create({ model: 'm-chat', input: encoded, stream: true })),
    },
    {
      api: 'generate',
      call: ({ generate }) => generate.content({ model: 'm-chat', contents: encoded }),
    },
    {
      api: 'generate, streamed',
      call: async ({ generate }) =>
        collect(await generate.contentStream({ model: 'm-chat', contents: encoded })),
    },
    {
      api: 'embeddings',
      call: ({ embeddings }) => embeddings.create({ model: 'm-embedding', input: encoded }),
    },
  ];

  test.each(reporting)('corrects the estimate by the usage of $api', async ({ call }) => {
    const { client, times } = limited({ tokensPerMinute: 1_300 });

    await resolved(call(client));
    await resolved(call(client));

    expect(times()).toEqual([0, 0]);
  });

  test('a request with more tokens than the limit starts alone', async () => {
    const { ask, times } = limited({ tokensPerMinute: 100 });

    const calls = Promise.all([ask('small'), ask(words(500)), ask('small')]);
    await resolved(calls);

    expect(times()).toEqual([0, minute, 2 * minute]);
  });

  test('free requests count no tokens', async () => {
    const { ask, client, times } = limited({ tokensPerMinute: 100 });

    await client.models.list();
    await ask(words(500));
    await settle(client.videos.retrieve('task_1', { maxRetries: 0 }));

    expect(times()).toEqual([0, 0, 0]);
  });

  test('the data of an image counts as 1,000 tokens', async () => {
    const { client, emulator, times } = limited({ tokensPerMinute: 3_000 });
    emulator.fail({ fault: { type: 'slow', milliseconds: 1_000 }, times: 3 });
    const url = `data:image/png;base64,${'A'.repeat(100_000)}`;
    const image = () =>
      client.chat.completions.create({
        model: 'm-chat',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      });

    const calls = Promise.all([image(), image(), image()]);
    await resolved(calls);

    // The emulator reports fewer tokens.
    expect(times()).toEqual([0, 0, 1_000]);
  });
});

describe('models', () => {
  test('a model has its own limits, and does not delay others', async () => {
    const { ask, starts } = limited({ models: { slow: { requestsPerMinute: 1 } } });

    const calls = Promise.all([
      ask('1', 'slow'),
      ask('2', 'slow'),
      ask('3', 'fast'),
      ask('4', 'fast'),
    ]);
    await resolved(calls);

    expect(starts.map(({ model, at }) => [model, at])).toEqual([
      ['slow', 0],
      ['fast', 0],
      ['fast', 0],
      ['slow', minute],
    ]);
  });

  const apis: readonly { api: string; call: (client: Gateway) => Promise<unknown> }[] = [
    {
      api: 'responses',
      call: ({ responses }) => responses.create({ model: 'slow', input: 'Hello' }),
    },
    {
      api: 'generate, with the model in the path',
      call: ({ generate }) => generate.content({ model: 'slow', contents: 'Hello' }),
    },
    {
      api: 'transcriptions, with the model in a form',
      call: ({ audio }) =>
        audio.transcriptions.create({ model: 'slow', file: new File(['RIFF'], 'a.wav') }),
    },
    {
      api: 'any route',
      call: (client) => client.post('/v1/responses', { body: { model: 'slow', input: 'Hello' } }),
    },
  ];

  test.each(apis)('applies to $api', async ({ call }) => {
    const { client, times } = limited({ models: { slow: { requestsPerMinute: 1 } } });

    await settle(call(client.withOptions({ maxRetries: 0 })));
    await settle(call(client.withOptions({ maxRetries: 0 })));

    expect(times()).toEqual([0, minute]);
  });

  test('a request to a fallback waits for the limits of its own model', async () => {
    const limits = { concurrency: 1, models: { second: { requestsPerMinute: 1 } } };
    const { ask, emulator, starts } = limited(limits, { fallback: ['second'] });
    emulator.fail({
      fault: { type: 'rate-limit', retryAfter: 1 },
      times: 2,
      when: ({ body }) => body.kind === 'json' && Object(body.value).model === 'first',
    });

    const calls = Promise.all([
      ask('1', 'first', { maxRetries: 0 }),
      ask('2', 'first', { maxRetries: 0 }),
    ]);
    await resolved(calls);

    expect(starts.map(({ prompt, model, at }) => [prompt, model, at])).toEqual([
      ['1', 'first', 0],
      ['1', 'second', 0],
      ['2', 'first', 1_000],
      ['2', 'second', minute],
    ]);
  });

  test('no request overtakes an earlier one to the same model', async () => {
    const { ask, emulator, prompts, times } = limited({
      models: { m: { tokensPerMinute: 1_000 } },
    });
    emulator.fail({ fault: { type: 'slow', milliseconds: 70_000 }, times: 1 });
    const contents = [words(900), words(500), 'small'];

    await resolved(Promise.all(contents.map((content) => ask(content, 'm'))));

    expect(prompts()).toEqual(contents);
    expect(times()).toEqual([0, minute, minute]);
  });

  test('the limits of the client apply to all models together', async () => {
    const { ask, starts } = limited({
      requestsPerMinute: 2,
      models: { slow: { requestsPerMinute: 1 } },
    });

    const calls = Promise.all([
      ask('1', 'slow'),
      ask('2', 'fast'),
      ask('3', 'slow'),
      ask('4', 'fast'),
    ]);
    await resolved(calls);

    expect(starts.map(({ prompt, at }) => [prompt, at])).toEqual([
      ['1', 0],
      ['2', 0],
      ['3', minute],
      ['4', minute],
    ]);
  });

  test('a model named like an inherited property has no limits', async () => {
    const { ask, times } = limited({ models: {} });

    await Promise.all([ask('1', 'constructor'), ask('2', '__proto__')]);

    expect(times()).toEqual([0, 0]);
  });
});

describe('a call that waits', () => {
  test('a call that waits ends after an abort without a request, and lets the next one start', async () => {
    const { ask, prompts, times } = limited({ requestsPerMinute: 1 });
    const controller = new AbortController();

    await ask('1');
    const aborted = failureOf(ask('2', 'm-chat', { signal: controller.signal }));
    const next = ask('3');
    await advance(1_000);
    controller.abort();
    const failure = await aborted;
    await resolved(next);

    expect(failure).toBeInstanceOf(APIUserAbortError);
    expect(failure).toMatchObject({ outcome: 'not_sent' });
    expect(prompts()).toEqual(['1', '3']);
    expect(times()).toEqual([0, minute]);
  });

  test('a call that waits is not sent if its signal is aborted already', async () => {
    const { ask, starts } = limited({ requestsPerMinute: 1 });

    const failure = await failureOf(ask('1', 'm-chat', { signal: AbortSignal.abort() }));

    expect(failure).toMatchObject({ outcome: 'not_sent' });
    expect(starts).toEqual([]);
  });

  test('a call that waits ends at totalTimeout, without a request', async () => {
    const { ask, times } = limited({ requestsPerMinute: 1 });

    await ask('1');
    const failure = await resolved(failureOf(ask('2', 'm-chat', { totalTimeout: 10_000 })));

    expect(failure).toBeInstanceOf(GatewayError);
    expect(failure).toMatchObject({
      outcome: 'not_sent',
      name: 'APIConnectionTimeoutError',
      message: expect.stringContaining('a turn within limits was not available in time'),
    });
    expect(times()).toEqual([0]);
  });

  test('a call may wait longer than its timeout, which begins when it is sent', async () => {
    const { ask, emulator, times } = limited({ requestsPerMinute: 1 });

    await ask('1');
    emulator.fail({ fault: { type: 'slow', milliseconds: 900 }, times: 1 });
    const call = ask('2', 'm-chat', { timeout: 1_000, maxRetries: 0 });
    await resolved(call);

    expect(times()).toEqual([0, minute]);
  });
});

/** Makes calls at once that wait for a 429 before them. */
async function startAfterWait(calls: number, answerTime: number): Promise<readonly number[]> {
  const { ask, emulator, times } = limited({});
  emulator.fail({ fault: { type: 'rate-limit', retryAfter: 10 }, times: 1 });
  await failureOf(ask('0', 'm-chat', { maxRetries: 0 }));
  emulator.fail({ fault: { type: 'slow', milliseconds: answerTime }, times: calls });

  const all = Promise.all(Array.from({ length: calls }, (_, index) => ask(`${index + 1}`)));
  await resolved(all);

  return times().slice(1);
}

describe('the limits of the gateway', () => {
  const hints: readonly { headers: Record<string, string>; wait: number }[] = [
    { headers: { 'retry-after': '20' }, wait: 20_000 },
    { headers: { 'retry-after-ms': '1500' }, wait: 1_500 },
    {
      headers: { 'x-ratelimit-reset-requests': '20s', 'x-ratelimit-remaining-requests': '1' },
      wait: 20_000,
    },
    {
      headers: { 'x-ratelimit-reset-tokens': '6.5s', 'x-ratelimit-remaining-tokens': '0' },
      wait: 6_500,
    },
    { headers: { 'retry-after': '600' }, wait: minute },
  ];

  test.each(hints)(
    'after a 429 with $headers, the model waits $wait ms',
    async ({ headers, wait }) => {
      const { ask, emulator, starts } = limited({});
      emulator.fail({
        fault: { type: 'error', status: 429, headers, message: 'Too many' },
        times: 1,
      });

      await failureOf(ask('1', 'busy', { maxRetries: 0 }));
      const calls = Promise.all([ask('2', 'busy'), ask('3', 'idle')]);
      await resolved(calls);

      expect(starts.map(({ prompt, at }) => [prompt, at])).toEqual([
        ['1', 0],
        ['3', 0],
        ['2', wait],
      ]);
    },
  );

  describe('after the wait of a 429', () => {
    test('1, 2, 4, … requests start in each half second, whether or not one has succeeded', async () => {
      const starts = await startAfterWait(15, 10_000);

      const slots = starts.map((at) => Math.floor((at - 10_000) / 500));
      expect(slots).toEqual([0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
    });

    test('a success doubles the pace, but does not release all', async () => {
      const starts = await startAfterWait(60, 100);

      const [first = 0] = starts;
      expect((starts.at(-1) ?? 0) - first).toBeLessThan(1_500);
      for (const at of starts) {
        const together = starts.filter((other) => other >= at && other < at + 50);
        expect(together.length).toBeLessThan(25);
      }
    });

    // Answers take 8 s, and a call comes each 100 ms.
    test('a steady load has its usual duration again soon', async () => {
      const { ask, emulator } = limited({});
      const durations: number[] = [];
      const calls: Promise<void>[] = [];
      for (let call = 0; call < 200; call += 1) {
        const limit: Fault = { type: 'rate-limit', retryAfter: 1 };
        emulator.fail({
          fault: call === 5 ? limit : { type: 'slow', milliseconds: 8_000 },
          times: 1,
        });
        const from = performance.now();
        calls.push(ask('Hello').then(() => void durations.push(performance.now() - from)));
        await advance(100);
      }
      emulator.fail({ fault: { type: 'slow', milliseconds: 8_000 }, times: 1 });
      await resolved(Promise.all(calls));

      const sorted = durations.toSorted((one, other) => one - other);
      expect(sorted[100]).toBeLessThan(8_100);
      expect(sorted[190]).toBeLessThan(11_000);
    });

    test('a further 429 begins again', async () => {
      const { ask, emulator, times } = limited({});
      const fail = () => emulator.fail({ fault: { type: 'rate-limit', retryAfter: 10 }, times: 1 });
      fail();
      await failureOf(ask('1', 'm-chat', { maxRetries: 0 }));
      fail();
      const second = failureOf(ask('2', 'm-chat', { maxRetries: 0 }));
      const others = Promise.all(['3', '4', '5'].map((name) => ask(name)));
      await resolved(second);
      await resolved(others);

      expect(times().slice(0, 3)).toEqual([0, 10_000, 20_000]);
    });
  });

  test.each([
    ['with limits', {}, 50, 50],
    ['without limits', null, 250, 75],
  ])('calls that are rejected together are not repeated together, %s', async (...row) => {
    const [, limits, slotLength, most] = row;
    vi.mocked(Math.random).mockRestore();
    const { ask, emulator, times } = limited(untyped(limits));
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 1 }, times: 100 });

    await resolved(Promise.all(Array.from({ length: 100 }, (_, index) => ask(`${index}`))));

    const retries = times().slice(100);
    const slots = retries.map((at) => Math.floor(at / slotLength));
    const largest = Math.max(...slots.map((one) => slots.filter((slot) => slot === one).length));
    expect(retries).toHaveLength(100);
    expect(largest).toBeLessThan(most);
  });

  test('a request that started before the 429 does not end the wait', async () => {
    const { ask, emulator, times } = limited({});
    emulator.fail({ fault: { type: 'slow', milliseconds: 1_000 }, times: 1 });
    const slow = ask('1');
    await advance(0);
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 10 }, times: 1 });
    await failureOf(ask('2', 'm-chat', { maxRetries: 0 }));

    const next = ask('3');
    await resolved(Promise.all([slow, next]));

    expect(times()).toEqual([0, 0, 10_000]);
  });

  test('a 429 without a hint delays no other call', async () => {
    const { ask, emulator, times } = limited({});
    emulator.fail({ fault: { type: 'bare', status: 429 }, times: 1 });

    await failureOf(ask('1', 'm-chat', { maxRetries: 0 }));
    await ask('2');

    expect(times()).toEqual([0, 0]);
  });

  test.each([
    { remaining: '0', reset: '12s', second: 12_000 },
    { remaining: '0', reset: '1m30s', second: minute },
    { remaining: '1', reset: '12s', second: 0 },
    { remaining: '', reset: '12s', second: 0 },
    { remaining: '0', reset: '-1', second: 0 },
  ])('$remaining remaining requests, reset after $reset', async ({ remaining, reset, second }) => {
    const emulator = createEmulator();
    const sent: number[] = [];
    const created = performance.now();
    const client = new Gateway({
      apiKey: emulator.apiKey,
      baseURL: emulator.baseURL,
      limits: {},
      fetch: async (input, init) => {
        sent.push(performance.now() - created);
        const response = await emulator.fetch(input, init);
        response.headers.set('x-ratelimit-remaining-requests', remaining);
        response.headers.set('x-ratelimit-reset-requests', reset);
        return response;
      },
    });
    const params = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hello' }] };

    await client.chat.completions.create(params);
    await resolved(client.chat.completions.create(params));

    expect(sent).toEqual([0, second]);
  });
});

describe('withOptions()', () => {
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const copies: readonly {
    name: string;
    copy: (client: Gateway) => Gateway;
    second: number;
  }[] = [
    {
      name: 'a copy shares',
      copy: (client) => client.withOptions({ timeout: 5_000 }),
      second: minute,
    },
    {
      name: 'a copy of a copy shares',
      copy: (client) => client.withOptions({}).withOptions({ maxRetries: 1 }),
      second: minute,
    },
    {
      name: 'a copy with limits has its own',
      copy: (client) => client.withOptions({ limits: { requestsPerMinute: 1 } }),
      second: 0,
    },
    {
      name: 'a copy with null has no',
      copy: (client) => client.withOptions({ limits: null }),
      second: 0,
    },
    {
      name: 'a copy for another gateway has its own',
      copy: (client) => client.withOptions({ baseURL: 'https://other.test' }),
      second: 0,
    },
    {
      name: 'a client whose options are set keeps its',
      copy: (client) => Object.assign(client, { timeout: 5_000 }),
      second: minute,
    },
  ];

  test.each(copies)('$name limits', async ({ copy, second }) => {
    const { client, times } = limited({ requestsPerMinute: 1 });
    const other = copy(client);

    await client.chat.completions.create({ model: 'm-chat', messages });
    await settle(other.chat.completions.create({ model: 'm-chat', messages }, { maxRetries: 0 }));

    expect(times()).toEqual([0, second]);
  });
});

describe('invalid limits', () => {
  test.each([
    { field: 'limits', limits: 60 },
    { field: 'limits.requestsPerMinute', limits: { requestsPerMinute: 0 } },
    { field: 'limits.requestsPerMinute', limits: { requestsPerMinute: 1.5 } },
    { field: 'limits.requestsPerMinute', limits: { requestsPerMinute: Infinity } },
    { field: 'limits.tokensPerMinute', limits: { tokensPerMinute: Number.NaN } },
    { field: 'limits.concurrency', limits: { concurrency: -1 } },
    { field: 'limits.concurrency', limits: { concurrency: '4' } },
    { field: 'limits.requestPerMinute', limits: { requestPerMinute: 60 } },
    { field: 'limits.models', limits: { models: 'gpt-4o' } },
    { field: 'limits.models.gpt-4o', limits: { models: { 'gpt-4o': 60 } } },
    { field: 'limits.models.gpt-4o.rpm', limits: { models: { 'gpt-4o': { rpm: 60 } } } },
    { field: 'limits.models.a.models', limits: { models: { a: { models: {} } } } },
    { field: 'limits.models.a.concurrency', limits: { models: { a: { concurrency: 0 } } } },
  ])('$field: $limits', ({ field, limits }) => {
    const create = (): Gateway =>
      new Gateway({ baseURL: 'https://gateway.test', limits: untyped(limits) });

    expect(create).toThrow(InvalidInputError);
    expect(create).toThrow(`${field}: `);
  });

  test.each([
    { limits: {} },
    { limits: null },
    { limits: { requestsPerMinute: null, tokensPerMinute: undefined } },
    { limits: { models: null } },
    { limits: { models: { 'gpt-4o': null } } },
  ])('$limits sets none', async ({ limits }) => {
    const { ask, starts } = limited(untyped(limits));

    await Promise.all([ask('1', 'gpt-4o'), ask('2', 'gpt-4o')]);

    expect(starts).toHaveLength(2);
  });
});
