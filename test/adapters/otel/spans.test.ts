import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openTelemetry } from '../../../src/adapters/otel/index.ts';
import { collect, emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { traced, within } from './support.ts';

const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'A secret' }] };

afterEach(() => void vi.useRealTimers());

/** A stream that never says anything. */
const silent = () =>
  new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });

describe('a call is one span', () => {
  test('a chat with one retry is one span with two attempts', async () => {
    const { observer, spans } = traced();
    const { client, emulator } = emulated({ observer });
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 0 } });

    const answer = await client.chat.completions.create(
      { ...ask, max_tokens: 50, temperature: 0.5, seed: 7, n: 1 },
      { callId: 'job-1' },
    );

    const [first, second, call, ...rest] = spans();
    expect(rest).toEqual([]);
    expect(call).toMatchObject({ name: 'chat gpt-4o-mini', kind: SpanKind.CLIENT, links: [] });
    expect(call?.status.code).toBe(SpanStatusCode.UNSET);
    expect(call?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.request.max_tokens': 50,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.seed': 7,
      'gen_ai.response.id': answer.id,
      'gen_ai.response.model': answer.model,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': answer.usage?.prompt_tokens,
      'gen_ai.usage.output_tokens': answer.usage?.completion_tokens,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'server.address': 'emulator.test',
      'server.port': 80,
      'model_gateway.operation': 'chat.completions.create',
      'model_gateway.charge_class': 'metered',
      'model_gateway.call_id': 'job-1',
      'model_gateway.outcome': 'completed',
      'model_gateway.attempts': 2,
      'model_gateway.request_id': answer._request_id,
    });
    expect(within(call, spans())).toEqual([first, second]);
    const url = `${emulator.baseURL}/v1/chat/completions`;
    expect(first).toMatchObject({
      name: 'attempt 1',
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.ERROR },
      attributes: {
        'http.request.method': 'POST',
        'url.full': url,
        'http.response.status_code': 429,
      },
    });
    expect(second).toMatchObject({
      name: 'attempt 2',
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'http.response.status_code': 200,
        'http.request.resend_count': 1,
        'model_gateway.delay_ms': expect.any(Number),
      },
    });
  });

  const calls = {
    'generate_content gemini-2.5-flash': ['gcp.gen_ai', undefined],
    'embeddings text-embedding-3-small': ['openai', undefined],
    'generate_content gpt-image-1': ['openai', 'image'],
    'generate_content tts-1': ['openai', 'speech'],
    'generate_content sora-2': ['openai', 'video'],
    'models.list': ['openai', undefined],
    'POST /v1/other': ['openai', undefined],
  } as const;

  test('every operation has one span', async () => {
    const { observer, calls: spansOfCalls } = traced();
    const { client } = emulated({ observer });
    await client.generate.content({ model: 'gemini-2.5-flash', contents: 'Hi' });
    await client.embeddings.create({ model: 'text-embedding-3-small', input: 'Hi', dimensions: 8 });
    await client.images.generate({ model: 'gpt-image-1', prompt: 'A boat' });
    const speech = await client.audio.speech.create({
      model: 'tts-1',
      input: 'Hi',
      voice: 'alloy',
    });
    await speech.arrayBuffer();
    await client.videos.create({ model: 'sora-2', prompt: 'A boat' });
    await client.models.list();
    await failureOf(client.post('/v1/other', { body: {} }));

    const seen = spansOfCalls().map(({ name, attributes }) => [
      name,
      [attributes['gen_ai.provider.name'], attributes['gen_ai.output.type']],
    ]);
    expect(Object.fromEntries(seen)).toEqual(calls);
    expect(spansOfCalls()[1]?.attributes).toMatchObject({
      'gen_ai.embeddings.dimension.count': 8,
    });
  });

  test("a span is inside the caller's span, and around the request", async () => {
    const { observer, tracerProvider, spans } = traced();
    let inside: string | undefined;
    const { client, emulator } = emulated();
    const observed = client.withOptions({
      observer,
      fetch: (...given) => {
        inside = trace.getSpan(context.active())?.spanContext().spanId;
        return emulator.fetch(...given);
      },
    });

    await tracerProvider.getTracer('test').startActiveSpan('caller', async (span) => {
      await observed.chat.completions.create(ask);
      span.end();
    });

    const call = spans().find(({ name }) => name === 'chat gpt-4o-mini');
    const caller = spans().find(({ name }) => name === 'caller');
    expect(within(caller, spans())).toEqual([call]);
    expect(inside).toBe(call?.spanContext().spanId);
  });
});

