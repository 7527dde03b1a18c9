import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mapConcurrent } from '../../src/tasks/many.ts';

/** Lets a number of turns pass, so that work of different lengths overlaps. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

test('processes each item once, in order, with limited concurrency', async () => {
  const item = fc.record({ takes: fc.nat(30), reading: fc.nat(30) });
  await fc.assert(
    fc.asyncProperty(fc.array(item), fc.integer({ min: 1, max: 8 }), async (items, most) => {
      const begun: number[] = [];
      const ended: number[] = [];
      let running = 0;
      let untaken = 0;
      const work = async ({ takes }: (typeof items)[number], index: number) => {
        running += 1;
        begun.push(index);
        expect(running + untaken).toBeLessThanOrEqual(most);
        await turns(takes);
        running -= 1;
        untaken += 1;
        ended.push(index);
        return index;
      };

      const given: number[] = [];
      for await (const index of mapConcurrent(items, most, work)) {
        untaken -= 1;
        given.push(index);
        // Others end while this one is looked at.
        await turns(items[index]?.reading ?? 0);
      }

      expect(begun).toEqual(items.map((_, index) => index));
      expect(given).toEqual(ended);
      expect(given.toSorted((one, other) => one - other)).toEqual(begun);
    }),
  );
});

test('leaving the loop takes no more items, and closes the iterator', async () => {
  let isClosed = false;
  const begun: number[] = [];
  function* endless(): Generator<number, void, undefined> {
    try {
      for (let number = 0; ; number += 1) yield number;
    } finally {
      isClosed = true;
    }
  }
  const work = async (item: number): Promise<number> => {
    begun.push(item);
    await turns(item);
    return item;
  };

  for await (const item of mapConcurrent(endless(), 3, work)) if (item === 4) break;

  expect(isClosed).toBe(true);
  const count = begun.length;
  await turns(100);
  expect(begun).toHaveLength(count);
});
