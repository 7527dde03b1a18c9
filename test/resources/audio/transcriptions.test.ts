import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  APIError,
  InvalidInputError,
  type Stream,
  StreamTruncatedError,
  UnexpectedResponseError,
  toStreamingFile,
} from '../../../src/index.ts';
import type {
  Transcription,
  TranscriptionDiarized,
  TranscriptionStreamEvent,
  TranscriptionVerbose,
} from '../../../src/resources/audio/transcription-types.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { error, text } from '../../helpers/transport.ts';
import { settle } from '../../helpers/fake-time.ts';

const model = 'gpt-4o-transcribe';
const file = new File([mediaHeads.mp3], 'talk.mp3', { type: 'audio/mpeg' });

const plain = (body: string) => text(body, { headers: { 'content-type': 'text/plain' } });

describe('audio.transcriptions.create()', () => {
  test('returns an object with the text', async () => {
    const { client, emulator } = emulated();

    const transcription = await client.audio.transcriptions.create({ model, file });

    expectTypeOf(transcription).toEqualTypeOf<Transcription>();
    expect(transcription.text).toContain('talk.mp3');
    expect(transcription.usage).toEqual({ type: 'duration', seconds: 1 });
    expect(transcription).toHaveProperty('_request_id', emulator.requests[0]?.id);
    expect(emulator.requests).toMatchObject([{ operation: 'audio.transcriptions.create' }]);
    expect(emulator.charges).toMatchObject([{ operation: 'audio.transcriptions.create' }]);
  });

  test('transcribes generated speech', async () => {
    const { client } = emulated();
    const speech = await client.audio.speech.create({ model: 'm-speech', input: 'Guten Morgen.' });

    const { text: said } = await client.audio.transcriptions.create({ model, file: speech });

    expect(said).toBe('Guten Morgen.');
  });

  test("sends all fields in the gateway's format", async () => {
    const { client, emulator } = emulated();

    await client.audio.transcriptions.create({
      model,
      file,
      language: 'de',
      prompt: 'Names: Ann',
      temperature: 0.5,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      include: ['logprobs'],
      known_speaker_names: ['Ann'],
      chunking_strategy: { type: 'server_vad', threshold: 0.5 },
      stream: false,
    });

    expect(emulator.requests[0]?.body).toEqual({
      kind: 'multipart',
      fields: {
        model,
        language: 'de',
        prompt: 'Names: Ann',
        temperature: '0.5',
        response_format: 'verbose_json',
        'timestamp_granularities[]': ['word', 'segment'],
        'include[]': 'logprobs',
        'known_speaker_names[]': 'Ann',
        'chunking_strategy[type]': 'server_vad',
        'chunking_strategy[threshold]': '0.5',
        stream: 'false',
      },
      files: [expect.objectContaining({ field: 'file', filename: 'talk.mp3', type: 'audio/mpeg' })],
    });
  });

  test('returns all fields of verbose_json, including words', async () => {
    const { client } = emulated();
    const speech = await client.audio.speech.create({ model: 'm-speech', input: 'One. Two.' });

    const transcription = await client.audio.transcriptions.create({
      model,
      file: speech,
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    });

    expectTypeOf(transcription).toEqualTypeOf<TranscriptionVerbose>();
    expect(transcription.duration).toBeGreaterThan(0);
    expect(transcription.segments?.map((segment) => segment.text)).toEqual(['One.', 'Two.']);
    expect(transcription.words?.map(({ word }) => word)).toEqual(['One.', 'Two.']);
  });

  test('returns speakers in diarized_json', async () => {
    const { client } = emulated();

    const transcription = await client.audio.transcriptions.create({
      model,
      file,
      response_format: 'diarized_json',
    });

    expectTypeOf(transcription).toEqualTypeOf<TranscriptionDiarized>();
    expect(transcription.segments[0]).toMatchObject({ speaker: 'A', start: 0 });
  });

  test.each([
    ['text', /^This is/],
    ['srt', /^1\n00:00:00,000 --> /],
    ['vtt', /^WEBVTT/],
  ] as const)('returns text for %s', async (format, expected) => {
    const { client } = emulated();

    const said = await client.audio.transcriptions.create({ model, file, response_format: format });

    expectTypeOf(said).toBeString();
    expect(said).toMatch(expected);
  });

  test.each([
    {
      name: 'text in place of JSON',
      answer: plain('Hello'),
      format: undefined,
      expected: { text: 'Hello' },
    },
    {
      name: 'JSON in place of text',
      answer: json({ text: 'Hello' }),
      format: 'text',
      expected: 'Hello',
    },
    {
      name: 'numbers as text',
      answer: json({ text: 'a', duration: '2.5' }),
      format: 'verbose_json',
      expected: { duration: 2.5 },
    },
    {
      name: 'no segments',
      answer: json({ text: 'a' }),
      format: 'diarized_json',
      expected: { segments: [], task: 'transcribe' },
    },
  ] as const)('reads $name', async ({ answer, format, expected }) => {
    const { client } = scripted([answer]);

    const got = await client.audio.transcriptions.create({ model, file, response_format: format });

    if (typeof expected === 'string') expect(got).toBe(expected);
    else expect(got).toMatchObject(expected);
  });

  test.each([
    ['nothing', plain('')],
    ['half of it', plain('{"text":"a')],
    ['another object', json({ data: [] })],
    ['a page', plain('<!doctype html><html></html>')],
  ])('%s is rejected', async (_, answer) => {
    const { client } = scripted([answer]);

    const failure = await failureOf(client.audio.transcriptions.create({ model, file }));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
  });

  test.each([
    { name: 'the file', params: { model }, field: 'file' },
    { name: 'the model', params: { file }, field: 'model' },
    { name: 'an empty file', params: { model, file: new File([], 'a.mp3') }, field: 'file' },
    {
      name: 'a picture',
      params: { model, file: new File([mediaHeads.png], 'a.png') },
      field: 'file',
    },
    { name: 'the temperature', params: { model, file, temperature: 'hot' }, field: 'temperature' },
    { name: 'nothing', params: undefined, field: 'params' },
  ])('invalid input is rejected: $name', async ({ params, field }) => {
    const { client, requests } = scripted([json({ text: 'a' })]);

    const failure = await failureOf(misuse(client.audio.transcriptions, 'create', params));

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toHaveProperty('field', field);
    expect(requests).toHaveLength(0);
  });

  test('is metered: repeated after a 500, but not when the file is a stream', async () => {
    vi.useFakeTimers();
    const { client, requests } = scripted([error('x', 500)]);

    await settle(client.audio.transcriptions.create({ model, file }));
    expect(requests).toHaveLength(3);

    const body = new Blob([mediaHeads.mp3]).stream();
    const streamed = toStreamingFile(body, 'talk.mp3');
    await settle(client.audio.transcriptions.create({ model, file: streamed }));
    expect(requests).toHaveLength(4);
    vi.useRealTimers();
  });
});

