import { type ChildProcess, spawn } from 'node:child_process';
import { pipeline } from 'node:stream/promises';
import { check, checkDuration, checkObject, checkSignal, checkText } from '../check.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { followSignal } from '../http/abort.ts';

/** Sound to be played: what `audio.speech.create()` gives, a file, or a stream of bytes. */
export type PlayableAudio = Response | Blob | AsyncIterable<string | Uint8Array>;

/** Options of {@link recordAudio}. */
export interface RecordAudioOptions {
  /** Ends the recording; what was recorded until then is the result. */
  signal?: AbortSignal | undefined;
  /**
   * The microphone: its number or its name. On Windows its name is needed, and on Linux it is that of
   * ALSA, such as `default` or `hw:USB,0`.
   * @defaultValue 0
   */
  device?: number | string | undefined;
  /**
   * How long to record, in milliseconds. 1 to 2147483647.
   * @defaultValue until `signal` is aborted
   */
  timeout?: number | undefined;
}

/** What goes well is not worth reading. */
const quietly = ['-loglevel', 'error'];

/**
 * Plays sound on the loudspeaker of this machine, as it comes: with `ffplay`, a program of FFmpeg, in
 * Node and runtimes like it.
 *
 * @throws `InvalidInputError` when `input` holds no sound, or `ffplay` is not on the PATH: nothing is read then
 * @throws `GatewayError` when `ffplay` cannot play it
 * @throws what the stream throws when the sound breaks off
 *
 * @example
 * await playAudio(await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello!' }));
 */
export async function playAudio(input: PlayableAudio): Promise<void> {
  const source = bytesOf(input);
  const player = spawn('ffplay', ['-autoexit', '-nodisp', ...quietly, '-i', 'pipe:0'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = endOf(player, 'ffplay');
  // Sound is not touched, and can be saved, where there is nothing that plays it.
  await Promise.race([new Promise((begin) => player.once('spawn', () => begin(true))), ended]);
  let failure: { readonly reason: unknown } | undefined;
  async function* watched() {
    try {
      yield* source;
    } catch (reason) {
      failure = { reason };
      player.kill();
      throw reason;
    }
  }
  // A player that has ended takes no more, which is its own failure to tell, if it is one.
  const fed = pipeline(watched(), player.stdin).catch(() => undefined);
  const [, played] = await Promise.allSettled([fed, ended]);
  if (failure !== undefined) throw failure.reason;
  if (played.status === 'rejected') throw played.reason;
}

/**
 * Records from a microphone of this machine: with `ffmpeg`, in Node and runtimes like it.
 *
 * @returns `audio.wav`, 24 kHz and mono, as `audio.transcriptions.create()` takes it
 * @throws `InvalidInputError` when an option cannot work, or `ffmpeg` is not on the PATH
 * @throws `GatewayError` when `ffmpeg` cannot record
 *
 * @example
 * const file = await recordAudio({ timeout: 5_000 });
 * const { text } = await client.audio.transcriptions.create({ model: 'whisper-1', file });
 */
export async function recordAudio(options: RecordAudioOptions = {}): Promise<File> {
  checkObject('options', options);
  const { signal, timeout, device } = options;
  checkSignal(signal);
  const limit =
    timeout === undefined ? undefined : AbortSignal.timeout(checkDuration('timeout', timeout));
  const [format, microphone] = inputOf(device);
  const output = ['-ar', '24000', '-ac', '1', '-f', 'wav', 'pipe:1'];
  const recorder = spawn('ffmpeg', [...quietly, '-f', format, '-i', microphone, ...output], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  recorder.stdout.on('data', (piece: Buffer<ArrayBuffer>) => pieces.push(piece));
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', () => recorder.kill());
  const unfollow = [signal, limit].map((end) => followSignal(end, stopping));
  try {
    await endOf(recorder, 'ffmpeg');
  } catch (error) {
    // It ends with an error when it is stopped, too.
    if (!stopping.signal.aborted || pieces.length === 0) throw error;
  } finally {
    for (const leave of unfollow) leave();
  }
  return new File(pieces, 'audio.wav', { type: 'audio/wav' });
}

const noSound = 'holds no sound; give a Response, a File or a stream that was not read.';

function bytesOf(input: PlayableAudio): AsyncIterable<string | Uint8Array> {
  check(typeof input === 'object' && input !== null, 'input', noSound);
  if (Symbol.asyncIterator in input) return input;
  const source = 'stream' in input ? input.stream() : input.body;
  check(source !== null && !source.locked, 'input', noSound);
  return source;
}

/** How FFmpeg calls a microphone here, and what gives it. */
function inputOf(device: number | string | undefined): [format: string, microphone: string] {
  switch (process.platform) {
    case 'win32':
      checkText('device', device, 'the name of a microphone, such as "Microphone (USB Audio)"');
      return ['dshow', `audio=${device}`];
    case 'darwin':
      return ['avfoundation', `:${device ?? 0}`];
    default:
      return ['alsa', typeof device === 'string' ? device : `hw:${device ?? 0}`];
  }
}

/** Waits for the end of a program. What it says is the reason when it fails. */
function endOf(program: ChildProcess, name: string): Promise<void> {
  let said = '';
  program.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    program.once('error', (cause) => {
      const problem = 'cannot be started; install FFmpeg, and see that it is on the PATH.';
      reject(new InvalidInputError(name, problem, { cause }));
    });
    program.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const message = `${name} ended with ${code ?? signal}: ${said.trim()}`;
      return reject(new GatewayError(message, { outcome: 'not_sent', advice: '' }));
    });
  });
}
