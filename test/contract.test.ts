import { describe, expect, test } from 'vitest';
import { readRecordings, replay, type Recording, type Setup } from './helpers/contract.ts';

// What a gateway of this family answered, with simulated vendors behind it, is in fixtures/gateway.
// Each request is sent to the emulator, whose answer must look the same.

/** The state in which answers were recorded, by the names of the recordings. */
const setups: readonly (readonly [names: RegExp, setup: Setup])[] = [
  [/no credit/, { options: { credit: 0 } }],
];

const setupOf = ({ name }: Recording): Setup =>
  setups.find(([names]) => names.test(name))?.[1] ?? {};

interface KeptDifference {
  readonly why: string;
  readonly covers: (recording: Recording, difference: string) => boolean;
}

/** What differs on purpose. */
const kept: readonly KeptDifference[] = [];

/** Answers that the emulator does not give yet. It shrinks until it is gone. */
const notYet = new Set([
  'video, no model',
  'video, unknown model',
  'video, bad key',
  'video, upstream 429',
  'video, upstream 500',
  'video content, unknown task',
  'video content, no key',
  'video submitted, veo',
  'video polled at once, sora',
  'video polled at once, kling',
  'video polled at once, ali',
  'video polled at once, vidu',
  'video polled at once, hailuo',
  'video polled at once, jimeng',
  'video polled at once, veo',
  'vendor route at once, kling',
  'content too early',
  'video completed, sora',
  'video failed, sora',
  'video completed, kling',
  'video failed, kling',
  'video completed, ali',
  'video failed, ali',
  'video completed, vidu',
  'video failed, vidu',
  'video completed, hailuo',
  'video failed, hailuo',
  'video completed, jimeng',
  'video failed, jimeng',
  'video completed, veo',
  'video failed, veo',
  'vendor route completed',
  'vendor route failed',
  'content of a completed task',
  'content of a failed task',
  'content, range',
  'remix',
  'remix, kling',
]);

const recordings = readRecordings();
const differences = new Map<Recording, readonly string[]>();
for (const recording of [...recordings.values()].flat()) {
  differences.set(recording, await replay(recording, setupOf(recording)));
}
const isKept = (recording: Recording, difference: string): boolean =>
  kept.some(({ covers }) => covers(recording, difference));

describe.each([...recordings])('%s', (_, inFile) => {
  test.each(inFile.map((recording) => [recording.name, recording] as const))(
    '%s',
    (_name, recording) => {
      const found = differences.get(recording) ?? [];
      const unexpected = found.filter((difference) => !isKept(recording, difference));
      if (notYet.has(recording.name)) expect(unexpected).not.toEqual([]);
      else expect(unexpected).toEqual([]);
    },
  );
});

test('at most five kinds of difference are kept, and each of them still occurs', () => {
  const occurring = kept.filter(({ covers }) =>
    [...differences].some(([recording, found]) =>
      found.some((difference) => covers(recording, difference)),
    ),
  );
  expect(occurring).toEqual(kept);
  expect(kept.length).toBeLessThanOrEqual(5);
});
