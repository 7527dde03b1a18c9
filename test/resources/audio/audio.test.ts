import { describe, expect, test } from 'vitest';
import { toStreamingFile } from '../../../src/index.ts';
import { emulated } from '../../helpers/clients.ts';
import { intercepted } from '../../helpers/intercepted.ts';

describe('audio', () => {
  test('speech can be translated', async () => {
    const { client, emulator } = emulated();
    const input = 'The train leaves at nine. Do not be late!';

    const speech = await client.audio.speech.create({ model: 'm-speech', input, voice: 'alloy' });
    const file = new File([await speech.arrayBuffer()], 'announcement.mp3');
    const { text } = await client.audio.translations.create({ model: 'm-translation', file });

    expect(text).toBe(input);
    expect(emulator.charges.map(({ operation }) => operation)).toEqual([
      'audio.speech.create',
      'audio.translations.create',
    ]);
  });

  test('streamed speech can be uploaded for translation', async () => {
    const { client } = emulated();
    const speech = await client.audio.speech.create({ model: 'm-speech', input: 'Good morning.' });
    if (speech.body === null) throw new Error('Missing body');

    const file = toStreamingFile(speech.body, 'speech.mp3');
    const { text } = await client.audio.translations.create({ model: 'm-translation', file });

    expect(text).toBe('Good morning.');
  });
});

describe("with the runtime's fetch", () => {
  const { client, emulator } = intercepted();

  test('speech can be translated', async () => {
    const file = await client.audio.speech.create({ model: 'm-speech', input: 'Good morning.' });
    const { text } = await client.audio.translations.create({ model: 'm-translation', file });

    expect(text).toBe('Good morning.');
    expect(emulator.charges).toHaveLength(2);
  });
});
