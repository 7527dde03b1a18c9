import { BitWriter } from './bits.ts';
import { concat, utf8, type Bytes } from './bytes.ts';
import { steps, type Tone } from './tones.ts';

// MPEG-1 layer III, 32 kbit/s, 48 kHz, mono: each frame has 96 bytes and two granules of 12 ms.
const frameHeader = [0xff, 0xfb, 0x14, 0xc0];
const frameBytes = 96;
const granuleMilliseconds = 12;
const hertzPerLine = 24_000 / 576;
/** Gain of a line with loudness 1; an increase of 4 doubles the loudness. */
const fullGain = 210;

/** A single spectral line, the last of the "big values", or silence. */
interface Granule {
  readonly line: number;
  readonly gain: number;
}

function toGranule({ pitch, loudness }: { pitch: number; loudness: number }): Granule {
  const gain = Math.max(0, fullGain + Math.round(4 * Math.log2(loudness)));
  return { line: pitch === 0 ? 0 : Math.round(pitch / hertzPerLine), gain };
}

const silence: Granule = { line: 0, gain: fullGain };

const countPairs = ({ line }: Granule): number => (line === 0 ? 0 : Math.floor(line / 2) + 1);

// Huffman table 1: a pair of zeros is `1`; a one is `01` in first and `001` in second position, plus a sign.
const codeBits = ({ line }: Granule): number => (line % 2 === 1 ? 3 : 2);

function frame(granules: readonly Granule[]): Uint8Array {
  const writer = new BitWriter().bits(0, 9).bits(0, 5).bits(0, 4);
  for (const granule of granules) {
    const pairs = countPairs(granule);
    const length = pairs === 0 ? 0 : pairs + codeBits(granule);
    writer.bits(length, 12).bits(pairs, 9).bits(granule.gain, 8).bits(0, 4).bits(0, 1);
    writer.bits(1, 5).bits(1, 5).bits(1, 5).bits(7, 4).bits(7, 3).bits(0, 3);
  }
  for (const [index, granule] of granules.entries()) {
    const pairs = countPairs(granule);
    if (pairs === 0) continue;
    for (let pair = 1; pair < pairs; pair += 1) writer.bits(1, 1);
    // On an odd line the sign of a steady tone alternates between granules; on an even one it is constant.
    writer.bits(1, codeBits(granule)).bits(granule.line % 2 === 1 ? index : 0, 1);
  }
  const bytes = new Uint8Array(frameBytes);
  bytes.set(frameHeader);
  bytes.set(writer.align().bytes(), frameHeader.length);
  return bytes;
}

/** Encodes a size for ID3: seven bits in each of four bytes. */
const sized = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >>> shift) & 127);

/** Creates an ID3 tag with a title, which players show and translation reads. */
function titleTag(title: string): Bytes {
  const text = concat([Uint8Array.of(3), utf8(title)]);
  const content = concat([
    utf8('TIT2'),
    Uint8Array.from(sized(text.length)),
    new Uint8Array(2),
    text,
  ]);
  const header = [...utf8('ID3'), 4, 0, 0, ...sized(content.length)];
  return concat([Uint8Array.from(header), content]);
}

/** Encodes tones as an MP3 file with a title. */
export function encodeMp3(tones: readonly Tone[], title: string): Bytes {
  const granules = [...steps(tones, granuleMilliseconds)].map((step) => toGranule(step));
  const frames = Array.from({ length: Math.ceil(granules.length / 2) }, (_, at) =>
    frame([granules[2 * at] ?? silence, granules[2 * at + 1] ?? silence]),
  );
  return concat([titleTag(title), ...frames]);
}
