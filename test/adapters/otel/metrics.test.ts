import { metrics } from '@opentelemetry/api';
import { DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openTelemetry, type OpenTelemetryOptions } from '../../../src/adapters/otel/index.ts';
import { addCounts } from '../../../src/answers/usage.ts';
import { collect, emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { root } from '../../helpers/run-program.ts';
import { traced } from './support.ts';

const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] };

/** Counts or sums, by attributes. */
function listPoints(metric: MetricData | undefined) {
  return metric?.dataPoints.map(({ attributes, value }) => ({
    attributes,
    sum: typeof value === 'number' ? value : Reflect.get(value, 'sum'),
    count: typeof value === 'number' ? 1 : value.count,
  }));
}

/** Makes calls of several kinds; one fails. */
async function measuredCalls(options: OpenTelemetryOptions) {
  const { observer, measured } = traced(options);
  const { client, emulator } = emulated({ observer, maxRetries: 0 });
  const answer = await client.chat.completions.create(ask);
  const stream = await client.chat.completions.create({ ...ask, stream: true });
  await collect(stream);
  const usage: Record<string, unknown> = addCounts({ ...answer.usage }, { ...stream.usage });
  emulator.fail({ fault: { type: 'error', status: 500 } });
  await failureOf(client.chat.completions.create(ask));
  const { usage: embedded } = await client.embeddings.create({ model: 'embed', input: 'Hello' });
  await client.models.list();
  return { usage, embedded, metrics: await measured() };
}

const chunk = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;

const common = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o-mini',
  'server.address': 'emulator.test',
  'server.port': 80,
};
const answered = { ...common, 'gen_ai.response.model': 'gpt-4o-mini' };
const chatEnded = (outcome: string) => ({
  'model_gateway.outcome': outcome,
  'model_gateway.charge_class': 'metered',
});