test('a response has the attributes of a chat', async () => {
  const { observer, calls } = traced();
  const { client, emulator } = emulated({ observer });
  const params = { model: 'gpt-5-mini', input: 'A secret', max_output_tokens: 2 };

  const whole = await client.responses.create(params);
  const stream = await client.responses.create({ ...params, stream: true });
  await collect(stream);
  emulator.fail({ fault: { type: 'cut-events', after: 2 } });
  await failureOf(collect(await client.responses.create({ ...params, stream: true })));

  const [first, second, third] = calls();
  expect(first).toMatchObject({
    name: 'chat gpt-5-mini',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.max_tokens': 2,
      'gen_ai.response.id': whole.id,
      'gen_ai.response.model': whole.model,
      'gen_ai.response.finish_reasons': ['max_output_tokens'],
      'gen_ai.usage.input_tokens': whole.usage?.input_tokens,
      'gen_ai.usage.output_tokens': whole.usage?.output_tokens,
      'gen_ai.usage.reasoning.output_tokens': expect.any(Number),
      'model_gateway.operation': 'responses.create',
      'model_gateway.outcome': 'completed',
    },
  });
  expect(second?.attributes).toMatchObject({
    'gen_ai.request.stream': true,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.response.finish_reasons': ['max_output_tokens'],
    'gen_ai.usage.output_tokens': stream.usage?.output_tokens,
  });
  expect(third).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': 'StreamTruncatedError', 'model_gateway.outcome': 'unknown' },
  });
  expect(JSON.stringify(calls().map(({ attributes }) => attributes))).not.toContain('secret');
});

describe('the sampling parameters of a request', () => {
  const sampling = {
    'gen_ai.request.max_tokens': 50,
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.top_p': 0.9,
    'gen_ai.request.top_k': 40,
    'gen_ai.request.seed': 7,
    'gen_ai.request.choice.count': 2,
  };

  test("a span has the sampling parameters of a request in OpenAI's format", async () => {
    const { observer, calls } = traced();
    const { client } = emulated({ observer });
    const params = { temperature: 0.5, top_p: 0.9, top_k: 40, seed: 7, n: 2, top_logprobs: 3 };

    await client.chat.completions.create({ ...ask, max_tokens: 50, logprobs: true, ...params });

    expect(calls()[0]?.attributes).toMatchObject(sampling);
  });

  test("a span has the sampling parameters of a request in Gemini's format", async () => {
    const { observer, calls } = traced();
    const { client } = emulated({ observer });
    const generationConfig = {
      maxOutputTokens: 50,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      candidateCount: 2,
    };

    await client.generate.content({ model: 'gemini', contents: 'Hi', generationConfig });

    expect(calls()[0]?.attributes).toMatchObject(sampling);
  });

  test('a span has the sampling parameters of the Responses API, in 0.1.0', async () => {
    const { observer, calls } = traced({ semconv: '0.1.0' });
    const { client } = scripted([json({}, 400)], { observer });

    await failureOf(
      client.responses.create({
        model: 'gpt-5-mini',
        input: 'Hi',
        reasoning: { effort: 'low' },
        previous_response_id: 'resp_1',
      }),
    );

    expect(calls()[0]?.attributes).toMatchObject({
      'gen_ai.request.reasoning.level': 'low',
      'gen_ai.request.previous_response.id': 'resp_1',
    });
  });
});

