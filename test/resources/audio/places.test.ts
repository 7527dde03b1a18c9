import { describe, expect, test } from 'vitest';
import { describeFile } from '../../../src/uploads/file-name.ts';
import { StreamTruncatedError, UnexpectedResponseError } from '../../../src/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { speechPlaces, transcriptForms, transcriptStreams } from '../../helpers/media-places.ts';

const sound = Buffer.concat([Buffer.from('ID3\u0004'), Buffer.alloc(60, 5)]);
const base64 = sound.toString('base64');
const speech = { model: 'm-speech', voice: 'alloy', input: 'Hello' };
const recording = { model: 'm-audio', file: new File([sound], 'talk.mp3') };

describe('speech inside JSON', () => {
  test.each<[place: string, body: object | string]>([
    ['audio_data', { audio_data: base64 }],
    ['audio', { audio: base64 }],
    ['audio as hexadecimal digits', { audio: sound.toString('hex') }],
    [
      'data.audio',
      { data: { audio: sound.toString('hex'), status: 2 }, base_resp: { status_code: 0 } },
    ],
    ['output.audio.data', { output: { audio: { data: base64 } } }],
    ['audio.audio_data', { audio: { audio_data: base64 } }],
    ['audioContent', { audioContent: base64 }],
    ['result.audio_base64', { result: { audio_base64: base64 } }],
    ['data[].b64_json', { data: [{ b64_json: base64 }] }],
    [
      'message.audio.data',
      {
        choices: [{ message: { content: null, audio: { id: 'a', data: base64, expires_at: 1 } } }],
      },
    ],
    [
      'inlineData',
      {
        candidates: [
          { content: { parts: [{ inlineData: { mimeType: 'audio/mp3', data: base64 } }] } },
        ],
      },
    ],
    ['audio without padding', { audio: base64.replace(/=+$/, '') }],
    ['URL-safe audio', { audio: base64.replaceAll('+', '-').replaceAll('/', '_') }],
    ['audio in doubled JSON', { result: JSON.stringify({ audio: base64 }) }],
    ['a data URL', { audio: `data:audio/mpeg;base64,${base64}` }],
    ['audios[]', { audios: [base64] }],
    ['audio_file', { audio_file: base64 }],
    ['audio.content', { audio: { content: base64 } }],
    ['audio.bytes', { audio: { bytes: base64 } }],
    ['a JSON string', base64],
    ['upper-case digits', { data: { audio: sound.toString('hex').toUpperCase() } }],
  ])('speech inside JSON at %s is the file', async (_, body) => {
    const { client } = scripted([json(body)]);

    const response = await client.audio.speech.create(speech);

    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await response.arrayBuffer()).equals(sound)).toBe(true);
  });
});

describe('raw samples inside JSON', () => {
  const samples = Buffer.alloc(400, 9);
  const silence = Buffer.alloc(402);

  test.each<[string, Buffer, object]>([
    ['hexadecimal digits', samples, { data: { audio: samples.toString('hex') } }],
    ['hexadecimal digits of silence', silence, { data: { audio: silence.toString('hex') } }],
    ['base64', samples, { audio: samples.toString('base64') }],
    ['base64 of silence', silence, { audio: silence.toString('base64') }],
  ])('raw samples inside JSON as %s are unchanged', async (_, expected, body) => {
    const { client } = scripted([json(body)]);

    const response = await client.audio.speech.create({ ...speech, response_format: 'pcm' });

    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  });

  test('raw samples inside JSON have the type that is beside them', async () => {
    const inlineData = { mimeType: 'audio/L16;rate=24000', data: samples.toString('base64') };
    const { client } = scripted([json({ candidates: [{ content: { parts: [{ inlineData }] } }] })]);

    const response = await client.audio.speech.create(speech);

    expect(response.headers.get('content-type')).toBe('audio/l16');
    expect(Buffer.from(await response.arrayBuffer()).equals(samples)).toBe(true);
  });

  test('raw samples of silence in a stream are unchanged', async () => {
    const piece = { data: { audio: silence.toString('base64'), status: 1 } };
    const end = { data: { audio: '', status: 2 } };
    const { client } = scripted([eventStream(piece, end)]);

    const response = await client.audio.speech.create({ ...speech, response_format: 'pcm' });

    expect(Buffer.from(await response.arrayBuffer()).equals(silence)).toBe(true);
  });
});

