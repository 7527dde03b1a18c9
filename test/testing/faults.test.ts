import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Operation } from '../../src/index.ts';
import {
  createEmulator,
  type Fault,
  type FaultRule,
  type Quirks,
  type StreamFault,
} from '../../src/testing/index.ts';
import { eventData, newClient, type PlainClient } from '../helpers/emulator-client.ts';
import { untyped } from '../helpers/untyped.ts';

const embedding = { model: 'm-embedding', input: 'tea' };

/** Sends an embeddings request that meets a fault. */
async function faulty(fault: Fault): Promise<PlainClient & { readonly response: Response }> {
  const client = newClient();
  client.emulator.fail({ fault });
  return { ...client, response: await client.post('/v1/embeddings', embedding) };
}

/** The data of the events of a streamed chat answer that meets a fault; an error ends them. */
async function streamed(fault: StreamFault): Promise<{ text: string; error: unknown }> {
  const { emulator, chat } = newClient();
  emulator.fail({ fault });
  const response = await chat('Hi', { stream: true });
  let text = '';
  try {
    for await (const piece of response.body ?? []) text += new TextDecoder().decode(piece);
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  } finally {
    expect(emulator.charges).toHaveLength(1);
  }
}

const eventsIn = (text: string): number => text.split('\n\n').length - 1;

afterEach(() => {
  vi.useRealTimers();
});

describe('a fault', () => {
  test('a fault hits one request by default', async () => {
    const { emulator, post } = newClient();
    const fault = emulator.fail({ fault: { type: 'html', status: 502 } });

    const statuses = [];
    for (let count = 0; count < 2; count += 1) {
      statuses.push((await post('/v1/embeddings', embedding)).status);
    }

    expect(statuses).toEqual([502, 200]);
    expect([fault.hits, fault.remaining]).toEqual([1, 0]);
    expect(emulator.faults).toEqual([]);
  });

  test('a fault hits the matching requests as often as configured', async () => {
    const { emulator, post, get } = newClient();
    emulator.fail({
      operation: ['embeddings.create', 'images.generate'],
      fault: { type: 'bare', status: 429 },
      times: 2,
      after: 1,
      when: ({ body }) => body.kind === 'json' && JSON.stringify(body.value).includes('tea'),
    });

    const statuses = [(await get('/v1/models')).status];
    for (const input of ['tea', 'coffee', 'tea', 'tea', 'tea']) {
      statuses.push((await post('/v1/embeddings', { ...embedding, input })).status);
    }

    expect(statuses).toEqual([200, 200, 200, 429, 429, 200]);
  });

  test('a fault can be removed', async () => {
    const { emulator, post } = newClient();
    const first = emulator.fail({ fault: { type: 'html', status: 502 }, times: Infinity });

    first.remove();

    expect((await post('/v1/embeddings', embedding)).status).toBe(200);
  });

  test('a fault affects only requests with the right key', async () => {
    const { emulator } = newClient();
    emulator.fail({ fault: { type: 'html', status: 502 } });

    expect((await emulator.fetch('/v1/models')).status).toBe(401);
    expect(emulator.faults).toHaveLength(1);
  });
});

describe('a lost connection', () => {
  test.each([
    ['before-body', 0],
    ['before-charge', 0],
    ['after-charge', 1],
  ] as const)('%s rejects like fetch, with %d charges', async (when, charges) => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'reset', when } });

    await expect(post('/v1/embeddings', embedding)).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: 'ECONNRESET' },
    });
    expect(emulator.charges).toHaveLength(charges);
    expect(emulator.requests[0]?.body.kind).toBe(when === 'before-body' ? 'none' : 'json');
    expect(emulator.requests[0]?.status).toBeUndefined();
  });

  test('a lost connection hangs until the caller aborts', async () => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'hang', charged: true } });
    const giveUp = new AbortController();

    const pending = post('/v1/embeddings', embedding, { signal: giveUp.signal });
    await expect.poll(() => emulator.charges).toHaveLength(1);
    giveUp.abort(new Error('enough'));

    await expect(pending).rejects.toThrow('enough');
    await expect.poll(() => emulator.requests[0]?.disconnected).toBe(true);
  });

  test('a slow response is only delayed', async () => {
    vi.useFakeTimers();
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'slow', milliseconds: 60_000 } });
    const settled = vi.fn();

    const pending = post('/v1/embeddings', embedding);
    void pending.then(settled);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);

    expect((await pending).status).toBe(200);
  });
});