describe('a transcript in the place of a vendor', () => {
  test.each([
    ['Workers AI', { result: { text: 'Hi', word_count: 1 }, success: true, errors: [] }],
    ['RunPod', { output: { transcription: 'Hi' }, status: 'COMPLETED' }],
    ['Deepgram', { results: { channels: [{ alternatives: [{ transcript: 'Hi' }] }] } }],
  ])('a transcript of %s is read whole, as text and as a stream', async (_, wire) => {
    const { client } = scripted([json(wire)]);
    const { transcriptions } = client.audio;

    expect(await transcriptions.create({ model: 'm', file })).toMatchObject({ text: 'Hi' });
    expect(await transcriptions.create({ model: 'm', file, response_format: 'text' })).toBe('Hi');
    const events = await collect(await transcriptions.create({ model: 'm', file, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: 'Hi' });
  });
});

describe('a streamed transcription', () => {
  const done = { type: 'transcript.text.done', text: 'Hello there' };
  const deltas = [
    { type: 'transcript.text.delta', delta: 'Hello ' },
    { type: 'transcript.text.delta', delta: 'there' },
  ];

  test('a streamed transcription yields text in deltas', async () => {
    const { client, emulator } = emulated();
    const speech = await client.audio.speech.create({ model: 'm-speech', input: 'One two.' });

    const stream = await client.audio.transcriptions.create({ model, file: speech, stream: true });
    expectTypeOf(stream).toEqualTypeOf<Stream<TranscriptionStreamEvent>>();
    const events = await collect(stream);

    expect(events).toMatchObject([
      { type: 'transcript.text.delta', delta: 'One ' },
      { type: 'transcript.text.delta', delta: 'two.' },
      { type: 'transcript.text.done', text: 'One two.' },
    ]);
    expect(stream.usage).toMatchObject({ type: 'tokens' });
    expect(emulator.requests[1]?.body).toMatchObject({ fields: { stream: 'true' } });
  });

  test('a streamed transcription without its last event throws', async () => {
    const { client } = scripted([eventStream(...deltas)]);
    const stream = await client.audio.transcriptions.create({ model, file, stream: true });

    await expect(collect(stream)).rejects.toBeInstanceOf(StreamTruncatedError);
  });

  test('a streamed transcription of a model that does not stream is created from the whole response', async () => {
    const { client } = emulated();

    const events = await collect(
      await client.audio.transcriptions.create({ model: 'whisper-1', file, stream: true }),
    );

    expect(events.map(({ type }) => type)).toEqual([deltas[0]?.type, done.type]);
  });

  test('a streamed transcription may contain speakers', async () => {
    const segment = { type: 'transcript.text.segment', id: 's', speaker: 'A', text: 'Hello there' };
    const { client } = scripted([eventStream(segment, done)]);

    const stream = await client.audio.transcriptions.create({
      model,
      file,
      response_format: 'diarized_json',
      stream: true,
    });

    expect(await collect(stream)).toMatchObject([segment, done]);
  });

  test('a streamed transcription throws before the loop if the response is an error', async () => {
    const { client } = scripted([json({ error: { message: 'no', code: 'x' } })]);

    const failure = await failureOf(
      client.audio.transcriptions.create({ model, file, stream: true }),
    );

    expect(failure).toBeInstanceOf(APIError);
  });
});
