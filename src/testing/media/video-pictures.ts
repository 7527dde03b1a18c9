import type { Picture, Square } from './h264.ts';
import { hash, randomFrom } from './hash.ts';

interface Grid {
  readonly columns: number;
  readonly rows: number;
}

interface Ball {
  readonly radius: number;
  readonly colour: Square;
  /** Returns the centre in a frame, in squares. */
  at(frame: number): { column: number; row: number };
}

/** Position of a point that is reflected at the ends of a line. */
function reflect(distance: number, length: number): number {
  const place = Math.abs(distance) % (2 * length);
  return place < length ? place : 2 * length - place;
}

const even = (value: number): number => Math.round(value / 2) * 2;

function makeBall(random: () => number, { columns, rows }: Grid): Ball {
  const start = { column: random() * columns, row: random() * rows };
  const speed = { column: 0.4 + random() * 1.2, row: 0.3 + random() * 0.9 };
  return {
    radius: (0.08 + random() * 0.12) * Math.min(columns, rows),
    colour: [60 + even(random() * 160), even(40 + random() * 176), even(40 + random() * 176)],
    at: (frame) => ({
      column: reflect(start.column + frame * speed.column, columns),
      row: reflect(start.row + frame * speed.row, rows),
    }),
  };
}

/** Creates the pictures of a video: moving balls on a coloured background, derived from the prompt. */
export function* videoPictures(prompt: string, grid: Grid, count: number): Generator<Picture> {
  const random = randomFrom(hash(prompt));
  const tint = [even(64 + random() * 128), even(64 + random() * 128)] as const;
  const slope = { column: random() - 0.5, row: random() - 0.5 };
  const balls = Array.from({ length: 3 }, () => makeBall(random, grid));
  for (let frame = 0; frame < count; frame += 1) {
    const picture: Square[] = [];
    const places = balls.map((ball) => ({ ...ball, ...ball.at(frame) }));
    for (let row = 0; row < grid.rows; row += 1) {
      for (let column = 0; column < grid.columns; column += 1) {
        const ball = places.find(
          (place) => (place.column - column) ** 2 + (place.row - row) ** 2 <= place.radius ** 2,
        );
        const shade = (slope.column * column) / grid.columns + (slope.row * row) / grid.rows;
        picture.push(ball?.colour ?? [Math.round(120 + 80 * shade), ...tint]);
      }
    }
    yield picture;
  }
}
