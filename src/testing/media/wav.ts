import { concat, utf8, type Bytes } from './bytes.ts';
import { loudness, type Tone } from './tones.ts';

/** Sample rate of WAV and PCM speech, in hertz. */
const sampleRate = 24_000;

/** Encodes tones as raw audio: 24 kHz, 16 bit, mono, little-endian. */
export function encodePcm(tones: readonly Tone[]): Bytes {
  const lengths = tones.map((tone) => Math.round((tone.milliseconds * sampleRate) / 1000));
  const view = new DataView(new ArrayBuffer(2 * lengths.reduce((sum, length) => sum + length, 0)));
  let position = 0;
  for (const [index, { pitch }] of tones.entries()) {
    const length = lengths[index] ?? 0;
    for (let sample = 0; sample < length; sample += 1) {
      const value = Math.sin((2 * Math.PI * pitch * sample) / sampleRate);
      const scaled = Math.round(32_767 * loudness(sample / length) * value);
      view.setInt16(2 * (position + sample), scaled, true);
    }
    position += length;
  }
  return new Uint8Array(view.buffer);
}

function little(value: number, size: 2 | 4): Uint8Array {
  const view = new DataView(new ArrayBuffer(size));
  if (size === 2) view.setUint16(0, value, true);
  else view.setUint32(0, value, true);
  return new Uint8Array(view.buffer);
}

function chunk(name: string, ...parts: Uint8Array[]): Bytes {
  const content = concat(parts);
  const padding = new Uint8Array(content.length % 2);
  return concat([utf8(name), little(content.length, 4), content, padding]);
}

/** Encodes tones as a WAV file with a title. */
export function encodeWav(tones: readonly Tone[], title: string): Bytes {
  const format = [
    little(1, 2),
    little(1, 2),
    little(sampleRate, 4),
    little(2 * sampleRate, 4),
    little(2, 2),
    little(16, 2),
  ];
  const name = chunk('INAM', utf8(`${title}\0`));
  return chunk(
    'RIFF',
    utf8('WAVE'),
    chunk('fmt ', ...format),
    chunk('LIST', utf8('INFO'), name),
    chunk('data', encodePcm(tones)),
  );
}