describe('another response', () => {
  test.each([
    ['openai', { error: { message: 'No.', type: 'upstream_error', param: '', code: 'busy' } }],
    ['openai-short', { error: { message: 'No.', type: 'upstream_error' } }],
    ['task', { code: 'busy', message: 'No.', data: null }],
    ['console', { success: false, message: 'No.' }],
    ['bare', { message: 'No.', type: 'upstream_error', param: '', code: 'busy' }],
    ['google', { error: { code: 503, message: 'No.', status: 'UNAVAILABLE' } }],
    ['google-array', [{ error: { code: 503, message: 'No.', status: 'UNAVAILABLE' } }]],
    ['anthropic', { type: 'error', error: { type: 'upstream_error', message: 'No.' } }],
    ['string', { error: 'No.' }],
  ] as const)('another response is an error in the shape "%s"', async (envelope, expected) => {
    const { response, emulator } = await faulty({
      type: 'error',
      status: 503,
      envelope,
      message: 'No.',
      code: 'busy',
      errorType: 'upstream_error',
    });

    expect(response.status).toBe(503);
    expect(await response.json()).toEqual(expected);
    expect(emulator.charges).toEqual([]);
  });

  test("another response ends with the request id if the message is the gateway's", async () => {
    const { response, emulator } = await faulty({ type: 'error', status: 503, message: 'No.' });

    const message = `No. (request id: ${emulator.requests[0]?.id})`;
    expect(await response.json()).toMatchObject({ error: { message, type: 'new_api_error' } });
  });

  test('another response can be an error labelled as a stream', async () => {
    const { response } = await faulty({
      type: 'error',
      status: 429,
      contentType: 'text/event-stream',
      code: null,
    });

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.json()).toMatchObject({ error: { code: null } });
  });

  test('another response can follow the charge', async () => {
    const { emulator, post } = newClient();
    emulator.fail({
      operation: 'videos.create',
      fault: { type: 'error', status: 201, code: 'fail_to_fetch_task', charged: true },
    });

    const response = await post('/v1/videos', { model: 'm-video', prompt: 'a cat' });

    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ code: 'fail_to_fetch_task', data: null });
    expect(emulator.charges).toHaveLength(1);
    expect(emulator.videos.list).toHaveLength(1);
  });

  test.each([200, 502, 524])('another response can be an HTML page with %d', async (status) => {
    const { response } = await faulty({ type: 'html', status });

    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(/^<!doctype html>/);
  });

  test('another response can be a status without a body, or with Retry-After', async () => {
    const { response: bare } = await faulty({ type: 'bare', status: 429 });
    const { response: limited } = await faulty({ type: 'rate-limit', retryAfter: 7 });

    expect([bare.status, await bare.text(), bare.headers.get('retry-after')]).toEqual([
      429,
      '',
      null,
    ]);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  });

  test('another response can be a redirect to another origin', async () => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'redirect' }, times: 3 });

    const seen = await post('/v1/embeddings', embedding, { redirect: 'manual' });
    const followed = await post('/v1/embeddings', embedding);
    const refused = post('/v1/embeddings', embedding, { redirect: 'error' });

    expect(seen.status).toBe(302);
    expect(seen.headers.get('location')).toBe('http://files.emulator.test/files/elsewhere');
    expect([followed.status, followed.redirected]).toEqual([404, true]);
    await expect(refused).rejects.toThrow('fetch failed');
    expect(emulator.charges).toEqual([]);
  });
});

