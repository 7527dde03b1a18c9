import { describe, expect, test, vi } from 'vitest';
import {
  APIError,
  InvalidInputError,
  StreamTruncatedError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
} from '../../../src/index.ts';
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

const model = 'm-speech';
const input = 'Hello, world!';

/** An answer with these bytes. */
function sound(bytes: BodyInit | null, type?: string): () => Response {
  return () => new Response(bytes, type === undefined ? {} : { headers: { 'content-type': type } });
}

describe('audio.speech.create()', () => {
  test('returns a Response with the audio and its type', async () => {
    const { client, emulator } = emulated();

    const speech = await client.audio.speech.create({ model, input, voice: 'alloy' });

    expect(speech).toBeInstanceOf(Response);
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    const bytes = new Uint8Array(await speech.arrayBuffer());
    expect([...bytes.subarray(0, 3)]).toEqual([...Buffer.from('ID3')]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('sends the parameters unchanged', async () => {
    const { client, requests } = scripted([sound('abc', 'audio/mpeg')]);
    const params = { model, input, voice: 'alloy', response_format: 'mp3', speed: 1.5 };

    await client.audio.speech.create(params, { extraBody: { seed: 4 } });

    expect(requests[0]?.url).toBe('https://gateway.test/v1/audio/speech');
    expect(await bodyOf(requests[0])).toEqual({ ...params, seed: 4 });
  });

  test('returns other formats', async () => {
    const { client } = emulated();

    const speech = await client.audio.speech.create({ model, input, response_format: 'wav' });

    const bytes = await speech.bytes();
    expect(Buffer.from(bytes.subarray(0, 4)).toString()).toBe('RIFF');
  });

  test('streams: the first bytes arrive before the last are sent', async () => {
    let more: (() => void) | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('first'));
        more = () => {
          controller.enqueue(Buffer.from('last'));
          controller.close();
        };
      },
    });
    const { client } = scripted([sound(body, 'audio/mpeg')]);

    const speech = await client.audio.speech.create({ model, input });
    const reader = speech.body?.getReader();
    const first = await reader?.read();
    more?.();
    const last = await reader?.read();

    expect(Buffer.from(first?.value ?? []).toString()).toBe('first');
    expect(Buffer.from(last?.value ?? []).toString()).toBe('last');
  });

  test('returns the request id with the response', async () => {
    const { client, emulator } = emulated();

    const answer = await client.audio.speech.create({ model, input }).withResponse();

    expect(answer.request_id).toBe(emulator.requests[0]?.id);
    expect(await answer.data.arrayBuffer()).not.toHaveProperty('byteLength', 0);
  });

  test.each(['octet-stream', 'missing'] as const)(
    'audio with an unusual content type is audio: %s',
    async (speechType) => {
      const { client } = emulated({}, { quirks: { speechType } });
      const speech = await client.audio.speech.create({ model, input });
      expect((await speech.arrayBuffer()).byteLength).toBeGreaterThan(100);
    },
  );

  test('a redirect to a file is followed without the key', async () => {
    const { client, emulator } = emulated({}, { quirks: { speechDelivery: 'redirect' } });

    const { data, request_id: requestId } = await client.audio.speech
      .create({ model, input })
      .withResponse();

    expect((await data.arrayBuffer()).byteLength).toBeGreaterThan(100);
    expect(requestId).toBe(emulator.requests[0]?.id);
    expect(emulator.requests.map(({ method, hasKey }) => [method, hasKey])).toEqual([
      ['POST', true],
      ['GET', false],
    ]);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['is gone', () => new Response('gone', { status: 404 })],
    ['cannot be reached', () => new TypeError('fetch failed')],
  ])('speech whose file %s is not requested again', async (_, answer) => {
    const location = 'https://files.test/speech.mp3';
    const redirect = (): Response => new Response(null, { status: 302, headers: { location } });
    const { client, requests } = scripted([redirect, answer]);

    const error = await failureOf(client.audio.speech.create({ model, input }));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(requests.map(({ method, url }) => [method, url])).toEqual([
      ['POST', 'https://gateway.test/v1/audio/speech'],
      ['GET', location],
    ]);
    expect(requests[1]?.headers.has('authorization')).toBe(false);
  });

  test.each([
    [301, 'https://www.gateway.test/v1/audio/speech'],
    [307, 'https://files.test/speech.mp3'],
    [308, 'https://files.test/speech.mp3'],
  ])('a redirect that preserves the method (%i) is not followed', async (status, to) => {
    const { client, requests } = scripted([
      () => new Response(null, { status, headers: { location: to } }),
    ]);

    const error = await failureOf(client.audio.speech.create({ model, input }));

    expect(error).toBeInstanceOf(UnexpectedRedirectError);
    expect(requests).toHaveLength(1);
  });

  test('is repeated after a failure, because it is metered', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 503 } });

    await expect(client.audio.speech.create({ model, input })).resolves.toBeInstanceOf(Response);

    expect(emulator.requests).toHaveLength(2);
  });
});

