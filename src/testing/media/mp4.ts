import { concat, utf8, word, type Bytes } from './bytes.ts';
import {
  H264Encoder,
  inSquares,
  pictureParameters,
  sequenceParameters,
  type FrameSize,
} from './h264.ts';
import { videoPictures } from './video-pictures.ts';

/** Prompt, size and duration of a video. */
export interface VideoSpec extends FrameSize {
  readonly prompt: string;
  readonly seconds: number;
}

const framesPerSecond = 8;
const longest = 60;

const half = (value: number): Uint8Array => Uint8Array.of((value >>> 8) & 255, value & 255);
const zeros = (count: number): Uint8Array => new Uint8Array(count);

function box(name: string, ...parts: Uint8Array[]): Bytes {
  const size = parts.reduce((sum, part) => sum + part.length, 8);
  return concat([word(size), utf8(name), ...parts]);
}

/** Creates a box that starts with a version and flags. */
function fullBox(name: string, flags: number, ...parts: Uint8Array[]): Bytes {
  return box(name, word(flags), ...parts);
}

const matrix = concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map((value) => word(value)));

// All times are in milliseconds.
const scale = 1000;

function sampleEntry(size: FrameSize): Bytes {
  const sequence = sequenceParameters(size);
  const picture = pictureParameters();
  const configuration = box(
    'avcC',
    Uint8Array.of(1, ...sequence.subarray(1, 4), 0xff, 0xe1),
    half(sequence.length),
    sequence,
    Uint8Array.of(1),
    half(picture.length),
    picture,
  );
  return box(
    'avc1',
    zeros(6),
    half(1),
    zeros(16),
    half(size.width),
    half(size.height),
    word(0x480000),
    word(0x480000),
    zeros(4),
    half(1),
    zeros(32),
    half(0x18),
    half(0xffff),
    configuration,
  );
}

interface Samples {
  readonly sizes: readonly number[];
  readonly duration: number;
}

function sampleTable(size: FrameSize, { sizes, duration }: Samples, offset: number): Bytes {
  const each = Math.floor(duration / sizes.length);
  const last = duration - each * (sizes.length - 1);
  const times =
    sizes.length === 1
      ? [word(1), word(1), word(duration)]
      : [word(2), word(sizes.length - 1), word(each), word(1), word(last)];
  return box(
    'stbl',
    fullBox('stsd', 0, word(1), sampleEntry(size)),
    fullBox('stts', 0, ...times),
    fullBox('stss', 0, word(1), word(1)),
    fullBox('stsc', 0, word(1), word(1), word(sizes.length), word(1)),
    fullBox('stsz', 0, word(0), word(sizes.length), ...sizes.map((bytes) => word(bytes))),
    fullBox('stco', 0, word(1), word(offset)),
  );
}

function movie(size: FrameSize, samples: Samples, offset: number): Bytes {
  const { duration } = samples;
  const media = box(
    'mdia',
    fullBox('mdhd', 0, zeros(8), word(scale), word(duration), half(0x55c4), half(0)),
    fullBox('hdlr', 0, zeros(4), utf8('vide'), zeros(12), utf8('video\0')),
    box(
      'minf',
      fullBox('vmhd', 1, zeros(8)),
      box('dinf', fullBox('dref', 0, word(1), fullBox('url ', 1))),
      sampleTable(size, samples, offset),
    ),
  );
  const track = box(
    'trak',
    fullBox(
      'tkhd',
      3,
      zeros(8),
      word(1),
      zeros(4),
      word(duration),
      zeros(16),
      matrix,
      word(size.width << 16),
      word(size.height << 16),
    ),
    media,
  );
  const header = fullBox(
    'mvhd',
    0,
    zeros(8),
    word(scale),
    word(duration),
    word(0x10000),
    half(0x100),
    zeros(10),
    matrix,
    zeros(24),
    word(2),
  );
  return box('moov', header, track);
}

// H.264 encodes pairs of pixels, and players reject frames that are very small or large.
const bounded = (pixels: number): number =>
  Math.min(Math.max(Math.floor(pixels / 2) * 2, 32), 2160);

/**
 * Creates a playable MP4: H.264, 8 frames per second, without sound.
 *
 * It has the requested size (32 to 2160 pixels per side, even) and duration (up to 60 seconds). Colours
 * and movement are derived from the prompt.
 */
export async function makeVideo({ prompt, seconds, width, height }: VideoSpec): Promise<Bytes> {
  const size = { width: bounded(width), height: bounded(height) };
  const length = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, longest) : 4;
  const count = Math.max(1, Math.round(length * framesPerSecond));
  const encoder = new H264Encoder(size);
  const frames: Uint8Array[] = [];
  for (const picture of videoPictures(prompt, inSquares(size), count)) {
    const frame = encoder.encode(picture);
    frames.push(word(frame.length), frame);
  }
  const sizes = frames.flatMap((frame, index) => (index % 2 === 1 ? [frame.length + 4] : []));
  const samples = { sizes, duration: Math.round(length * scale) };
  const type = box('ftyp', utf8('isom'), word(0x200), utf8('isomiso2avc1mp41'));
  // The size of the index does not depend on the offset that it contains.
  const offset = type.length + movie(size, samples, 0).length + 8;
  return concat([type, movie(size, samples, offset), box('mdat', ...frames)]);
}
