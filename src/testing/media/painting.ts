import { hash, randomFrom } from './hash.ts';
import type { Pixels } from './png.ts';

type Colour = readonly [number, number, number];

const named: Readonly<Record<string, Colour>> = {
  black: [24, 24, 28],
  white: [245, 245, 245],
  grey: [128, 128, 128],
  gray: [128, 128, 128],
  red: [214, 40, 40],
  orange: [244, 140, 6],
  yellow: [255, 209, 50],
  green: [56, 142, 60],
  blue: [33, 108, 214],
  purple: [123, 44, 191],
  pink: [240, 128, 170],
  brown: [121, 85, 72],
};

/** A circle or a square, with measures relative to the longer side of the picture. */
interface Shape {
  readonly isSquare: boolean;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly colour: Colour;
}

function randomColour(random: () => number): Colour {
  return [40 + random() * 200, 40 + random() * 200, 40 + random() * 200];
}

/** Fills the picture with a vertical gradient between two colours. */
function fillGradient({ width, height, data }: Pixels, from: Colour, to: Colour): void {
  for (let row = 0; row < height; row += 1) {
    const shade = from.map((value, index) => value + ((to[index] ?? 0) - value) * (row / height));
    const start = row * width * 4;
    data.set([...shade, 255], start);
    for (let filled = 4; filled < width * 4; filled *= 2) {
      data.copyWithin(start + filled, start, start + Math.min(filled, width * 4 - filled));
    }
  }
}

function fillShape({ width, height, data }: Pixels, shape: Shape): void {
  const longer = Math.max(width, height);
  const radius = shape.radius * longer;
  const x = shape.x * longer - (longer - width) / 2;
  const y = shape.y * longer - (longer - height) / 2;
  for (let row = Math.max(0, Math.ceil(y - radius)); row < Math.min(height, y + radius); row += 1) {
    const half = shape.isSquare ? radius : Math.sqrt(radius ** 2 - (row - y) ** 2);
    const end = Math.min(width, x + half);
    for (let column = Math.max(0, Math.ceil(x - half)); column < end; column += 1) {
      data.set(shape.colour, (row * width + column) * 4);
    }
  }
}

/**
 * Paints a picture derived from the prompt: a coloured background and a shape for each word.
 *
 * Uses colours that the prompt names; "square" and "box" produce squares.
 */
export function paint(prompt: string, width: number, height: number): Pixels {
  const random = randomFrom(hash(prompt));
  const words = prompt.toLowerCase().match(/\p{L}+/gu) ?? [];
  const wanted = words.flatMap((word) => {
    const colour = Object.hasOwn(named, word) ? named[word] : undefined;
    return colour === undefined ? [] : [colour];
  });
  const isSquare = words.some((word) => word === 'square' || word === 'box');
  const picture = { width, height, data: new Uint8Array(width * height * 4) };
  fillGradient(picture, randomColour(random), randomColour(random));
  for (const index of words.slice(0, 12).keys()) {
    fillShape(picture, {
      isSquare,
      x: 0.15 + random() * 0.7,
      y: 0.15 + random() * 0.7,
      radius: 0.06 + random() * 0.16,
      colour: wanted[index % wanted.length] ?? randomColour(random),
    });
  }
  return picture;
}