describe('metrics', () => {
  test('metrics follow the conventions 1.41', async () => {
    const { usage, embedded, metrics: seen } = await measuredCalls({});

    expect([...seen.keys()].toSorted()).toEqual([
      'gen_ai.client.operation.duration',
      'gen_ai.client.operation.time_per_output_chunk',
      'gen_ai.client.operation.time_to_first_chunk',
      'gen_ai.client.token.usage',
      'model_gateway.possible_charges',
    ]);
    const durations = listPoints(seen.get('gen_ai.client.operation.duration'));
    expect(durations?.map(({ attributes, count }) => [attributes, count])).toEqual([
      [{ ...answered, ...chatEnded('completed') }, 2],
      [{ ...common, ...chatEnded('unknown'), 'error.type': 'InternalServerError' }, 1],
      [expect.objectContaining({ 'gen_ai.operation.name': 'embeddings' }), 1],
    ]);
    expect(listPoints(seen.get('gen_ai.client.operation.time_to_first_chunk'))).toEqual([
      { attributes: answered, sum: expect.any(Number), count: 1 },
    ]);
    const tokens = listPoints(seen.get('gen_ai.client.token.usage'));
    expect(tokens).toContainEqual({
      attributes: { ...answered, 'gen_ai.token.type': 'output' },
      sum: usage['completion_tokens'],
      count: 2,
    });
    expect(tokens).toContainEqual({
      attributes: expect.objectContaining({
        'gen_ai.operation.name': 'embeddings',
        'gen_ai.token.type': 'input',
      }),
      sum: embedded.prompt_tokens,
      count: 1,
    });
    expect(seen.get('gen_ai.client.operation.duration')?.descriptor).toMatchObject({ unit: 's' });
  });

  test('metrics follow the conventions 0.1.0', async () => {
    const { usage, embedded, metrics: seen } = await measuredCalls({ semconv: '0.1.0' });

    expect([...seen.keys()].toSorted()).toEqual([
      'gen_ai.client.embeddings.duration',
      'gen_ai.client.embeddings.operation.input_tokens',
      'gen_ai.client.inference.duration',
      'gen_ai.client.inference.operation.input_tokens',
      'gen_ai.client.inference.operation.output_tokens',
      'gen_ai.client.inference.time_per_output_chunk',
      'gen_ai.client.inference.time_to_first_chunk',
      'gen_ai.client.inference.usage.cache_read.input_tokens',
      'gen_ai.client.inference.usage.input_tokens',
      'gen_ai.client.inference.usage.output_tokens',
      'gen_ai.client.inference.usage.reasoning.output_tokens',
      'model_gateway.possible_charges',
    ]);
    expect(listPoints(seen.get('gen_ai.client.inference.usage.output_tokens'))).toEqual([
      {
        attributes: { ...answered, 'gen_ai.token.modality': 'unknown' },
        sum: usage['completion_tokens'],
        count: 1,
      },
    ]);
    expect(listPoints(seen.get('gen_ai.client.inference.operation.input_tokens'))).toEqual([
      { attributes: answered, sum: usage['prompt_tokens'], count: 2 },
    ]);
    expect(listPoints(seen.get('gen_ai.client.embeddings.operation.input_tokens'))).toEqual([
      { attributes: expect.anything(), sum: embedded.prompt_tokens, count: 1 },
    ]);
  });

  const editions = [
    ['1.41', 'gen_ai.client.operation'],
    ['0.1.0', 'gen_ai.client.inference'],
  ] as const;

  test.each(editions)('metrics have the times between chunks, in %s', async (semconv, prefix) => {
    vi.useFakeTimers();
    const { observer, measured } = traced({ semconv });
    // The last two events arrive together.
    const arrivals = [chunk('A'), chunk('B'), chunk('C') + chunk('D', 'stop')];
    const body = new ReadableStream<string>(
      {
        async pull(controller) {
          await vi.advanceTimersByTimeAsync(2_000);
          const arrival = arrivals.shift();
          if (arrival === undefined) controller.close();
          else controller.enqueue(arrival);
        },
      },
      { highWaterMark: 0 },
    ).pipeThrough(new TextEncoderStream());
    const headers = { 'content-type': 'text/event-stream' };
    const { client } = scripted([new Response(body, { headers })], { observer });

    await collect(await client.chat.completions.create({ ...ask, stream: true }));
    vi.useRealTimers();

    const metric = (await measured()).get(`${prefix}.time_per_output_chunk`);
    expect(metric?.descriptor.unit).toBe('s');
    const attributes = { ...common, 'server.address': 'gateway.test', 'server.port': 443 };
    expect(listPoints(metric)).toEqual([
      { attributes: { ...attributes, 'gen_ai.response.model': 'm' }, sum: 4, count: 2 },
    ]);
  });

  test('metrics are not recorded for polls and reads', async () => {
    const { observer, measured } = traced();
    const { client } = emulated({ observer }, { videoDuration: 0 });

    const { ref } = await client.videos.create({ model: 'sora-2', prompt: 'A boat' });
    await client.videos.retrieve(ref);

    const duration = listPoints((await measured()).get('gen_ai.client.operation.duration'));
    expect(duration?.map(({ count }) => count)).toEqual([1]);
  });

  test("metrics count Gemini's thoughts as output", async () => {
    const usageMetadata = {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 3,
      cachedContentTokenCount: 4,
      totalTokenCount: 18,
    };
    const candidates = [
      { content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' },
    ];
    const { observer, calls } = traced();
    const { client } = scripted([json({ candidates, usageMetadata })], { observer });

    await client.generate.content({ model: 'gemini', contents: 'Hi' });

    expect(calls()[0]?.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 8,
      'gen_ai.usage.reasoning.output_tokens': 3,
      'gen_ai.usage.cache_read.input_tokens': 4,
    });
  });
});

afterEach(() => void vi.useRealTimers());

describe('the global provider of metrics', () => {
  afterEach(() => metrics.disable());

  test('the global provider of metrics may be set after the observer is created, and after the first call', async () => {
    const observer = openTelemetry();
    const { client } = emulated({ observer });
    await client.chat.completions.create(ask);
    const { measured, meterProvider } = traced();
    metrics.setGlobalMeterProvider(meterProvider);

    await client.chat.completions.create(ask);

    const duration = listPoints((await measured()).get('gen_ai.client.operation.duration'));
    expect(duration?.map(({ count }) => count)).toEqual([1]);
  });
});

test.each(['1.41', '0.1.0'] as const)(
  'adds the reported cost once per call and video, in %s',
  async (semconv) => {
    const { observer, measured, calls } = traced({ semconv });
    const { client, emulator } = emulated(
      { observer },
      { videoDuration: 0, quirks: { reportedCost: 'usage' } },
    );
    await client.chat.completions.create(ask);
    const { ref } = await client.videos.create({ model: 'sora-2', prompt: 'A boat' });
    await client.videos.retrieve(ref);
    await client.videos.retrieve(ref);

    const points = listPoints((await measured()).get('model_gateway.cost'));

    const [chat = 0, video = 0] = emulator.charges.map(({ amount }) => amount / 500_000);
    expect(points?.map(({ sum }) => sum)).toEqual([chat, video]);
    expect(calls()[0]?.attributes['model_gateway.cost']).toBe(chat);
  },
);

