import { BitWriter } from './bits.ts';
import { concat, utf8, type Bytes } from './bytes.ts';
import { steps, type Tone } from './tones.ts';

// MPEG-1 layer III, 32 kbit/s, 48 kHz, mono: every frame has 96 bytes and lasts 24 ms.
const frameHeader = [0xff, 0xfb, 0x14, 0xc0];
const frameBytes = 96;
/** How long one frame lasts. */
const frameMilliseconds = 24;
const hertzPerLine = 24_000 / 576;
const gain = 237;

/**
 * One frame with a single spectral line, or silence.
 *
 * The line is the last of the "big values", coded with Huffman table 1.
 */
function frame(pitch: number): Uint8Array {
  const line = Math.round(pitch / hertzPerLine);
  const pairs = pitch === 0 ? 0 : Math.floor(line / 2) + 1;
  const isSecond = line % 2 === 1;
  const bitsOfPairs = pairs === 0 ? 0 : pairs - 1 + (isSecond ? 3 : 2) + 1;
  const writer = new BitWriter().bits(0, 9).bits(0, 5).bits(0, 4);
  for (let granule = 0; granule < 2; granule += 1) {
    writer.bits(bitsOfPairs, 12).bits(pairs, 9).bits(gain, 8).bits(0, 4).bits(0, 1);
    writer.bits(1, 5).bits(1, 5).bits(1, 5).bits(7, 4).bits(7, 3).bits(0, 3);
  }
  for (let granule = 0; granule < 2; granule += 1) {
    if (pairs === 0) break;
    for (let pair = 1; pair < pairs; pair += 1) writer.bits(1, 1);
    // The signs alternate as those of a steady tone would.
    writer.bits(1, isSecond ? 3 : 2).bits(granule, 1);
  }
  const bytes = new Uint8Array(frameBytes);
  bytes.set(frameHeader);
  bytes.set(writer.align().bytes(), frameHeader.length);
  return bytes;
}

/** A size in the form of ID3: seven bits in each of four bytes. */
const sized = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >>> shift) & 127);

/** An ID3 tag with a title, so that a player shows the spoken words and translation can read them. */
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

/** An MP3 file of tones, with a title. */
export function encodeMp3(tones: readonly Tone[], title: string): Bytes {
  const frames = [...steps(tones, frameMilliseconds)].map((pitch) => frame(pitch));
  return concat([titleTag(title), ...frames]);
}