describe('a rejection of the vendor', () => {
  const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] };
  const generate = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
  const json = 'application/json';

  test.each([
    {
      path: '/v1/chat/completions',
      body: chat,
      status: 429,
      type: json,
      code: 'rate_limit_exceeded',
    },
    { path: '/v1/chat/completions', body: chat, status: 500, type: json, code: null },
    {
      path: '/v1/chat/completions',
      body: { ...chat, stream: true },
      status: 429,
      type: 'text/event-stream',
      code: 'rate_limit_exceeded',
    },
    {
      path: '/v1beta/models/gemini-2.5-flash:generateContent',
      body: generate,
      status: 429,
      type: json,
      code: 429,
    },
    {
      path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      body: generate,
      status: 503,
      type: 'text/event-stream',
      code: 503,
    },
    {
      path: '/v1beta/models/gpt-4o:generateContent',
      body: generate,
      status: 401,
      type: json,
      code: 'invalid_api_key',
    },
    {
      path: '/v1/images/generations',
      body: { model: 'gpt-image-1', prompt: 'A fox', stream: true },
      status: 400,
      type: json,
      code: null,
    },
  ])(
    '$path with $body: $status as $type, not charged',
    async ({ path, body, status, type, code }) => {
      const { emulator, post } = newClient();
      emulator.fail({ fault: { type: 'vendor-refusal', status } });

      const response = await post(path, body);

      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe(type);
      expect(response.headers.has('retry-after')).toBe(false);
      expect(await response.json()).toMatchObject({ error: { code } });
      expect(emulator.charges).toEqual([]);
    },
  );

  test.each([false, true])('an HTML page becomes JSON; stream: %s', async (stream) => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'vendor-refusal', status: 502, body: 'html' } });

    const response = await post('/v1/chat/completions', { ...chat, stream });

    expect(response.status).toBe(502);
    const code = 'bad_response_status_code';
    expect(await response.json()).toEqual({
      error: { message: 'openai_error', type: code, param: '', code },
    });
  });

  test('a download that the vendor rejects is a 502', async () => {
    const { emulator, post, get } = newClient({ videoDuration: 0 });
    const { id } = await (await post('/v1/videos', { model: 'sora-2', prompt: 'A boat' })).json();
    emulator.fail({ fault: { type: 'vendor-refusal', status: 404 } });

    const response = await get(`/v1/videos/${id}/content`);

    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      error: { message: 'Upstream service returned status 404', type: 'server_error' },
    });
  });

  test.each([
    ['new_api_error', 'application/json'],
    ['server_error', 'text/event-stream'],
  ])('an error of type %s in a stream is labelled %s', async (errorType, type) => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'error', status: 500, errorType } });

    const response = await post('/v1/chat/completions', { ...chat, stream: true });

    expect(response.headers.get('content-type')).toBe(type);
  });
});

describe('a broken body', () => {
  test.each(['reset', 'end'] as const)(
    'a broken body is truncated after some bytes by a %s',
    async (how) => {
      const { emulator, response } = await faulty({ type: 'cut', bytes: 10, how });

      let text = '';
      const read = async (): Promise<void> => {
        for await (const piece of response.body ?? []) text += new TextDecoder().decode(piece);
      };

      if (how === 'reset') await expect(read()).rejects.toMatchObject({ message: 'terminated' });
      else await read();
      expect(text).toBe('{"object":');
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('stalls after some bytes until the caller aborts', async () => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'stall', bytes: 5 } });
    const giveUp = new AbortController();

    const response = await post('/v1/embeddings', embedding, { signal: giveUp.signal });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    const second = reader?.read();
    giveUp.abort(new Error('enough'));

    expect(new TextDecoder().decode(first?.value)).toBe('{"obj');
    await expect(second).rejects.toThrow('enough');
    expect(emulator.requests[0]?.disconnected).toBe(true);
  });

  test('a broken body is slow', async () => {
    vi.useFakeTimers();
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'drip', milliseconds: 10, bytes: 100 } });
    const response = await post('/v1/embeddings', { ...embedding, dimensions: 16 });
    const settled = vi.fn();

    const pending = response.json();
    void pending.then(settled);
    await vi.advanceTimersByTimeAsync(20);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1000);

    expect(await pending).toMatchObject({ object: 'list' });
  });

  test.each([
    { path: '/v1/embeddings', body: embedding, expected: '"data":[]' },
    {
      path: '/v1/images/generations',
      body: { model: 'm-image', prompt: 'x' },
      expected: '"data":[]',
    },
    { path: '/v1/audio/speech', body: { model: 'm-speech', input: 'x' }, expected: '' },
    {
      path: '/v1/chat/completions',
      body: { model: 'm', messages: [{ role: 'user' }] },
      expected: '"choices":[]',
    },
  ])('the body of $path is empty', async ({ path, body, expected }) => {
    const { emulator, post } = newClient();
    emulator.fail({ fault: { type: 'empty' } });

    const response = await post(path, body);

    expect(response.status).toBe(200);
    const text = await response.text();
    expect(expected === '' ? text === '' : text.includes(expected)).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });
});