describe('responses without audio', () => {
  test('an empty body rejects, and the request is not repeated', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'empty' } });

    const error = await failureOf(client.audio.speech.create({ model, input }));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(emulator.requests).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    [{ error: { message: 'no such voice', code: 'invalid_voice' } }, { code: 'invalid_voice' }],
    [{ success: false, message: 'no such voice' }, { status: 200 }],
  ])('an error in JSON with status 200 rejects: %j', async (body, expected) => {
    const { client } = scripted([json(body)]);

    const error = await failureOf(client.audio.speech.create({ model, input }));

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject(expected);
    expect(String(error)).toContain('no such voice');
  });

  test('audio in JSON, as Mistral sends it, becomes a file', async () => {
    const wav = Buffer.from('RIFF____WAVEfmt and so on');
    const { client } = scripted([json({ audio_data: wav.toString('base64') })]);

    const response = await client.audio.speech.create({ model, input });

    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(wav);
  });

  test.each(['', 'no base64!', 7, null])('JSON without audio rejects: %j', async (data) => {
    const { client } = scripted([json({ audio_data: data })]);

    const speech = client.audio.speech.create({ model, input });

    await expect(speech).rejects.toBeInstanceOf(UnexpectedResponseError);
  });

  test('any other JSON rejects, with the body on the error', async () => {
    const { client } = scripted([json({ data: { sound: 'AAAA' } })]);

    const error = await failureOf(client.audio.speech.create({ model, input }));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ body: '{"data":{"sound":"AAAA"}}' });
  });

  test('an HTML page rejects', async () => {
    const { client } = scripted([sound('<!doctype html><title>Console</title>', 'text/html')]);
    await expect(client.audio.speech.create({ model, input })).rejects.toThrow('baseURL');
  });

  test('truncated audio fails while it is read', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'cut', bytes: 50 } });

    const speech = await client.audio.speech.create({ model, input });

    await expect(speech.arrayBuffer()).rejects.toThrow();
    expect(emulator.requests).toHaveLength(1);
  });

  test('stalled audio fails after idleTimeout', async () => {
    vi.useFakeTimers();
    try {
      const { client, emulator } = emulated({ idleTimeout: 5_000 });
      emulator.fail({ fault: { type: 'stall', bytes: 50 } });

      const speech = await client.audio.speech.create({ model, input });
      const failed = failureOf(speech.arrayBuffer());
      await vi.advanceTimersByTimeAsync(6_000);

      expect(String(await failed)).toContain('idleTimeout');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('speech as events', () => {
  const delta = { type: 'speech.audio.delta', audio: btoa('a') };
  const done = { type: 'speech.audio.done', usage: { total_tokens: 3 } };
  const params = { model, input, stream_format: 'sse' } as const;

  test('speech as events yields chunks of audio that add up to the file', async () => {
    const { client } = emulated();
    const file = await (await client.audio.speech.create({ model, input })).arrayBuffer();

    const stream = await client.audio.speech.create(params);
    const pieces: Buffer[] = [];
    for await (const event of stream) {
      if (event.type === 'speech.audio.delta') pieces.push(Buffer.from(event.audio, 'base64'));
    }

    expect(Buffer.concat(pieces).equals(Buffer.from(file))).toBe(true);
    expect(stream.usage).toMatchObject({ total_tokens: expect.any(Number) });
  });

  test("speech as events reads audio from Mistral's field", async () => {
    const { client } = scripted([
      eventStream({ type: 'speech.audio.delta', audio_data: btoa('a') }, done),
    ]);

    const [first] = await collect(await client.audio.speech.create(params));

    expect(first).toMatchObject(delta);
  });

  test('speech as events ends with its last event, without [DONE]', async () => {
    const { client } = scripted([eventStream(delta, done)]);

    const stream = await client.audio.speech.create(params);

    await expect(collect(stream)).resolves.toEqual([delta, done]);
    expect(stream.verdict).toBe('complete');
  });

  test('speech as events throws if the last event is missing, unless onTruncated allows it', async () => {
    const { client } = scripted([eventStream(delta)]);

    const cut = await failureOf(collect(await client.audio.speech.create(params)));
    const stream = await client.audio.speech.create(params, { onTruncated: 'allow' });

    expect(cut).toBeInstanceOf(StreamTruncatedError);
    await expect(collect(stream)).resolves.toEqual([delta]);
  });

  test.each(['audio/mpeg', 'application/octet-stream'])(
    'a file of type %s in place of events becomes events',
    async (type) => {
      const bytes = Uint8Array.from({ length: 60_000 }, (_, index) => (index * 7) % 251);
      const { client } = scripted([sound(bytes, type)]);

      const items = await collect(await client.audio.speech.create(params));

      const pieces = items.map((item) =>
        item.type === 'speech.audio.delta' ? Buffer.from(item.audio, 'base64') : Buffer.alloc(0),
      );
      expect(Buffer.concat(pieces).equals(Buffer.from(bytes))).toBe(true);
      expect(items.at(-1)).toEqual({ type: 'speech.audio.done' });
    },
  );

  test('an error in place of events rejects', async () => {
    const { client } = scripted([json({ error: { message: 'no such voice' } })]);
    await expect(client.audio.speech.create(params)).rejects.toThrow('no such voice');
  });
});

describe('bad input', () => {
  test.each([
    ['model', { model: ' ' }],
    ['input', { input: '' }],
    ['input', { input: undefined }],
    ['speed', { speed: Number.NaN }],
    ['speed', { speed: '2' }],
    ['voice', { voice: '' }],
    ['voice', { voice: 7 }],
  ])('%s is rejected before anything is sent: %j', async (field, params) => {
    const { client, requests } = scripted([]);

    const error = await failureOf(
      misuse(client.audio.speech, 'create', { model, input, ...params }),
    );

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });

  test('a voice object is rejected, because gateways cannot read it', async () => {
    const { client, requests } = scripted([]);
    const params = { model, input, voice: { id: 'voice_1' } };

    const error = await failureOf(misuse(client.audio.speech, 'create', params));

    expect(error).toMatchObject({ field: 'voice' });
    expect(requests).toHaveLength(0);
  });

  test.each([undefined, null, 'Hello', []])('%j is rejected as parameters', async (params) => {
    const { client } = scripted([]);
    await expect(misuse(client.audio.speech, 'create', params)).rejects.toBeInstanceOf(
      InvalidInputError,
    );
  });
});
