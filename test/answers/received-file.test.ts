import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContainerWalk } from '../../src/answers/container.ts';
import { describeText, ReceivedFile } from '../../src/answers/received-file.ts';
import { encodeMp3 } from '../../src/testing/media/mp3.ts';
import { makeVideo } from '../../src/testing/media/mp4.ts';
import { paint } from '../../src/testing/media/painting.ts';
import { encodePng } from '../../src/testing/media/png.ts';
import { toTones } from '../../src/testing/media/tones.ts';
import { encodeWav } from '../../src/testing/media/wav.ts';
import { mediaHeads } from '../helpers/media.ts';

/** Joins bytes, which may be text with one character for each. */
const file = (...parts: readonly (string | Uint8Array | readonly number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  );

const box = (type: string, content: Uint8Array | string, size?: number): Uint8Array => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(size ?? content.length + 8);
  return file(length, type, content);
};

const filler = Buffer.alloc(90, 0x55);
const riffSize = (size: number): Uint8Array => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(size);
  return bytes;
};

const tones = toTones('A boat');
const segment = (marker: number, content: Uint8Array): Uint8Array =>
  file([0xff, marker, 0, content.length + 2], content);
const pixels = file(filler, [0xff, 0x00], filler, [0xff, 0xd3], filler, [0xff, 0xff, 0xd9]);
const ebml = file([0x1a, 0x45, 0xdf, 0xa3, 0x84], 'webm');

/** Whole files whose containers have an end. */
const wholeFiles: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['MP4', await makeVideo({ prompt: 'A boat', seconds: 1, width: 64, height: 64 })],
  ['MP4, index last', file(box('ftyp', 'isom'), box('mdat', filler), box('moov', filler))],
  [
    'MP4, 64-bit',
    file(
      box('ftyp', 'isom'),
      box('moov', ''),
      box('mdat', file([0, 0, 0, 0, 0, 0, 0, 106], filler), 1),
    ),
  ],
  ['AVIF', file(box('ftyp', 'avif'), box('meta', filler), box('mdat', filler))],
  ['WAV', encodeWav(tones, 'A boat')],
  ['WebP', file('RIFF', riffSize(94), 'WEBP', filler)],
  ['PNG', await encodePng(paint('A boat', 16, 16))],
  ['JPEG', file([0xff, 0xd8], segment(0xe0, filler), segment(0xda, filler), pixels)],
  [
    'JPEG, progressive',
    file(
      [0xff, 0xd8],
      segment(0xda, filler),
      filler,
      [0xff, 0xc4, 0, 4, 1, 1, 0xff, 0xda, 0, 2],
      pixels,
    ),
  ],
  [
    'GIF',
    file(
      'GIF89a',
      [1, 0, 1, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6],
      [0x21, 0xf9, 2, 9, 9, 0],
      [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 3, 7, 7, 7, 0],
      ';',
    ),
  ],
  ['WebM', file(ebml, [0x18, 0x53, 0x80, 0x67, 0x40, 90], filler)],
];

/** Files that say nothing about their length, or a wrong one. */
const silentFiles: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ...Object.entries(mediaHeads),
  ['MP3', encodeMp3(tones, 'A boat')],
  [
    'WAV of a writer that does not know the length',
    file('RIFF', riffSize(0xff_ff_ff_ff), 'WAVE', filler),
  ],
  ['WAV whose length counts its header', file('RIFF', riffSize(102), 'WAVE', filler)],
  [
    'WebM of a live stream',
    file(ebml, [0x18, 0x53, 0x80, 0x67, 0x01, 255, 255, 255, 255, 255, 255, 255], filler),
  ],
  [
    'MP4 whose last box has no length',
    file(box('ftyp', 'isom'), box('moov', ''), box('mdat', filler, 0)),
  ],
  [
    'MP4 with zeros behind it',
    file(box('ftyp', 'isom'), box('moov', ''), box('mdat', filler), Buffer.alloc(5)),
  ],
  ['no bytes', file()],
];

/** Splits bytes at any positions. */
const chunks = (bytes: Uint8Array): fc.Arbitrary<readonly Uint8Array[]> =>
  fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }).map((positions) => {
    const ends = [...positions.toSorted((one, other) => one - other), bytes.length];
    return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  });

function isCut(parts: readonly Uint8Array[]): boolean {
  const walk = new ContainerWalk();
  for (const part of parts) walk.add(part);
  return walk.isCut;
}