describe('the span of a stream', () => {
  const asStream = { ...ask, stream: true as const, stream_options: { include_usage: true } };

  test('the span of a stream ends with the stream', async () => {
    const { observer, calls } = traced();
    const { client } = emulated({ observer });

    const stream = await client.chat.completions.create(asStream);
    expect(calls()).toEqual([]);
    await collect(stream);

    expect(calls()[0]?.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.output_tokens': stream.usage?.completion_tokens,
      'model_gateway.outcome': 'completed',
    });
  });

  test('the span of a stream ends if it is closed', async () => {
    const { observer, calls } = traced();
    const { client } = emulated({ observer });

    (await client.chat.completions.create(asStream)).close();

    expect(calls()[0]?.attributes['model_gateway.outcome']).toBe('incomplete');
    expect(calls()[0]?.status.code).toBe(SpanStatusCode.UNSET);
  });

  test('the span of a stream ends if it is aborted', async () => {
    const { observer, calls } = traced();
    const { client } = emulated({ observer });
    const controller = new AbortController();

    const stream = await client.chat.completions.create(asStream, { signal: controller.signal });
    controller.abort();
    await failureOf(collect(stream));

    expect(calls()[0]?.attributes['error.type']).toBe('APIUserAbortError');
  });

  test('the span of a stream ends if it stalls, and if it is not read', async () => {
    vi.useFakeTimers();
    for (const isRead of [true, false]) {
      const { observer, calls } = traced();
      const { client } = scripted([silent], { observer, idleTimeout: 50, firstByteTimeout: 50 });

      const stream = await client.chat.completions.create(asStream);
      const failure = isRead ? failureOf(collect(stream)) : undefined;
      await vi.advanceTimersByTimeAsync(100);
      await failure;

      expect(calls()).toHaveLength(1);
      expect(calls()[0]?.attributes['error.type']).toBe('StreamTimeoutError');
    }
  });

  test('the span of a stream ends if it is truncated', async () => {
    const { observer, calls } = traced();
    const { client, emulator } = emulated({ observer });
    emulator.fail({ fault: { type: 'cut-events', after: 2 } });

    await failureOf(collect(await client.chat.completions.create(asStream)));

    expect(calls()[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'StreamTruncatedError', 'model_gateway.outcome': 'unknown' },
    });
  });
});

describe('a failure', () => {
  test('a failure records its class, but not the gateway’s message, which may be private', async () => {
    const says = { error: { message: 'You asked for A secret', code: 'bad_prompt' } };
    const { observer, spans } = traced();
    const { client } = scripted([json(says, 400)], { observer });

    await failureOf(client.chat.completions.create(ask));

    const call = spans().at(-1);
    expect(call?.attributes['error.type']).toBe('BadRequestError');
    expect(call?.status).toEqual({
      code: SpanStatusCode.ERROR,
      message: 'BadRequestError 400 bad_prompt',
    });
    expect(
      JSON.stringify(spans().map(({ attributes, status }) => [attributes, status])),
    ).not.toContain('A secret');
  });

  test('a failure of the connection is recorded in full', async () => {
    const { observer, calls } = traced();
    const { client, emulator } = emulated({ observer, maxRetries: 0 });
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });

    await failureOf(client.images.generate({ model: 'gpt-image-1', prompt: 'A boat' }));

    expect(calls()[0]).toMatchObject({
      status: { message: expect.stringContaining('lost its connection') },
      attributes: {
        'error.type': 'APIConnectionError',
        'model_gateway.outcome': 'unknown',
        'model_gateway.charge_class': 'charged',
      },
    });
  });
});

test('records nothing and does not fail without an SDK', async () => {
  const { client } = emulated({ observer: openTelemetry() });

  const { ref } = await client.videos.create({ model: 'sora-2', prompt: 'A boat' });
  await client.videos.retrieve(ref);

  expect(ref).not.toHaveProperty('trace');
});

test('the provider name is an option', async () => {
  const { observer, calls } = traced({ providerName: 'acme' });
  const { client } = emulated({ observer });

  await client.chat.completions.create(ask);

  expect(calls()[0]?.attributes['gen_ai.provider.name']).toBe('acme');
});

test.each([
  { name: 'semconv', value: '1.30', problem: 'semconv: must be "1.41" or "0.1.0".' },
  { name: 'captureContent', value: 'yes', problem: 'captureContent: must be true or false.' },
  { name: 'providerName', value: '', problem: 'providerName: must be a name such as "openai".' },
  { name: 'tracerProvider', value: {}, problem: 'tracerProvider: must have a method getTracer().' },
  { name: 'meterProvider', value: {}, problem: 'meterProvider: must have a method getMeter().' },
])('an invalid $name is rejected', ({ name, value, problem }) => {
  const options: object = { [name]: value };

  expect(() => openTelemetry(options)).toThrow(problem);
});
