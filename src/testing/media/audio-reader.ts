/** Properties of an uploaded audio file. */
export interface SoundFacts {
  /** In seconds; missing if unknown. */
  readonly duration?: number | undefined;
  /** Title in the file's tags. The emulator's speech stores its text there. */
  readonly title?: string | undefined;
}

const decoder = new TextDecoder();

const name = (bytes: Uint8Array, at: number): string => decoder.decode(bytes.subarray(at, at + 4));

function readWav(bytes: Uint8Array): SoundFacts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let bytesPerSecond = 0;
  let duration: number | undefined;
  let title: string | undefined;
  let at = 12;
  while (at + 8 <= bytes.length) {
    const size = Math.min(view.getUint32(at + 4, true), bytes.length - at - 8);
    const kind = name(bytes, at);
    if (kind === 'fmt ' && size >= 12) bytesPerSecond = view.getUint32(at + 16, true);
    if (kind === 'data' && bytesPerSecond > 0) duration = size / bytesPerSecond;
    if (kind === 'LIST' && name(bytes, at + 12) === 'INAM') {
      const length = view.getUint32(at + 16, true);
      title = decoder.decode(bytes.subarray(at + 20, at + 20 + length)).replace(/\0.*$/s, '');
    }
    at += 8 + size + (size % 2);
  }
  return { duration, title };
}

const bitrates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const lowBitrates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRates = [44_100, 48_000, 32_000];

/** Returns the length of a layer III frame in bytes and in seconds. */
function frameAt(bytes: Uint8Array, at: number): { size: number; seconds: number } | undefined {
  const [sync = 0, version = 0, rates = 0] = bytes.subarray(at, at + 3);
  if (sync !== 0xff || (version & 0xe6) !== 0xe2) return undefined;
  const isFirst = (version & 0x18) === 0x18;
  const divisor = isFirst ? 1 : (version & 0x18) === 0x10 ? 2 : 4;
  const bitrate = (isFirst ? bitrates : lowBitrates)[rates >> 4] ?? 0;
  const rate = (sampleRates[(rates >> 2) & 3] ?? 0) / divisor;
  if (bitrate === 0 || rate === 0) return undefined;
  const samples = isFirst ? 1152 : 576;
  const size = Math.floor((samples * 125 * bitrate) / rate) + ((rates >> 1) & 1);
  return { size, seconds: samples / rate };
}

function readMp3(bytes: Uint8Array): SoundFacts {
  let at = 0;
  let title: string | undefined;
  if (name(bytes, 0).startsWith('ID3')) {
    const sized = (from: number): number =>
      bytes.subarray(from, from + 4).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
    at = 10 + sized(6);
    if (name(bytes, 10) === 'TIT2') title = decoder.decode(bytes.subarray(21, 20 + sized(14)));
  }
  let duration = 0;
  for (let frame = frameAt(bytes, at); frame !== undefined; frame = frameAt(bytes, at)) {
    duration += frame.seconds;
    at += frame.size;
  }
  return { duration: duration === 0 ? undefined : duration, title };
}

/** Reads duration and title of a WAV or MP3 file; other files have neither. */
export function readSound(bytes: Uint8Array): SoundFacts {
  const isWav = name(bytes, 0) === 'RIFF' && name(bytes, 8) === 'WAVE';
  return isWav ? readWav(bytes) : readMp3(bytes);
}
