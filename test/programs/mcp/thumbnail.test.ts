import { deflateSync } from 'node:zlib';
import { encode as encodePNG } from 'fast-png';
import * as fc from 'fast-check';
import jpeg from 'jpeg-js';
import { describe, expect, test } from 'vitest';
import { createThumbnail } from '../../../src/programs/mcp/jobs/thumbnail.ts';
import { toPNG } from './png.ts';

/** Decodes a thumbnail, and returns its size and the color at a position from 0 to 1. */
function decode(thumbnail: string | undefined) {
  const { width, height, data } = jpeg.decode(Buffer.from(thumbnail ?? '', 'base64'), {
    useTArray: true,
  });
  const colorAt = (x: number, y: number): number[] => {
    const at = (Math.floor(y * (height - 1)) * width + Math.floor(x * (width - 1))) * 4;
    return [...data.subarray(at, at + 3)];
  };
  return { width, height, colorAt };
}

/** Returns pixels of one color on the left and another on the right. */
function halves(width: number, height: number, left: number[], right: number[]): Uint8Array {
  const pixels = Array.from({ length: width * height }, (_, index) =>
    index % width < width / 2 ? left : right,
  );
  return Uint8Array.from(pixels.flat());
}

const near = (color: readonly number[]) => color.map((value) => expect.closeTo(value, -1.5));

describe('a thumbnail', () => {
  test.each([
    { name: 'RGB', channels: 3, left: [250, 10, 10], right: [10, 10, 250], shown: [250, 10, 10] },
    {
      name: 'RGBA',
      channels: 4,
      left: [250, 10, 10, 255],
      right: [0, 0, 0, 255],
      shown: [250, 10, 10],
    },
    {
      name: 'transparent',
      channels: 4,
      left: [0, 0, 0, 0],
      right: [0, 0, 0, 255],
      shown: [255, 255, 255],
    },
    { name: 'gray', channels: 1, left: [120], right: [0], shown: [120, 120, 120] },
  ])(
    'a thumbnail of a PNG in $name has its colors, 320 pixels wide',
    async ({ channels, left, right, shown }) => {
      const data = halves(1_024, 512, left, right);
      const png = Buffer.from(encodePNG({ width: 1_024, height: 512, data, channels, depth: 8 }));

      const { width, height, colorAt } = decode(await createThumbnail(png));

      expect([width, height]).toEqual([320, 160]);
      expect(colorAt(0.2, 0.5)).toEqual(near(shown));
    },
  );

  test('a thumbnail is made of a JPEG and of a PNG with 16 bits', async () => {
    const data = halves(400, 400, [200, 100, 50, 255], [0, 0, 0, 255]);
    const photo = jpeg.encode({ width: 400, height: 400, data }, 90).data;
    const deep = Uint16Array.from(
      halves(400, 400, [200, 100, 50], [0, 0, 0]),
      (value) => value * 257,
    );
    const png = encodePNG({ width: 400, height: 400, data: deep, channels: 3, depth: 16 });

    for (const image of [photo, Buffer.from(png)]) {
      const { width, colorAt } = decode(await createThumbnail(image));
      expect(width).toBe(320);
      expect(colorAt(0.2, 0.5)).toEqual(near([200, 100, 50]));
    }
  });

  test('a thumbnail is not made of other formats, huge images and random bytes', async () => {
    const header = Buffer.from('89504e470d0a1a0a0000000d49484452ffffffffffffffff', 'hex');

    expect(await createThumbnail(header)).toBeUndefined();
    expect(await createThumbnail(Buffer.from('RIFF0000WEBPVP8 '))).toBeUndefined();
    const heads = ['89504e47', '89504e470d0a1a0a0000000d49484452', 'ffd8ffe0', ''];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...heads), fc.uint8Array(), async (head, bytes) => {
        const image = Buffer.concat([Buffer.from(head, 'hex'), bytes]);
        expect(await createThumbnail(image)).toBeUndefined();
      }),
    );
  });

  test('a thumbnail ignores colour profiles and texts, whatever they inflate to', async () => {
    const bomb = deflateSync(Buffer.alloc(50_000_000));
    const profile = Buffer.concat([Buffer.from('name\0\0'), bomb]);
    const image = toPNG(4, 4, [
      ['iCCP', profile],
      ['zTXt', profile],
      ['IDAT', deflateSync(Buffer.alloc(4 * 5))],
    ]);
    const before = process.memoryUsage().arrayBuffers;

    expect(decode(await createThumbnail(image)).width).toBe(4);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(25_000_000);
  });

  test('a thumbnail is not made of pixels that inflate to more than the header says', async () => {
    const [exact = Buffer.alloc(0), bomb = exact] = [100 * 101, 50_000_000].map((size) =>
      toPNG(100, 100, [['IDAT', deflateSync(Buffer.alloc(size))]]),
    );
    const before = process.memoryUsage().arrayBuffers;

    expect(await createThumbnail(exact)).toBeDefined();
    expect(await createThumbnail(bomb)).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(25_000_000);
  });

  test('a thumbnail is made of 33 megapixels with 16 bits', async () => {
    const pixels = deflateSync(Buffer.alloc(5_760 * (5_760 * 2 + 1), 0));
    const image = toPNG(5_760, 5_760, [['IDAT', pixels]], 16);

    expect(decode(await createThumbnail(image)).width).toBe(320);
  });

  test.each([
    { what: 'pixels', width: 8_000, height: 8_000, depth: 1, colorType: 0 },
    { what: 'bytes', width: 5_000, height: 5_000, depth: 16, colorType: 6 },
  ])('a thumbnail is not made of too many $what', async ({ width, height, depth, colorType }) => {
    const pixels: [string, Buffer] = ['IDAT', deflateSync(Buffer.alloc(100))];

    expect(await createThumbnail(toPNG(width, height, [pixels], depth, colorType))).toBeUndefined();
  });
});
