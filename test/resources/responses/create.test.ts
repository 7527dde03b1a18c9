import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  APIError,
  InvalidInputError,
  type ResponseCreateParamsNonStreaming,
  ResponseFailedError,
  StreamError,
  StreamTruncatedError,
  UnexpectedResponseError,
  responseFormat,
  tool,
  usageOf,
} from '../../../src/index.ts';
import * as z from 'zod';
import { cutResponse } from '../../helpers/failures.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { error, text } from '../../helpers/transport.ts';
import { settle } from '../../helpers/fake-time.ts';

const ask: ResponseCreateParamsNonStreaming = { model: 'm', input: 'Hello' };

const message = (content: unknown, fields = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content,
  ...fields,
});
const part = (content: unknown) => ({ type: 'output_text', text: content, annotations: [] });

const whole = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  error: null,
  incomplete_details: null,
  output: [message([part('Hel'), part('lo')])],
  text: { format: { type: 'text' } },
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};

describe('create()', () => {
  test('requests a response, and returns its text', async () => {
    const { client, emulator } = emulated();

    const response = await client.responses.create({ model: 'm-chat', input: 'Hello' });

    expect(response).toMatchObject({ object: 'response', status: 'completed', error: null });
    expect(response.output_text).toContain('Hello');
    expect(response._request_id).toEqual(expect.any(String));
    expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/responses',
    ]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('sends the parameters unchanged, with extraBody', async () => {
    const { client, requests } = scripted([json(whole)]);
    const params = {
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi', vendor: null }] }],
      instructions: null,
      include: ['reasoning.encrypted_content'],
      previous_response_id: 'resp_0',
      store: false,
      background: true,
      prompt_cache_key: 'k',
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
        { type: 'custom', name: 'c' },
        { type: 'web_search', filters: { allowed_domains: ['example.com'] } },
      ],
      reasoning: { effort: 'low', summary: 'auto' },
    } satisfies ResponseCreateParamsNonStreaming | { input: unknown };

    await client.responses.create(params, { extraBody: { vendor: { a: 1 } } });

    expect(await bodyOf(requests[0])).toEqual({ ...params, vendor: { a: 1 } });
  });

  test('has the raw response', async () => {
    const { client } = scripted([json(whole)]);

    const { data, response } = await client.responses.create(ask).withResponse();
    expect(data.output_text).toBe('Hello');
    expect(response.status).toBe(200);
    const raw = await client.responses.create(ask).asResponse();
    expect(await raw.json()).toEqual(whole);
  });

  test('sends functions of tool() and formats of responseFormat() in the format of this API', async () => {
    const { client, requests } = scripted([json(whole)]);
    const format = responseFormat(z.object({ city: z.string() }), 'place');
    const { schema } = format.json_schema;
    const weather = tool({ name: 'weather', schema: z.object({ city: z.string() }) });

    await client.responses.create({ ...ask, text: { format, verbosity: 'low' }, tools: [weather] });

    expect(await bodyOf(requests[0])).toEqual({
      ...ask,
      text: {
        format: { type: 'json_schema', name: 'place', schema, strict: true },
        verbosity: 'low',
      },
      tools: [{ type: 'function', ...weather.function }],
    });
  });

  test.each([
    ['no model', { input: 'x' }, 'model'],
    ['a blank model', { model: ' ', input: 'x' }, 'model'],
    ['no input', { model: 'm' }, 'input'],
    ['a null input', { model: 'm', input: null }, 'input'],
    ['an empty text', { model: 'm', input: '' }, 'input'],
    ['an empty list', { model: 'm', input: [] }, 'input'],
    ['an item that is text', { model: 'm', input: ['Hello'] }, 'input[0]'],
    ['an input of one item', { model: 'm', input: { role: 'user', content: 'x' } }, 'input'],
    ['a prompt that is text', { input: 'x', prompt: 'pmpt_1' }, 'model'],
    ['nothing', undefined, 'params'],
  ])('rejects %s before anything is sent', async (_, params, field) => {
    const { client, requests } = scripted([json(whole)]);

    for (const method of ['create', 'parse']) {
      const failure = await failureOf(misuse(client.responses, method, params));
      expect(failure).toBeInstanceOf(InvalidInputError);
      expect(failure).toHaveProperty('field', field);
    }
    expect(requests).toHaveLength(0);
  });

  test('needs neither model nor input with a stored prompt', async () => {
    const { client, requests } = scripted([json(whole)]);
    const params = { prompt: { id: 'pmpt_1', variables: { city: 'Lisbon' } } };

    await client.responses.create(params);

    expect(await bodyOf(requests[0])).toEqual(params);
  });
});