test('a JSON string that is not audio is an error', async () => {
  const { client } = scripted([json('The voice is not known to this model, sorry.')]);

  const error = await failureOf(client.audio.speech.create(speech));

  expect(UnexpectedResponseError.isInstance(error)).toBe(true);
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('speech', () => {
  test.each(speechPlaces)('speech at %s is the same file', async (speechPlace) => {
    const { client, emulator } = emulated({}, { quirks: { speechPlace } });
    const plain = emulated();
    const params = { model: 'm-speech', voice: 'alloy', input: 'Good morning. It rains.' };

    const response = await client.audio.speech.create(params);
    const usual = await plain.client.audio.speech.create(params);

    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    const [bytes, expected] = await Promise.all([response.arrayBuffer(), usual.arrayBuffer()]);
    expect(Buffer.from(bytes).equals(Buffer.from(expected))).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });

  const url = 'https://cdn.example/speech.mp3?sign=abc';

  test.each<[place: string, body: object]>([
    ['output.audio.url', { output: { audio: { data: '', url, expires_at: 1 } } }],
    ['audio.url', { audio: { url, content_type: 'audio/mpeg', file_size: 64 } }],
    ['data.audio', { data: { audio: url, status: 2 }, base_resp: { status_code: 0 } }],
    ['audio_url', { code: 0, data: { audio_url: url } }],
    ['audio_file.url', { audio_file: { url } }],
    [
      'output as text',
      { status: 'succeeded', urls: { get: 'https://gateway.test/x' }, output: url },
    ],
    ['data[].url', { data: [{ url }] }],
    ['results.audio_urls[]', { results: { audio_urls: [url] } }],
  ])('speech at a URL in %s is fetched without the key', async (_, body) => {
    const { client, requests } = scripted([json(body), () => new Response(sound)]);

    const response = await client.audio.speech.create(speech);

    expect(Buffer.from(await response.arrayBuffer()).equals(sound)).toBe(true);
    expect(requests.map((request) => [request.method, request.url])).toEqual([
      ['POST', 'https://gateway.test/v1/audio/speech'],
      ['GET', url],
    ]);
    expect(requests[1]?.headers.has('authorization')).toBe(false);
  });

  test('speech at a URL follows redirects of the host, without the key', async () => {
    const location = 'https://other.example/speech.mp3';
    const { client, requests } = scripted([
      json({ audio: { url } }),
      () => new Response(null, { status: 302, headers: { location } }),
      () => new Response(sound),
    ]);

    await (await client.audio.speech.create(speech)).arrayBuffer();

    expect(requests.map((request) => request.url).slice(1)).toEqual([url, location]);
    expect(requests.some((request, at) => at > 0 && request.headers.has('authorization'))).toBe(
      false,
    );
  });

  test.each(['http://cdn.example/a.mp3', 'https://127.0.0.1/a.mp3', 'https://u:p@cdn.example/a'])(
    'speech at %s is not fetched; the error has the URL',
    async (address) => {
      const { client, requests } = scripted([json({ output: { audio: { url: address } } })]);

      const error = await failureOf(client.audio.speech.create(speech));

      expect(UnexpectedResponseError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ body: expect.stringContaining(address), outcome: 'unknown' });
      expect(requests).toHaveLength(1);
    },
  );

  test('speech at a URL that fails is an error with the URL, and the request is not repeated', async () => {
    const { client, requests } = scripted(
      [json({ output: { audio: { url } } }), () => new Response('gone', { status: 404 })],
      { maxRetries: 2 },
    );

    const error = await failureOf(client.audio.speech.create(speech));

    expect(error).toMatchObject({ message: expect.stringContaining('cdn.example/speech.mp3') });
    expect(error).toMatchObject({ body: expect.stringContaining(url) });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('speech in JSON without a content type is a file too', async () => {
    const body = JSON.stringify({ audio: Buffer.alloc(100_000, 7).toString('base64') });
    const headers = { 'content-type': 'application/octet-stream' };
    const { client } = scripted([() => new Response(body, { headers })]);

    const response = await client.audio.speech.create(speech);

    expect((await response.arrayBuffer()).byteLength).toBe(100_000);
  });

  test('speech in a stream that was not requested throws if it is cut', async () => {
    const audio = sound.toString('base64');
    const { client, requests } = scripted([eventStream({ type: 'speech.audio.delta', audio })]);

    const error = await failureOf(client.audio.speech.create(speech));

    expect(StreamTruncatedError.isInstance(error)).toBe(true);
    expect(requests).toHaveLength(1);
  });

  test('speech in a stream with only a URL is fetched', async () => {
    const event = { output: { finish_reason: 'stop', audio: { data: '', url } } };
    const { client } = scripted([eventStream(event), () => new Response(sound)]);

    const response = await client.audio.speech.create(speech);

    expect(Buffer.from(await response.arrayBuffer()).equals(sound)).toBe(true);
  });

  test("speech of MiniMax's stream is yielded once", async () => {
    const events = [
      { data: { audio: hex(sound.subarray(0, 32)), status: 1 } },
      { data: { audio: hex(sound.subarray(32)), status: 1 } },
      { data: { audio: hex(sound), status: 2 } },
    ];
    const { client } = scripted([eventStream(...events)]);

    const stream = await client.audio.speech.create({ ...speech, stream_format: 'sse' });

    const pieces = (await collect(stream)).flatMap((event) =>
      event.type === 'speech.audio.delta' ? [Buffer.from(event.audio, 'base64')] : [],
    );
    expect(Buffer.concat(pieces).equals(sound)).toBe(true);
  });

  test.each([
    { status: 'queued', id: 'x' },
    { data: { note: 'data' } },
    { audio_format: 'mp3', audio_length: 3 },
  ])('speech in JSON without audio is an error with the body: %j', async (body) => {
    const { client } = scripted([json(body)]);

    const error = await failureOf(client.audio.speech.create(speech));

    expect(error).toMatchObject({ body: JSON.stringify(body) });
  });
});

/** A chunk of vLLM's streams. */
const chunk = (content: string, finish: string | null = null) => ({
  object: 'transcription.chunk',
  id: 'trsc-1',
  choices: [{ delta: { content }, finish_reason: finish }],
});

describe('events of sglang-omni', () => {
  const object = 'audio.speech.chunk';
  const events = [
    { object, audio: { data: base64 }, finish_reason: null },
    { object, audio: { data: base64 }, finish_reason: null },
    { object, audio: null, finish_reason: 'stop' },
    '[DONE]',
  ];

  test('events of sglang-omni are the file', async () => {
    const { client } = scripted([eventStream(...events)]);

    const file = await client.audio.speech.create(speech);

    expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.concat([sound, sound]));
  });

  test('events of sglang-omni are events of a stream', async () => {
    const { client } = scripted([eventStream(...events)]);

    const stream = await client.audio.speech.create({ ...speech, stream_format: 'sse' });

    expect((await collect(stream)).map(({ type }) => type)).toEqual([
      'speech.audio.delta',
      'speech.audio.delta',
      'speech.audio.done',
    ]);
  });
});

describe('a paid stream that is not understood', () => {
  const lines = eventStream({ kind: 'mystery', payload: base64 }, '[DONE]');

  test.each<[string, (client: ReturnType<typeof scripted>['client']) => PromiseLike<unknown>]>([
    ['speech', (client) => client.audio.speech.create(speech)],
    ['images', (client) => client.images.generate({ model: 'm-image', prompt: 'A boat' })],
    ['a transcript', (client) => client.audio.transcriptions.create(recording)],
  ])('a paid stream that is not understood is in the error: %s', async (_, call) => {
    const { client, requests } = scripted([lines]);

    const error = await failureOf(call(client));

    expect(error).toMatchObject({ outcome: 'unknown', body: expect.stringContaining(base64) });
    expect(requests).toHaveLength(1);
  });
});

describe('a streamed transcript', () => {
  const order = { ...recording, stream: true } as const;

  test.each(transcriptStreams)(
    'a streamed transcript of the form %s has deltas and the full text',
    async (form) => {
      const quirks = { transcriptStream: form };
      const { client } = emulated({}, { quirks });
      const made = await client.audio.speech.create({ ...speech, input: 'Good day. It rains.' });
      const file = new File([await made.arrayBuffer()], 'a.mp3');

      const events = await collect(
        await client.audio.transcriptions.create({ model: 'whisper-1', file, stream: true }),
      );

      const deltas = events.flatMap((event) =>
        event.type === 'transcript.text.delta' ? [event.delta] : [],
      );
      expect(deltas.join('')).toBe('Good day. It rains.');
      expect(events.filter(({ type }) => type === 'transcript.text.done')).toMatchObject([
        { text: 'Good day. It rains.' },
      ]);
      expect(events.at(-1)?.type).toBe('transcript.text.done');
    },
  );

  test.each([
    ['before a finish reason', [chunk('Hello')]],
    ['after the finish reason of one window', [chunk('Hello', 'stop')]],
    ['in the second window', [chunk('Hello', 'stop'), chunk(' there')]],
    ["in Mistral's form", [{ type: 'transcription.text.delta', text: 'Hello' }]],
  ])('a streamed transcript that is cut %s throws, with the text so far', async (_, events) => {
    const { client } = scripted([eventStream(...events)]);
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { type } of await client.audio.transcriptions.create(order)) seen.push(type);
    };

    const error = await failureOf(read());

    expect(error).toMatchObject({ name: 'StreamTruncatedError' });
    expect(error).toMatchObject({ partial: { text: expect.stringContaining('Hello') } });
    expect(seen).not.toContain('transcript.text.done');
  });

  test('a streamed transcript of vLLM has the text of all windows, each with its finish reason', async () => {
    const usage = { type: 'duration', seconds: 95 };
    const { client } = scripted([
      eventStream(
        chunk('One. '),
        chunk('', 'stop'),
        chunk('Two. '),
        chunk('Still two. ', 'length'),
        chunk('Three.'),
        chunk('', 'stop'),
        { object: 'transcription.chunk', choices: [], usage },
        '[DONE]',
      ),
    ]);

    const events = await collect(await client.audio.transcriptions.create(order));

    expect(events.filter(({ type }) => type === 'transcript.text.done')).toMatchObject([
      { text: 'One. Two. Still two. Three.', usage },
    ]);
    expect(events.at(-1)?.type).toBe('transcript.text.done');
  });

  test("a streamed transcript keeps Mistral's segments and usage", async () => {
    const usage = { prompt_audio_seconds: 3 };
    const { client } = scripted([
      eventStream(
        { type: 'transcription.language', audio_language: 'en' },
        { type: 'transcription.text.delta', text: 'Hi' },
        { type: 'transcription.segment', text: 'Hi', start: 0, end: 1 },
        { type: 'transcription.done', text: 'Hi', usage },
      ),
    ]);

    expect(await collect(await client.audio.transcriptions.create(order))).toMatchObject([
      {},
      { type: 'transcript.text.delta', delta: 'Hi' },
      { type: 'transcript.text.segment', text: 'Hi', start: 0, end: 1 },
      { type: 'transcript.text.done', text: 'Hi', usage },
    ]);
  });

  test.each([
    ['text', 'text/plain', 'Hello there.', 'Hello there.'],
    ['text with a bracket', 'text/plain; charset=utf-8', '[Music] Hello', '[Music] Hello'],
    ['text without a type', '', 'Hello there.', 'Hello there.'],
    ['subtitles', 'text/vtt', 'WEBVTT\n\n00:00 --> 00:01\nHi', 'WEBVTT\n\n00:00 --> 00:01\nHi'],
    ['a JSON string', 'application/json', '"He said \\"hi\\""', 'He said "hi"'],
    ['doubled JSON', 'application/json', JSON.stringify('{"text":"Hi"}'), 'Hi'],
    ['JSON', 'application/json', '{"text":"Hi"}', 'Hi'],
  ])('a streamed transcript that is answered by %s is that text', async (_, type, body, text) => {
    const headers = new Headers();
    if (type !== '') headers.set('content-type', type);
    const bytes = new TextEncoder().encode(body);
    const { client } = scripted([() => new Response(bytes, { headers })]);

    expect(await collect(await client.audio.transcriptions.create(order))).toMatchObject([
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text },
    ]);
  });

  test.each([
    ['a page', 'text/html', '<!doctype html><html></html>'],
    ['incomplete JSON', 'application/json', '{"text":"Hi'],
    ['an error', 'application/json', '{"error":{"message":"Busy"}}'],
  ])('a streamed transcript that is answered by %s is an error', async (_, type, body) => {
    const headers = { 'content-type': type };
    const { client } = scripted([() => new Response(body, { headers })], { maxRetries: 0 });

    const error = await failureOf(client.audio.transcriptions.create(order).then(collect));

    expect(error).toBeInstanceOf(Error);
  });

  test.each([
    ['vLLM', [chunk('Hello '), chunk('there', 'stop'), '[DONE]']],
    ['Mistral', [{ type: 'transcription.done', text: 'Hello there' }]],
    ['OpenAI', [{ type: 'transcript.text.done', text: 'Hello there' }]],
  ])('a streamed transcript of %s that was not requested is a transcript', async (_, events) => {
    const { client } = scripted([eventStream(...events)]);

    expect(await client.audio.transcriptions.create(recording)).toEqual({ text: 'Hello there' });
  });

  test('a streamed transcript that the provider aborted throws its finish reason', async () => {
    const { client } = scripted([eventStream(chunk('Hello', 'abort'), '[DONE]')]);

    const error = await failureOf(client.audio.transcriptions.create(order).then(collect));

    expect(String(error)).toContain('abort');
  });
});

