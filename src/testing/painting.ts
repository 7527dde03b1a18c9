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

/** Which part of a picture's plane a shape covers; coordinates go from 0 to 1. */
type Shape = (x: number, y: number) => boolean;

function makeShape(random: () => number, isSquare: boolean): Shape {
  const [centreX, centreY] = [0.15 + random() * 0.7, 0.15 + random() * 0.7];
  const radius = 0.06 + random() * 0.16;
  return (x, y) =>
    isSquare
      ? Math.abs(x - centreX) < radius && Math.abs(y - centreY) < radius
      : Math.hypot(x - centreX, y - centreY) < radius;
}

function randomColour(random: () => number): Colour {
  return [40 + random() * 200, 40 + random() * 200, 40 + random() * 200];
}

/**
 * Paints a picture that follows from the prompt: a field of colour and one shape for each word.
 *
 * Colours that the prompt names are used; "square" and "box" make squares.
 */
export function paint(prompt: string, width: number, height: number): Pixels {
  const random = randomFrom(hash(prompt));
  const words = prompt.toLowerCase().match(/\p{L}+/gu) ?? [];
  const colours = words.flatMap((word) => named[word] ?? []).length > 0;
  const wanted = words.flatMap((word) =>
    word in named ? [named[word] ?? randomColour(random)] : [],
  );
  const isSquare = words.some((word) => word === 'square' || word === 'box');
  const [from, to] = [randomColour(random), randomColour(random)];
  const shapes = words.slice(0, 12).map((_, index) => ({
    covers: makeShape(random, isSquare),
    colour: (colours ? wanted[index % wanted.length] : undefined) ?? randomColour(random),
  }));
  const data = new Uint8Array(width * height * 4);
  const longer = Math.max(width, height);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const [x, y] = [
        (column + (longer - width) / 2) / longer,
        (row + (longer - height) / 2) / longer,
      ];
      const shape = shapes.findLast(({ covers }) => covers(x, y));
      const colour =
        shape?.colour ?? from.map((value, index) => value + ((to[index] ?? 0) - value) * y);
      const at = (row * width + column) * 4;
      data.set(colour, at);
      data[at + 3] = 255;
    }
  }
  return { width, height, data };
}
