// Records five seconds from the microphone, transcribes them and plays them back in another voice.
// Needs FFmpeg's `ffmpeg` and `ffplay`. Without a microphone, it uses a fixed sentence.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Gateway, toFile } from 'model-gateway';

const client = new Gateway();

const microphones: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['-f', 'avfoundation', '-i', ':0'],
  linux: ['-f', 'alsa', '-i', 'default'],
  win32: ['-f', 'dshow', '-i', 'audio=Microphone'],
};

async function record(seconds: number): Promise<Buffer> {
  const input = microphones[process.platform] ?? [];
  const output = ['-t', String(seconds), '-f', 'wav', 'pipe:1'];
  const recorder = spawn('ffmpeg', ['-loglevel', 'error', ...input, ...output], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [bytes] = await Promise.all([buffer(recorder.stdout), once(recorder, 'spawn')]);
  return bytes;
}

async function play(speech: Response): Promise<void> {
  const player = spawn('ffplay', ['-autoexit', '-nodisp', '-loglevel', 'error', '-i', 'pipe:0'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  await once(player, 'spawn');
  const ended = once(player, 'close');
  if (speech.body !== null) await pipeline(speech.body, player.stdin);
  await ended;
}

let text = 'The quick brown fox jumps over the lazy dog.';
const recording = await record(5).catch(() => Buffer.alloc(0));
if (recording.length > 0) {
  const file = await toFile(recording, 'speech.wav');
  ({ text } = await client.audio.transcriptions.create({ model: 'whisper-1', file }));
}
console.log(text);

const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: text });
try {
  await play(speech);
  console.log('Played it.');
} catch {
  console.log('Could not play it: install FFmpeg, so that ffplay is on the PATH.');
}
