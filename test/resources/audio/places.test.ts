import { describe, expect, test } from 'vitest';
import { describeFile } from '../../../src/uploads/file-name.ts';
import { json, scripted } from '../../helpers/clients.ts';

const sound = Buffer.concat([Buffer.from('ID3\u0004'), Buffer.alloc(60, 5)]);
const base64 = sound.toString('base64');
const speech = { model: 'm-speech', voice: 'alloy', input: 'Hello' };
const recording = { model: 'm-audio', file: new File([sound], 'talk.mp3') };

describe('speech inside JSON', () => {
  test.each<[place: string, body: object]>([
    ['audio_data', { audio_data: base64 }],
    ['audio', { audio: base64 }],
    ['audio as hexadecimal digits', { audio: sound.toString('hex') }],
    [
      'data.audio',
      { data: { audio: sound.toString('hex'), status: 2 }, base_resp: { status_code: 0 } },
    ],
    ['output.audio.data', { output: { audio: { data: base64 } } }],
    ['a data URL', { audio: `data:audio/mpeg;base64,${base64}` }],
  ])('at %s is the file', async (_, body) => {
    const { client } = scripted([json(body)]);

    const response = await client.audio.speech.create(speech);

    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await response.arrayBuffer()).equals(sound)).toBe(true);
  });
});

describe('a transcript', () => {
  const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHe said "hi"\n';

  test.each([
    ['vtt', vtt],
    ['srt', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'],
    ['text', 'He said "hi".'],
  ] as const)('sent as a JSON string is text: %s', async (response_format, text) => {
    const { client } = scripted([json(text)]);

    expect(await client.audio.transcriptions.create({ ...recording, response_format })).toBe(text);
  });

  test('with subtitles inside JSON is the subtitles', async () => {
    const { client } = scripted([json({ text: vtt })]);
    const params = { ...recording, response_format: 'vtt' } as const;

    expect(await client.audio.transcriptions.create(params)).toBe(vtt);
  });

  test('in doubled JSON is an object', async () => {
    const { client } = scripted([json(JSON.stringify({ text: 'Hi' }))]);

    expect(await client.audio.transcriptions.create(recording)).toMatchObject({ text: 'Hi' });
  });

  test('in quotes keeps them if it is text', async () => {
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
  ])('of Ogg sound is named .ogg: %s %s', (name, type, expected) => {
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

  test('has no control characters in its name', () => {
    const name = 'a\u0000b\u0001c\u007fd.mp3';

    expect(describeFile({ field: 'file', purpose: 'audio', head: sound, name }).name).toBe(
      'abcd.mp3',
    );
  });
});