describe('retries', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('a request is retried until the response begins', async () => {
    const { client, requests } = scripted([error('x', 500), json(whole)]);
    const { value } = await settle(client.responses.create(ask));
    expect(value?.output_text).toBe('Hello');
    expect(requests).toHaveLength(2);
  });

  test('never after a lost response, or if the caller excludes it', async () => {
    const cut = scripted([() => cutResponse(JSON.stringify(whole).slice(0, 50))]);
    await settle(cut.client.responses.create(ask));
    expect(cut.requests).toHaveLength(1);

    const strict = scripted([error('x', 500)]);
    await settle(strict.client.responses.create(ask, { retryUnknownOutcome: false }));
    expect(strict.requests).toHaveLength(1);
  });
});

describe('output_text', () => {
  test.each([
    ['several messages', [message([part('a')]), message([part('b'), part('c')])], 'abc'],
    ['no messages', [{ type: 'function_call', name: 'f', arguments: '{}', call_id: 'c' }], ''],
    ['reasoning', [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }] }], ''],
    ['a refusal', [message([{ type: 'refusal', refusal: 'No.' }])], ''],
    ['null texts and parts', [message([part(null), null, part('a')]), null], 'a'],
    ['a null content', [message(null), message([part('a')])], 'a'],
    ['text without parts', [message('a')], 'a'],
    ['an item without a type', [{}, message([part('a')])], 'a'],
    ['a message without a type', [message([part('a')], { type: undefined })], 'a'],
    ['a part of another type', [message([{ type: 'text', text: 'a' }])], 'a'],
    ['plain text', 'a', 'a'],
  ])('output_text is the text of %s', async (_, output, expected) => {
    const { client } = scripted([json({ ...whole, output, output_text: null })]);

    const response = await client.responses.create(ask);

    expect(response.output_text).toBe(expected);
    for (const item of response.output) {
      if (item.type === 'message') expect(Array.isArray(item.content)).toBe(true);
    }
  });

  test('output_text of the gateway is kept only if there is no other', async () => {
    const sent = { ...whole, output_text: 'sent' };
    const { client } = scripted([json({ ...sent, output: [] }), json(sent)]);

    expect((await client.responses.create(ask)).output_text).toBe('sent');
    expect((await client.responses.create(ask)).output_text).toBe('Hello');
  });
});

describe('statuses', () => {
  test.each([
    ['queued', { output: [] }],
    ['queued', { output: null }],
    ['in_progress', { output: undefined }],
    ['queued', { output: undefined, object: undefined }],
  ])('%s is returned with its id: %j', async (status, fields) => {
    const { client } = scripted([json({ ...whole, status, ...fields })]);

    const response = await client.responses.create({ ...ask, background: true });

    expect(response).toMatchObject({ id: 'resp_1', status, output: [], output_text: '' });
  });

  test.each([{ output: undefined }, { output: null }])(
    'completed without output is no response, whole or streamed: %j',
    async (fields) => {
      const sent = { ...whole, ...fields };
      const created = { type: 'response.created', response: { ...sent, status: 'in_progress' } };
      const events = eventStream(created, { type: 'response.completed', response: sent });
      for (const answer of [json(sent), events]) {
        const { client, requests } = scripted([answer]);

        const failures = [
          await failureOf(client.responses.create(ask)),
          await failureOf(
            client.responses.create({ ...ask, stream: true }).then((stream) => collect(stream)),
          ),
        ];

        for (const failure of failures) {
          expect(failure).toBeInstanceOf(APIError);
          expect(failure).toMatchObject({ outcome: 'unknown' });
        }
        expect(requests).toHaveLength(2);
      }
    },
  );

  test('incomplete is returned with its reason', async () => {
    const details = { reason: 'max_output_tokens' };
    const { client } = scripted([
      json({ ...whole, status: 'incomplete', incomplete_details: details }),
    ]);

    const response = await client.responses.create(ask);

    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: details });
  });

  test.each([
    ['with an error', { status: 'failed', error: { code: 'server_error', message: 'It broke.' } }],
    ['without a reason', { status: 'failed', error: null }],
    ['that claims to be complete', { error: { code: 'x', message: 'It broke.' } }],
    ['without an object', { object: undefined, id: 'x', status: 'failed' }],
  ])('failed %s is an error with the paid items', async (_, fields) => {
    const { client, requests } = scripted([json({ ...whole, ...fields })]);

    const failure = await failureOf(client.responses.create(ask));

    expect(failure).toBeInstanceOf(ResponseFailedError);
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ outcome: 'unknown', status: 200, usage: whole.usage });
    expect(failure).toHaveProperty('partial.output_text', 'Hello');
    expect(usageOf(failure)).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    expect(requests).toHaveLength(1);
  });

  test('failed has the code and the message of its error once', async () => {
    const broken = { code: 'server_error', message: 'It broke.' };
    const { client } = scripted([json({ ...whole, status: 'failed', error: broken })]);

    const failure = await failureOf(client.responses.create(ask));

    expect(failure).toMatchObject({ code: 'server_error', error: broken });
    expect(String(failure).split('It broke.')).toHaveLength(2);
  });

  test('failed without a reason says so', async () => {
    const { client } = scripted([json({ ...whole, status: 'failed' })]);

    const failure = await failureOf(client.responses.create(ask));

    expect(failure).toHaveProperty('message', expect.stringContaining('without a reason'));
  });

  test('the error of an item is not a failure', async () => {
    const call = { type: 'mcp_call', id: 'mcp_1', error: { message: 'no' }, status: 'failed' };
    const { client } = scripted([json({ ...whole, output: [call, ...whole.output] })]);

    const response = await client.responses.create(ask);

    expect(response.output[0]).toEqual(call);
    expect(response.output_text).toBe('Hello');
  });
});

