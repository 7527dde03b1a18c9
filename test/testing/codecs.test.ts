import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteStream, streamChunks, resizeChunks } from '../../src/testing/server/byte-stream.ts';
import { readSound } from '../../src/testing/media/audio-reader.ts';
import { encodeMp3 } from '../../src/testing/media/mp3.ts';
import { decodePng, encodePng } from '../../src/testing/media/png.ts';
import { countTokens, splitTokens } from '../../src/testing/routes/usage.ts';
import { toTones } from '../../src/testing/media/tones.ts';
import { encodeWav } from '../../src/testing/media/wav.ts';

function chunk(name: string, content: Uint8Array): Buffer {
  const frame = Buffer.alloc(content.length + 12);
  frame.writeUInt32BE(content.length, 0);
  frame.write(name, 4, 'latin1');
  frame.set(content, 8);
  frame.writeUInt32BE(crc32(frame.subarray(4, -4)), content.length + 8);
  return frame;
}

/** A PNG file made without the encoder under test. */
function writePng(width: number, height: number, type: number, rows: Uint8Array, extra: Buffer[]) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, type], 8);
  const [palette, opacity] = extra;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...(palette === undefined ? [] : [chunk('PLTE', palette)]),
    ...(opacity === undefined ? [] : [chunk('tRNS', opacity)]),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

/** The samples of a test picture. */
function sample(at: number, row: number): number {
  return at < 0 || row < 0 ? 0 : (at * 37 + row * 91 + at * row) & 255;
}

/** The rows of the test picture with one filter each. */
function filteredRows(width: number, height: number, depth: number, filters: number[]) {
  const stride = width * depth;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const filter = filters[row % filters.length] ?? 0;
    rows[row * (stride + 1)] = filter;
    for (let at = 0; at < stride; at += 1) {
      const [a, b] = [sample(at - depth, row), sample(at, row - 1)];
      const c = sample(at - depth, row - 1);
      const nearest = [a, b, c].toSorted(
        (x, y) => Math.abs(a + b - c - x) - Math.abs(a + b - c - y),
      )[0];
      const guess = [0, a, b, Math.floor((a + b) / 2), nearest][filter] ?? 0;
      rows[row * (stride + 1) + 1 + at] = sample(at, row) - guess;
    }
  }
  return rows;
}

// 12 by 12 pixels with the Paeth filter, written by another program.
const foreignPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAwAAAAMCAYAAABWdVznAAAACXBIWXMAAAAAAAAAAQCEeRdzAAAApElEQVR4nIWP' +
  'vQrDMAyEVVJTurRTpnYpxgQCHUIWZ8qWzU+g99/yDu35FxM7yfAhWbqzzxci+qmGVnUHT9CCF/iADnzBCCYw03pl' +
  'QaSaGylRwpVZZngkOOu3JIMXtVXY1sn3mxfs8J3grI8UBi+SFRbsZC1SNPQBjV2fzjuRZBANBQeRdBDpBAtzFmnA' +
  '3Ipn9wdbdyItWSQdxJ6DSNFg3M3sDIb+7CQ4cXLrsFgAAAAASUVORK5CYII=';

const foreignPixel = (x: number, y: number): number[] =>
  [x * 37 + y * 91, x * x * 3 + y * 5, x * y * 7, 255 - x * 20].map((value) => value & 255);

describe('PNG', () => {
  test('a PNG of any image is decoded unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.infiniteStream(fc.nat(255)),
        async (width, height, bytes) => {
          const data = Uint8Array.from(bytes.take(width * height * 4));

          const decoded = await decodePng(await encodePng({ width, height, data }));

          expect(decoded).toEqual({ width, height, data });
        },
      ),
      { numRuns: 50 },
    );
  });

  test.each([
    { name: 'grey', type: 0, depth: 1, channels: [0, 0, 0, 255] },
    { name: 'colour', type: 2, depth: 3, channels: [0, 1, 2, 255] },
    { name: 'grey with opacity', type: 4, depth: 2, channels: [0, 0, 0, 1] },
    { name: 'colour with opacity', type: 6, depth: 4, channels: [0, 1, 2, 3] },
  ] as const)('a PNG with $name and every filter is read', async ({ type, depth, channels }) => {
    const [width, height] = [7, 10];
    const rows = filteredRows(width, height, depth, [0, 1, 2, 3, 4]);

    const decoded = await decodePng(writePng(width, height, type, rows, []));

    const expected = Array.from({ length: width * height * 4 }, (__, at) => {
      const [pixel, channel] = [Math.floor(at / 4), channels[at % 4] ?? 0];
      const column = (pixel % width) * depth + channel;
      return channel === 255 ? 255 : sample(column, Math.floor(pixel / width));
    });
    expect([...(decoded?.data ?? [])]).toEqual(expected);
  });

  test('a PNG with a palette is read', async () => {
    const palette = Buffer.from([10, 20, 30, 40, 50, 60]);

    const decoded = await decodePng(
      writePng(2, 1, 3, Buffer.from([0, 1, 0]), [palette, Buffer.from([7])]),
    );

    expect([...(decoded?.data ?? [])]).toEqual([40, 50, 60, 255, 10, 20, 30, 7]);
  });

  test('a PNG of another encoder is read', async () => {
    const decoded = await decodePng(Buffer.from(foreignPng, 'base64'));

    const expected = Array.from({ length: 144 }, (_, at) =>
      foreignPixel(at % 12, Math.floor(at / 12)),
    );
    expect([...(decoded?.data ?? [])]).toEqual(expected.flat());
  });

  test('a PNG is distinguished from other files', async () => {
    expect(await decodePng(new Uint8Array([1, 2, 3]))).toBeUndefined();
  });
});

describe('audio', () => {
  test('audio of any text has its duration and title', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }), (text) => {
        fc.pre(text.trim() !== '' && !text.includes('\0'));
        const tones = toTones(text);
        const seconds = tones.reduce((sum, tone) => sum + tone.milliseconds, 0) / 1000;

        const [mp3, wav] = [readSound(encodeMp3(tones, text)), readSound(encodeWav(tones, text))];

        expect(mp3.title).toBe(text);
        expect(wav.title).toBe(text);
        expect(mp3.duration).toBeCloseTo(seconds, 0);
        expect(wav.duration).toBeCloseTo(seconds, 2);
      }),
      { numRuns: 50 },
    );
  });

  test('audio of any bytes is read without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        for (const start of ['', 'ID3', 'RIFF....WAVEfmt ']) {
          readSound(Buffer.concat([Buffer.from(start), bytes]));
        }
      }),
    );
  });
});

describe('tokens', () => {
  test('tokens of any text decode to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(splitTokens(text).join('')).toBe(text);
        expect(countTokens(text)).toBe(splitTokens(text).length);
      }),
    );
  });
});

describe('chunks of a body', () => {
  test('chunks of a body of any size contain the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 20 })),
        fc.integer({ min: 1, max: 9 }),
        async (parts, size) => {
          const source = new ReadableStream<Uint8Array>({
            start(controller) {
              for (const part of parts) controller.enqueue(part);
              controller.close();
            },
          });
          const { signal } = new AbortController();

          const body = byteStream(signal, () => resizeChunks(streamChunks(source), size));
          const sizes: number[] = [];
          const whole: number[] = [];
          for await (const piece of body) {
            sizes.push(piece.length);
            whole.push(...piece);
          }

          expect(whole).toEqual(parts.flatMap((part) => [...part]));
          expect(sizes.slice(0, -1).every((length) => length === size)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });
});
