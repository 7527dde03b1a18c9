import { BitWriter } from './bits.ts';

/**
 * A small H.264 encoder: constrained baseline, CAVLC, pictures of squares in one colour each.
 *
 * Each square is a macroblock predicted from its neighbour and corrected by one coefficient; unchanged
 * squares are skipped. This needs no transform and is lossless.
 */

/** Luma and chroma of a square of 16 by 16 pixels, 0 to 255. */
export type Square = readonly [luma: number, blue: number, red: number];

/** A picture: its squares row by row. */
export type Picture = readonly Square[];

/** Frame size of a video. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** Converts the size to squares. */
export function inSquares({ width, height }: FrameSize): { columns: number; rows: number } {
  return { columns: Math.ceil(width / 16), rows: Math.ceil(height / 16) };
}

/** Inserts bytes that prevent start codes within a unit. */
function escapeUnit(payload: Uint8Array): Uint8Array {
  const escaped: number[] = [];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      escaped.push(3);
      zeros = 0;
    }
    escaped.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Uint8Array.from(escaped);
}

function unit(header: number, writer: BitWriter): Uint8Array {
  return Uint8Array.from([header, ...escapeUnit(writer.trailing().bytes())]);
}

// The lowest level whose frame fits the squares: 3.1, 4.0, 5.1.
function levelFor(squares: number): number {
  if (squares <= 3600) return 31;
  return squares <= 8192 ? 40 : 51;
}

/** Writes the sequence parameters: size and profile. */
export function sequenceParameters(size: FrameSize): Uint8Array {
  const { columns, rows } = inSquares(size);
  const cropRight = (columns * 16 - size.width) >> 1;
  const cropBottom = (rows * 16 - size.height) >> 1;
  const writer = new BitWriter()
    .bits(66, 8) // baseline
    .bits(0xc0, 8) // constrained
    .bits(levelFor(columns * rows), 8)
    .unsigned(0) // parameter set 0
    .unsigned(0) // frame numbers have 4 bits
    .unsigned(2) // output order is coding order
    .unsigned(1) // one reference frame
    .bits(0, 1)
    .unsigned(columns - 1)
    .unsigned(rows - 1)
    .bits(1, 1) // frames only
    .bits(1, 1) // direct 8x8 inference
    .bits(1, 1) // cropped to the exact size
    .unsigned(0)
    .unsigned(cropRight)
    .unsigned(0)
    .unsigned(cropBottom)
    .bits(0, 1); // no usability information
  return unit(0x67, writer);
}

/** Writes the picture parameters. The quantiser step is one luma value. */
export function pictureParameters(): Uint8Array {
  const writer = new BitWriter()
    .unsigned(0)
    .unsigned(0)
    .bits(0, 1) // CAVLC
    .bits(0, 1)
    .unsigned(0) // one slice group
    .unsigned(0)
    .unsigned(0)
    .bits(0, 1)
    .bits(0, 2)
    .signed(2) // quantiser 28
    .signed(0)
    .signed(0)
    .bits(1, 1) // slices switch the deblocking filter off
    .bits(0, 1)
    .bits(0, 1);
  return unit(0x68, writer);
}

/** Writes a block of coefficients, which are all zero except the first. */
function writeCoefficient(writer: BitWriter, level: number, isChroma: boolean): void {
  if (level === 0) {
    if (isChroma) writer.bits(0b01, 2);
    else writer.bits(1, 1);
    return;
  }
  if (Math.abs(level) === 1) {
    if (isChroma) writer.bits(1, 1);
    else writer.bits(0b01, 2);
    writer.bits(level < 0 ? 1 : 0, 1);
  } else {
    writer.bits(isChroma ? 0b000111 : 0b000101, 6);
    const code = (level > 0 ? 2 * level - 2 : -2 * level - 1) - 2;
    if (code < 14) writer.bits(1, code + 1);
    else if (code < 30) writer.bits(1, 15).bits(code - 14, 4);
    else writer.bits(1, 16).bits(code - 30, 12);
  }
  writer.bits(1, 1); // no zeros before it
}

const grey: Square = [128, 128, 128];

interface Place {
  readonly column: number;
  readonly row: number;
}

// Luma and chroma number the prediction modes differently.
function prediction({ column, row }: Place): { luma: number; chroma: number } {
  if (column > 0) return { luma: 1, chroma: 1 }; // from the left
  return row > 0 ? { luma: 0, chroma: 2 } : { luma: 2, chroma: 0 }; // from above, or grey
}

/** Encodes a square and returns the decoded result. */
function writeSquare(
  writer: BitWriter,
  wanted: Square,
  neighbour: Square,
  place: Place,
  typeOffset: number,
): Square {
  const mode = prediction(place);
  // The quantiser step is 1 for luma and 2 for chroma.
  const luma = wanted[0] - neighbour[0];
  const blue = Math.trunc((wanted[1] - neighbour[1]) / 2);
  const red = Math.trunc((wanted[2] - neighbour[2]) / 2);
  const hasChroma = blue !== 0 || red !== 0;
  writer
    .unsigned(typeOffset + 1 + mode.luma + (hasChroma ? 4 : 0))
    .unsigned(mode.chroma)
    .signed(0);
  writeCoefficient(writer, luma, false);
  if (hasChroma) {
    writeCoefficient(writer, blue, true);
    writeCoefficient(writer, red, true);
  }
  return [wanted[0], neighbour[1] + 2 * blue, neighbour[2] + 2 * red];
}

function same(a: Square | undefined, b: Square): boolean {
  if (a === undefined) return false;
  return a[0] === b[0] && Math.abs(a[1] - b[1]) < 2 && Math.abs(a[2] - b[2]) < 2;
}

/** Encodes a sequence of pictures of the same size. */
export class H264Encoder {
  readonly #columns: number;
  #decoded: Square[] = [];
  #number = 0;

  constructor(size: FrameSize) {
    this.#columns = inSquares(size).columns;
  }

  /** Encodes a picture as a unit; the first one is complete, later ones contain changes. */
  encode(picture: Picture): Uint8Array {
    const isFirst = this.#number === 0;
    const writer = new BitWriter()
      .unsigned(0)
      .unsigned(isFirst ? 7 : 5) // all slices intra, or all predicted
      .unsigned(0)
      .bits(this.#number & 15, 4);
    if (isFirst) writer.unsigned(0).bits(0, 1).bits(0, 1);
    else writer.bits(0, 1).bits(0, 1).bits(0, 1);
    writer.signed(0).unsigned(1);
    this.#writeSquares(writer, picture, isFirst);
    this.#number += 1;
    return unit(isFirst ? 0x65 : 0x61, writer);
  }

  #writeSquares(writer: BitWriter, picture: Picture, isFirst: boolean): void {
    const before = this.#decoded;
    const decoded: Square[] = [];
    let skipped = 0;
    for (const [index, wanted] of picture.entries()) {
      const place = { column: index % this.#columns, row: Math.floor(index / this.#columns) };
      const kept = before[index];
      if (!isFirst && kept !== undefined && same(kept, wanted)) {
        decoded.push(kept);
        skipped += 1;
        continue;
      }
      if (!isFirst) writer.unsigned(skipped);
      skipped = 0;
      const neighbour = decoded[place.column > 0 ? index - 1 : index - this.#columns] ?? grey;
      decoded.push(writeSquare(writer, wanted, neighbour, place, isFirst ? 0 : 5));
    }
    if (skipped > 0) writer.unsigned(skipped);
    this.#decoded = decoded;
  }
}
