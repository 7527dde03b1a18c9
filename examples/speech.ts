// Saves a spoken sentence as an MP3 file.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from 'model-gateway';
import { saveTo } from 'model-gateway/node';

const client = new Gateway();

const speech = await client.audio.speech.create({
  model: 'tts-1',
  voice: 'alloy',
  input: 'The quick brown fox jumps over the lazy dog.',
});
const { path, bytes } = await saveTo(speech, join(tmpdir(), 'fox.mp3'));
console.log(`Saved ${path}, ${bytes} bytes`);