describe('containers of files', () => {
  test.each(wholeFiles)('%s tells a cut file from a whole one, in any chunks', (_, bytes) => {
    const lengths = fc.integer({ min: 12, max: bytes.length });
    const parts = lengths.chain((length) => chunks(bytes.subarray(0, length)));
    const property = fc.property(parts, (received) => {
      const length = received.reduce((sum, { length: size }) => sum + size, 0);
      expect(isCut(received)).toBe(isCut([bytes.subarray(0, length)]));
    });
    fc.assert(property);

    expect(isCut([bytes])).toBe(false);
    // Eight bytes are the tolerance for a RIFF size that counts its header.
    for (const part of [0.4, 0.6, 0.9]) {
      expect(isCut([bytes.subarray(0, Math.min(bytes.length * part, bytes.length - 9))])).toBe(
        true,
      );
    }
    expect(isCut(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toBe(false);
  });

  test.each(silentFiles)('%s is no proof of a cut', (_, bytes) => {
    expect(isCut([bytes])).toBe(false);
  });

  test('an unknown file never fails', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => void isCut([bytes])));
  });
});

function receive(parts: readonly Uint8Array[], isProof = true) {
  const received = new ReceivedFile(isProof);
  const passed = parts.map((part) => received.add(part).slice());
  const { rest, error, isCut: cut } = received.end();
  return { bytes: Buffer.concat([...passed, rest]), error: error?.value, cut };
}

describe('a received file', () => {
  const error = { error: { message: 'unexpected EOF (request id: 1)', type: 'one_api_error' } };
  const mp3 = Buffer.concat([encodeMp3(tones, '{"error":"x"}'), Buffer.from('{"error":')]);
  const cut = mp3.subarray(0, 900);

  test.each([
    ['compact', JSON.stringify(error)],
    ['with line breaks', `${JSON.stringify(error, undefined, 2)}\n\n`],
    ['with other fields', JSON.stringify({ id: 7, ...error, code: null })],
    ['of 4 KiB', JSON.stringify({ ...error, detail: 'é'.repeat(1_900) })],
  ])(
    'a received file that ends with an error is the bytes before it, in any chunks: %s',
    (_, text) => {
      fc.assert(
        fc.property(chunks(Buffer.concat([cut, Buffer.from(text)])), (parts) => {
          expect(receive(parts)).toMatchObject({ bytes: cut, error });
        }),
      );
    },
  );

  test.each([
    ['an incomplete object', '{"error":{"message":"x"}'],
    ['no error', '{"title":"x"}'],
    ['an empty error', '{"title":"x","error":null}'],
    ['bytes behind it', `${JSON.stringify(error)}\0`],
    ['a tag', `TAG{"error":"x"}`.padEnd(127) + '}'],
    ['a tag in braces', `TAG{"title":"x"}`.padEnd(127) + '\f'],
    ['more than 4 KiB', JSON.stringify({ ...error, detail: 'x'.repeat(4_096) })],
  ])('a received file whose end is %s is whole, in any chunks', (_, text) => {
    const bytes = Buffer.concat([cut, Buffer.from(text)]);
    fc.assert(
      fc.property(chunks(bytes), (parts) => {
        expect(receive(parts)).toEqual({ bytes, error: undefined, cut: false });
      }),
    );
  });

  test('a received file keeps all bytes, and at most 4 KiB until the next ones', () => {
    const parts = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 5_000 }),
        fc.constantFrom('{', '{ "', '"', '}', ' ', 'TAG', '{"a":1}').map((text) => file(text)),
      ),
    );
    const property = fc.property(parts, (given) => {
      const received = new ReceivedFile(false);
      let left = 0;
      const passed = given.map((part) => {
        const bytes = received.add(part).slice();
        left += part.length - bytes.length;
        expect(left).toBeLessThanOrEqual(4_096);
        return bytes;
      });
      expect(Buffer.concat([...passed, received.end().rest])).toEqual(Buffer.concat([...given]));
    });
    fc.assert(property);
  });
});

test.each([
  ['', 'empty'],
  [' \n', 'empty'],
  ['<!doctype html><title>x</title>', 'an HTML page'],
  ['\uFEFF<html>', 'an HTML page'],
  ['<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', 'XML'],
  ['<Error><Code>NoSuchKey</Code></Error>', 'XML'],
  ['{"error":"x"}', 'JSON'],
  ['[]', 'JSON'],
  ['null', 'JSON'],
  ['<?xml version="1.0"?><svg/>', undefined],
  ['<svg/>', undefined],
  ['{"half":', undefined],
  ['\u0000\u0001', undefined],
])('text that is not a file: %j', (text, content) => {
  expect(describeText(text)).toBe(content);
});
