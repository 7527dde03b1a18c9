import { describe, expect, test } from 'vitest';
import { gates, type Gate } from '../../bench/gates.ts';
import { columnsFor, gatesFor, judge, measurePart } from '../../bench/judge.ts';
import type { Metric, Part, Values } from '../../bench/lib/metric.ts';
import { varying } from '../../bench/lib/rounds.ts';
import { groupColumns } from '../../bench/lib/svg-grid.ts';
import { roundSize, statedSize, withSize } from '../../bench/report/readme.ts';

const ratio: Gate = { metric: 'calls', atMost: 0.8, of: 'openai', reason: 'CPU' };
const size: Gate = { metric: 'bundle', atMost: 10, reason: 'A page loads it.' };

function round(own: number, openai: number): Values {
  return { 'model-gateway': own, openai };
}

function calls(...rounds: readonly Values[]): Metric {
  return varying({ id: 'calls', label: 'A call', unit: 'µs' }, rounds);
}

function waits(id: string, ...values: readonly number[]): Metric {
  const rounds = values.map((value) => ({ 'model-gateway': value }));
  return varying({ id, label: id, unit: 'KiB' }, rounds);
}

const bundle = (kib: number): Metric => {
  return { id: 'bundle', label: 'Bundle', unit: 'KiB', values: { 'model-gateway': kib } };
};

const columns = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ own: index === 0 }));

/** A part with its figures in order, and the verdicts on it. */
async function measured(list: readonly (readonly Metric[])[], asked: readonly Gate[]) {
  const said: string[] = [];
  let taken = 0;
  const part: Part = {
    name: 'calls',
    measure: async () => ({ metrics: list[taken++] ?? [] }),
  };
  const effort = { check: true, columns: columnsFor(asked) };
  const { verdicts } = await measurePart(part, asked, effort, (line) => said.push(line));
  return { results: verdicts.map(({ result }) => result), said, taken };
}

describe('a verdict', () => {
  test('a verdict uses the median of the ratios of rounds, not the ratio of medians', () => {
    // The machine was four times as slow in the second round, and one figure of the third is an accident.
    const metric = calls(round(7, 10), round(28, 40), round(30, 10));

    expect(metric.values).toEqual({ 'model-gateway': 28, openai: 10 });
    expect(judge([ratio], [metric])).toEqual([{ gate: ratio, value: 0.7, result: 'met' }]);
  });

  test('a verdict compares one figure with another of the same round', () => {
    const gate: Gate = { metric: 'waits.2', atMost: 1.2, ofMetric: 'waits.1', reason: 'Memory' };
    const verdicts = judge([gate], [waits('waits.1', 2, 8, 4), waits('waits.2', 2, 8, 40)]);

    expect(verdicts).toEqual([{ gate, value: 1, result: 'met' }]);
  });

  test.each([
    [0.8, 'met'],
    [0.85, 'known'],
    [0.91, 'missed'],
  ])('a verdict of %d is %s, with a ratchet of 0.9', (value, result) => {
    const gate = { ...ratio, missed: { atMost: 0.9, why: 'ky' } };

    expect(judge([gate], [calls(round(value, 1))])).toEqual([{ gate, value, result }]);
  });

  test('a verdict is a miss if a measurement is missing', () => {
    const withoutOwn = judge([ratio], [calls({ openai: 1 }, { openai: 1 })]);
    const withoutOther = judge([ratio], [calls({ 'model-gateway': 1 })]);

    expect([...withoutOwn, ...withoutOther].map(({ result }) => result)).toEqual([
      'missed',
      'missed',
    ]);
  });

  test('a verdict is absent if nothing was measured', () => {
    expect(judge([ratio], [bundle(1)])).toEqual([]);
  });
});

describe('runs of a measurement', () => {
  test('a measurement runs once if all gates are met', async () => {
    expect(await measured([[calls(round(7, 10))]], [ratio])).toEqual({
      results: ['met'],
      said: [],
      taken: 1,
    });
  });

  test('a measurement runs again if a figure that varies misses its gate', async () => {
    const found = await measured([[calls(round(9, 10))], [calls(round(7, 10))]], [ratio]);

    expect(found).toEqual({
      results: ['met'],
      said: ['calls: 0.90 ×, asked ≤ 0.8 × openai. Measured again (2 of 3).'],
      taken: 2,
    });
  });

  test('a measurement runs at most three times', async () => {
    const found = await measured(
      Array.from({ length: 9 }, () => [calls(round(9, 10))]),
      [ratio],
    );

    expect(found.results).toEqual(['missed']);
    expect(found.said).toHaveLength(2);
    expect(found.taken).toBe(3);
  });

  test('a measurement runs once if the miss is known', async () => {
    const gate = { ...ratio, missed: { atMost: 0.95, why: 'ky' } };

    expect(await measured([[calls(round(9, 10))]], [gate])).toMatchObject({
      results: ['known'],
      taken: 1,
    });
  });

  test('a measurement runs once if a size misses', async () => {
    expect(await measured([[bundle(11)], [bundle(9)]], [size])).toEqual({
      results: ['missed'],
      said: [],
      taken: 1,
    });
  });

  test('a measurement that runs again does not change gates that were met or sizes', async () => {
    const floor: Gate = { metric: 'calls', atMost: 2, of: 'floor', reason: 'CPU' };
    const first = calls({ ...round(9, 10), floor: 9 });
    const second = calls({ ...round(7, 10), floor: 1 });

    const found = await measured(
      [
        [first, bundle(11)],
        [second, bundle(9)],
      ],
      [ratio, floor, size],
    );

    expect(found).toMatchObject({ results: ['met', 'met', 'missed'], taken: 2 });
  });
});

test('every gate belongs to a measurement', () => {
  const parts = ['bundle', 'page', 'import', 'calls', 'chunks', 'embeddings', 'upload'].concat(
    'provider',
    'responses',
    'streams',
    'waits',
    'types',
    'install',
    'cli',
    'ledgers',
  );

  expect(parts.flatMap((part) => gatesFor(part, gates)).length).toBe(gates.length);
  expect(columnsFor(gatesFor('chunks', gates))).toEqual(['model-gateway', 'openai', 'floor']);
});

describe('the size of the package', () => {
  test('the size of the package is the same number in the README and in its gate', () => {
    expect(gates.find(({ metric }) => metric === 'install.own')?.atMost).toBe(statedSize());
  });

  test('the size of the package is rounded up and written into the README', () => {
    const values = { 'model-gateway': roundSize(4.61), openai: 22.9 };
    const metric: Metric = { id: 'install.size', label: 'Size', unit: 'MiB', values };
    const readme = withSize('It is one package of 4.6 MiB (`openai`: 23 MiB).', [metric]);

    expect(readme).toBe('It is one package of 4.7 MiB (`openai`: 23 MiB).');
    expect(statedSize(readme)).toBe(4.7);
  });
});

describe('the columns of a picture', () => {
  test.each([
    [4, 4, [[0, 1, 2, 3]]],
    [
      5,
      4,
      [
        [0, 1, 2],
        [0, 3, 4],
      ],
    ],
    [
      9,
      4,
      [
        [0, 1, 2, 3],
        [0, 4, 5, 6],
        [0, 7, 8],
      ],
    ],
  ])('%d columns, at most %d side by side', (count, most, groups) => {
    expect(groupColumns(columns(count), most)).toEqual(groups);
  });
});
