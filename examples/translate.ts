// Translates an audio file into English text.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from 'model-gateway';
import { fileFromPath, saveTo } from 'model-gateway/node';

const client = new Gateway();

const speech = await client.audio.speech.create({
  model: 'tts-1',
  voice: 'nova',
  input: 'Guten Morgen! Wie geht es Ihnen?',
});
const { path } = await saveTo(speech, join(tmpdir(), 'morning.mp3'));

const translation = await client.audio.translations.create({
  model: 'whisper-1',
  file: await fileFromPath(path),
});
console.log(translation.text);