describe('what is not a response', () => {
  test.each([
    ['an error', json({ error: { message: 'no', code: 'x' } }), APIError],
    ['an empty object', json({}), UnexpectedResponseError],
    ['a list', json([]), UnexpectedResponseError],
    ["another API's response", json({ choices: [], id: 'c' }), UnexpectedResponseError],
    ['nothing', text(''), UnexpectedResponseError],
    ['a page', text('<html><title>x</title></html>'), UnexpectedResponseError],
  ])('%s is an error', async (_, answer, ErrorClass) => {
    const { client, requests } = scripted([answer], { maxRetries: 0 });

    const failure = await failureOf(client.responses.create(ask));

    expect(failure).toBeInstanceOf(ErrorClass);
    expect(failure).not.toBeInstanceOf(ResponseFailedError);
    expect(requests).toHaveLength(1);
  });

  test('a response that strict validation rejects is no failed response', async () => {
    const { client } = scripted([json({ ...whole, created_at: {} })], { validation: 'strict' });

    const failure = await failureOf(client.responses.create(ask));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
  });

  test('unknown fields and types are kept, and nothing of a real response is drift', async () => {
    const output = [{ type: 'vendor_call', data: null }, ...whole.output];
    const { client, drifts } = scripted([json({ ...whole, output, vendor: { a: null } })]);

    const response = await client.responses.create(ask);

    expect(response).toMatchObject({ output, vendor: { a: null } });
    expect(drifts).toEqual([]);
  });
});

describe('events in place of JSON', () => {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'Hello' },
    { type: 'response.completed', response: { ...whole, output: [] } },
  ];

  test.each(['text/event-stream', 'application/json', 'text/plain'])(
    'labelled %s are collected',
    async (type) => {
      const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      const { client } = scripted([text(body, { headers: { 'content-type': type } })]);

      const response = await client.responses.create(ask);

      expect(response).toMatchObject({ id: 'resp_1', status: 'completed', output_text: 'Hello' });
      expect(response.usage).toEqual(whole.usage);
    },
  );

  test('events in place of JSON throw if they are cut or failed', async () => {
    const cut = scripted([eventStream(...events.slice(0, 3))]);
    const failure = await failureOf(cut.client.responses.create(ask));
    expect(failure).toBeInstanceOf(StreamTruncatedError);
    expect(failure).toHaveProperty('partial.output_text', 'Hello');
    expect(cut.requests).toHaveLength(1);

    const end = { type: 'response.failed', response: { ...whole, status: 'failed', output: [] } };
    const failed = scripted([eventStream(...events.slice(0, 3), end)]);
    expect(await failureOf(failed.client.responses.create(ask))).toBeInstanceOf(StreamError);
  });
});

describe('input of an earlier output', () => {
  const output = [
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [],
      encrypted_content: 'sealed',
      status: null,
      parsed: null,
    },
    { ...message([part('{"city":"Lisbon"}')], { phase: null, parsed: { mine: 1 } }) },
    { id: 'fc_1', type: 'function_call', name: 'f', arguments: '{}', call_id: 'c', caller: null },
    { type: 'custom_tool_call', name: 'c', input: 'x', call_id: 'd' },
    { type: 'vendor_call', text: null },
  ];
  const format = responseFormat(z.object({ city: z.string() }), 'place');

  test.each(['create', 'parse'] as const)(
    'an earlier output of %s() goes back as it came',
    async (method) => {
      const { client, requests } = scripted([json({ ...whole, output })]);

      const first = await client.responses[method]({ ...ask, text: { format } });
      await client.responses.create({ model: 'm', input: [...first.output] });
      const stored: typeof first = JSON.parse(JSON.stringify(first));
      await client.responses.create({ model: 'm', input: [...stored.output] });

      for (const request of requests.slice(1)) {
        expect(await bodyOf(request)).toEqual({ model: 'm', input: output });
      }
    },
  );
});