describe('a broken stream', () => {
  test('a broken stream is truncated after some events', async () => {
    const { text, error } = await streamed({ type: 'cut-events', after: 2 });

    expect(eventsIn(text)).toBe(2);
    expect(error).toMatchObject({ message: 'terminated', cause: { code: 'ECONNRESET' } });
  });

  test.each([true, false])('never finishes, with [DONE]: %j', async (done) => {
    const { text, error } = await streamed({ type: 'no-finish', done });

    expect(error).toBeUndefined();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(done);
    expect(text).not.toContain('"finish_reason":"stop"');
    expect(text).toContain('{"content":"large"}');
  });

  test('a broken stream has only its usage and its end', async () => {
    const { emulator, chat } = newClient();
    emulator.fail({ fault: { type: 'empty' } });

    const data = await eventData(await chat('Hi', { stream: true }));

    expect(data).toHaveLength(2);
    expect(data[0]).toContain('"usage"');
  });

  // The gateway counts itself where the usage of the vendor did not come.
  const counted =
    'data: {"id":"","object":"chat.completion.chunk","created":0,"model":"","system_fingerprint":"","choices":[],"usage":{}}\n\n';
  const error = '{"message":"No.","type":"server_error","param":null,"code":null}';

  test.each([
    ['error-data', `data: {"error":${error}}\n\n${counted}data: [DONE]\n\n`],
    ['error-event', `event: error\ndata: {"error":${error}}\n\n`],
    [
      'typed-data',
      'data: {"type":"error","error":{"type":"overloaded_error","message":"No."}}\n\ndata: [DONE]\n\n',
    ],
    ['bare-json', `{"error":${error}}`],
    ['plain-text', 'No.'],
    [
      'blank-chunk',
      'data: {"id":"","object":"","created":0,"model":"","system_fingerprint":null,"choices":null,"usage":null}\n\ndata: [DONE]\n\n',
    ],
  ] as const)('a broken stream sends an error as %s', async (shape, end) => {
    const fault = { type: 'stream-error', after: 1, shape, message: 'No.' } as const;

    const { text } = await streamed(fault);

    const rest = text.slice(text.indexOf('\n\n') + 2);
    expect(rest.replace(/"usage":\{.*\}/, '"usage":{}}')).toBe(end);
  });

  test('a broken stream has an event that is not JSON', async () => {
    const { text } = await streamed({ type: 'garbled-event', after: 1 });

    expect(text.split('\n\n')[1]).toBe('data: {"id": "chatcmpl-');
    expect(text).toContain('[DONE]');
  });

  test('a broken stream arrives if JSON was requested, and the other way round', async () => {
    const { emulator, chat } = newClient();
    emulator.fail({ fault: { type: 'other-mode' }, times: 2 });

    const types = [];
    for (const stream of [true, false, false]) {
      types.push((await chat('Hi', { stream })).headers.get('content-type'));
    }

    expect(types).toEqual(['application/json', 'text/event-stream', 'application/json']);
  });

  test('a broken stream sends only heartbeats', async () => {
    vi.useFakeTimers();
    const { emulator, chat } = newClient();
    emulator.fail({ fault: { type: 'stall-events', after: 1, heartbeat: 1000 } });
    const response = await chat('Hi', { stream: true });
    const reader = response.body?.getReader();
    const pieces: string[] = [];

    const read = async (): Promise<void> => {
      for (let count = 0; count < 4; count += 1) {
        pieces.push(new TextDecoder().decode((await reader?.read())?.value));
      }
    };
    await Promise.all([read(), vi.advanceTimersByTimeAsync(5000)]);
    await reader?.cancel();

    expect(pieces.slice(1)).toEqual([': PING\n\n', ': PING\n\n', ': PING\n\n']);
    expect(emulator.requests[0]?.disconnected).toBe(true);
    await vi.advanceTimersByTimeAsync(2000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('stalls after some events', async () => {
    const { emulator, chat } = newClient();
    emulator.fail({ fault: { type: 'stall-events', after: 1 } });

    const response = await chat('Hi', { stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    const pending = reader?.read();
    await reader?.cancel();

    expect(await pending).toMatchObject({ done: true });
    expect(emulator.requests[0]?.disconnected).toBe(true);
  });
});

describe('a fault of a video task', () => {
  test('a fault of a video task hides the task for some requests', async () => {
    const { emulator, post, get } = newClient();
    const { id } = await (await post('/v1/videos', { model: 'm-video', prompt: 'a cat' })).json();
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'task-not-exist' }, times: 2 });
    emulator.fail({ operation: 'videos.downloadContent', fault: { type: 'task-not-exist' } });

    const statuses = [];
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await get(`/v1/videos/${id}`)).status);
    }

    expect(statuses).toEqual([400, 400, 200]);
    expect((await get(`/v1/videos/${id}/content`)).status).toBe(404);
  });

  test('a fault of a video task can use another status', async () => {
    const { emulator, post, get } = newClient();
    const { id } = await (await post('/v1/videos', { model: 'm-video', prompt: 'a cat' })).json();
    emulator.fail({ fault: { type: 'status-word', word: 'Warming up' }, times: 2 });

    const general = await (await get(`/v1/videos/${id}`)).json();
    const vendor = await (await get(`/kling/v1/videos/text2video/${id}`)).json();

    expect([general.status, vendor.data.status]).toEqual(['Warming up', 'Warming up']);
  });

  test('a fault of a video task removes the content, or redirects to it', async () => {
    const { emulator, post, get } = newClient({ videoDuration: 0 });
    const { id } = await (await post('/v1/videos', { model: 'm-video', prompt: 'a cat' })).json();
    emulator.fail({ fault: { type: 'expired-content' } });
    emulator.fail({ operation: 'videos.downloadContent', fault: { type: 'redirect' } });

    const expired = await get(`/v1/videos/${id}/content`);
    const redirected = await get(`/v1/videos/${id}/content`);

    expect(expired.status).toBe(410);
    expect([redirected.status, redirected.redirected]).toEqual([200, true]);
  });
});