describe('a transcript', () => {
  test.each(transcriptForms)('a transcript is the same in the form %s', async (transcriptForm) => {
    const { client, emulator } = emulated();
    const made = await client.audio.speech.create({ ...speech, input: 'Good day. It rains.' });
    const file = new File([await made.arrayBuffer()], 'a.mp3');
    const params = { model: 'whisper-1', file };
    const transcribe = (response_format: 'srt' | 'vtt' | 'text') =>
      client.audio.transcriptions.create({ ...params, response_format });
    const usual = await Promise.all([transcribe('srt'), transcribe('vtt'), transcribe('text')]);
    emulator.quirks.transcriptForm = transcriptForm;

    const formed = await Promise.all([transcribe('srt'), transcribe('vtt'), transcribe('text')]);
    const { text } = await client.audio.transcriptions.create(params);

    expect(formed).toEqual(usual);
    expect(text).toBe('Good day. It rains.');
  });

  test.each([
    ['an object with a list', { segments: { segments: [{ text: 'Hi', start: '0.5', end: 1 }] } }],
    ['a list with null', { segments: [null, { text: 'Hi', start: 0.5, end: '1' }] }],
  ])('a transcript with segments in %s has a list of them', async (_, body) => {
    const { client } = scripted([json({ text: 'Hi', ...body })]);
    const params = { ...recording, response_format: 'verbose_json' } as const;

    const { segments } = await client.audio.transcriptions.create(params);

    expect(segments).toEqual([{ text: 'Hi', start: 0.5, end: 1 }]);
  });

  const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHe said "hi"\n';

  test.each([
    ['vtt', vtt],
    ['srt', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'],
    ['text', 'He said "hi".'],
  ] as const)('sent as a JSON string is text: %s', async (response_format, text) => {
    const { client } = scripted([json(text)]);

    expect(await client.audio.transcriptions.create({ ...recording, response_format })).toBe(text);
  });

  test('a transcript with subtitles inside JSON is the subtitles', async () => {
    const { client } = scripted([json({ text: vtt })]);
    const params = { ...recording, response_format: 'vtt' } as const;

    expect(await client.audio.transcriptions.create(params)).toBe(vtt);
  });

  test('a transcript in doubled JSON is an object', async () => {
    const { client } = scripted([json(JSON.stringify({ text: 'Hi' }))]);

    expect(await client.audio.transcriptions.create(recording)).toMatchObject({ text: 'Hi' });
  });

  test('a transcript in quotes keeps them if it is text', async () => {
    const { client } = scripted([() => new Response('"Hi."')]);
    const params = { ...recording, response_format: 'text' } as const;

    expect(await client.audio.transcriptions.create(params)).toBe('"Hi."');
  });
});

describe('an upload', () => {
  const ogg = Buffer.from('OggS');

  test.each([
    ['note.opus', undefined, 'note.ogg'],
    ['note.oga', 'audio/ogg', 'note.ogg'],
    [undefined, 'audio/opus', 'file.ogg'],
  ])('an upload of Ogg sound is named .ogg: %s %s', (name, type, expected) => {
    const file = describeFile({ field: 'file', purpose: 'audio', head: ogg, name, type });

    expect(file.name).toBe(expected);
  });

  test('named image/jpg has the type image/jpeg', () => {
    const head = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
    const facts = { field: 'image', purpose: 'image', head, name: 'a.jpg' } as const;

    expect(describeFile({ ...facts, type: 'image/jpg' })).toEqual({
      name: 'a.jpg',
      type: 'image/jpeg',
    });
  });

  test('an upload has no control characters in its name', () => {
    const name = 'a\u0000b\u0001c\u007fd.mp3';

    expect(describeFile({ field: 'file', purpose: 'audio', head: sound, name }).name).toBe(
      'abcd.mp3',
    );
  });
});