const value = (metric: MetricData | undefined) =>
  listPoints(metric)?.reduce((sum, point) => sum + Number(point.sum), 0);

/** A model loses two responses after their charges, and the next one answers; then a stream. */
async function takeRisks() {
  const { observer, measured } = traced();
  const options = { maxRetries: 1, fallback: ['m-reasoning'], budget: { limit: 1 }, limits: {} };
  const { client, emulator } = emulated(
    { observer, ...options },
    { quirks: { reportedCost: 'usage' } },
  );
  const operation = 'chat.completions.create';
  emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation, times: 2 });
  await client.chat.completions.create({ ...ask, model: 'm-large' });
  const { budget } = await client.account.spent();
  return { client, emulator, budget, measured };
}

describe('money at risk', () => {
  test('retries, fallbacks, possible charges and the rest of a budget', async () => {
    const { emulator, budget, measured } = await takeRisks();

    const seen = await measured();

    expect(emulator.charges).toHaveLength(3);
    expect(value(seen.get('model_gateway.retries'))).toBe(1);
    expect(value(seen.get('model_gateway.possible_charges'))).toBe(2);
    expect(listPoints(seen.get('model_gateway.fallbacks'))).toEqual([
      {
        attributes: {
          ...common,
          'gen_ai.request.model': 'm-reasoning',
          'model_gateway.fallback.from': 'm-large',
        },
        sum: 1,
        count: 1,
      },
    ]);
    expect(value(seen.get('model_gateway.budget.remaining'))).toBeCloseTo(
      1 - (budget?.spent ?? 0),
      12,
    );
    const waits = listPoints(seen.get('model_gateway.turn.wait'));
    expect(
      waits?.map(({ attributes, count }) => [attributes['gen_ai.request.model'], count]),
    ).toEqual([
      // The price list of the budget.
      [undefined, 1],
      ['m-large', 2],
      ['m-reasoning', 1],
    ]);
  });

  test('the wait for a turn', async () => {
    const { observer, measured } = traced();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { client } = emulated({ observer, limits: { requestsPerMinute: 1 } });
    const calls = Promise.all([1, 2].map(() => client.chat.completions.create(ask)));
    await vi.advanceTimersByTimeAsync(60_000);
    await calls;
    vi.useRealTimers();

    expect(value((await measured()).get('model_gateway.turn.wait'))).toBeCloseTo(60, 0);
  });

  test('a stream that was left is no success', async () => {
    const { observer, measured } = traced();
    const { client } = emulated({ observer });
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    for await (const _ of stream) break;

    const durations = listPoints((await measured()).get('gen_ai.client.operation.duration'));

    expect(durations?.map(({ attributes }) => attributes['model_gateway.outcome'])).toEqual([
      'incomplete',
    ]);
  });

  test('an honoured key has no possible charges, and a free read has none', async () => {
    const { observer, measured } = traced();
    const idempotency = { header: 'Idempotency-Key', honored: true };
    const { client, emulator } = emulated({ observer, maxRetries: 1, idempotency });
    for (const operation of ['chat.completions.create', 'models.list'] as const) {
      emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation, times: 1 });
    }
    await client.chat.completions.create(ask);
    await client.models.list();

    const seen = await measured();

    expect(value(seen.get('model_gateway.retries'))).toBe(2);
    expect(seen.get('model_gateway.possible_charges')).toBeUndefined();
  });

  test('the dashboard of the examples shows what is recorded', async () => {
    const text = readFileSync(join(root, 'examples/grafana/model-gateway.json'), 'utf8');
    const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(text);
    const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const { client, measured } = await takeRisks();
    await collect(await client.chat.completions.create({ ...ask, stream: true }));

    const seen = [...(await measured()).values()];

    // The names that OpenTelemetry's exporter for Prometheus writes.
    const names = seen.flatMap(({ descriptor, dataPointType }) => {
      const { name, unit } = descriptor;
      const own = `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`;
      if (dataPointType === DataPointType.HISTOGRAM) {
        return ['bucket', 'count', 'sum'].map((suffix) => `${own}_${suffix}`);
      }
      return [dataPointType === DataPointType.SUM ? `${own}_total` : own];
    });
    const shown = new Set(queries.flatMap((query) => query.match(/\w+(?=\{)/g) ?? []));
    expect(shown.size).toBeGreaterThan(8);
    for (const name of shown) expect(names).toContain(name);
  });
});