describe('an impossible fault', () => {
  const { emulator } = newClient();
  const fault = { type: 'hang' };

  test.each([
    ['fault.type', { fault: { type: 'rest' } }],
    ['fault.type', {}],
    ['operation', { fault, operation: 'video.create' }],
    ['operation', { fault, operation: ['videos.create', 'nope'] }],
  ])('an impossible fault is rejected by its %s: %j', (field, rule) => {
    expect(() => emulator.fail(untyped<FaultRule>(rule))).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining('use one of') }),
    );
    expect(emulator.faults).toEqual([]);
  });

  test.each([
    ['fault.status', { type: 'html' }],
    ['fault.after', { type: 'garbled-event' }],
    ['fault.shape', { type: 'stream-error', after: 1 }],
  ])('an incomplete fault is rejected by its missing field, %s', (field, incomplete) => {
    expect(() => emulator.fail(untyped<FaultRule>({ fault: incomplete }))).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining('is missing') }),
    );
    expect(emulator.faults).toEqual([]);
  });

  test('an impossible fault is rejected as a quirk or a prepared response too', () => {
    const quirks = untyped<Quirks>({ chatFinnish: true });

    expect(() => createEmulator({ quirks })).toThrow(/^quirks: "chatFinnish" is not known/);
    expect(() => emulator.respondOnce(untyped<Operation>('nope'), () => Response.json({}))).toThrow(
      /^operation: "nope" is not known/,
    );
  });
});
