import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withScenarios, type ScenarioResult } from '../../bench/duplicates/scenarios/table.ts';

interface CallResult {
  readonly package: string;
  readonly pays: 'job' | 'metered';
  readonly options: string;
  readonly faults: Readonly<
    Record<string, { readonly requests: number; readonly charges: number }>
  >;
}

interface Results {
  readonly calls: readonly CallResult[];
  readonly scenarios: readonly ScenarioResult[];
}

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const results: Results = JSON.parse(read('bench/results/duplicates.json'));

/** The rows of a page's tables, without the padding of the formatter. */
const rows = (page: string): string[] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---'));

/** The most charges for one image or video call of this client, or of its peers. */
function mostCharges(isOwn: boolean): number {
  const jobs = results.calls.filter(({ pays }) => pays === 'job');
  const calls = jobs.filter((call) => (call.package === 'model-gateway') === isOwn);
  return Math.max(
    ...calls.flatMap(({ faults }) => Object.values(faults).map(({ charges }) => charges)),
  );
}

describe('the results of the duplicates bench', () => {
  test('the results of the duplicates bench are the table of the guide', () => {
    const guide = read('docs/guides/retries-and-charges.md');

    expect(rows(guide)).toEqual(rows(withScenarios(guide, results.scenarios)));
  });

  test('the results of the duplicates bench keep every promise', () => {
    expect(results.scenarios.filter(({ isKept }) => !isKept).map(({ id }) => id)).toEqual([]);
    expect(mostCharges(true)).toBe(1);
  });

  test('the results of the duplicates bench are the figures of the README', () => {
    const words = [
      'no',
      'one',
      'two',
      'three',
      'four',
      'five',
      'six',
      'seven',
      'eight',
      'nine',
      'ten',
    ];

    expect(read('README.md')).toContain(`send a call up to ${words[mostCharges(false)]} times`);
  });

  test.each(['budget', 'settle', 'tenants', 'image', 'wrapped', 'command'])(
    'the results of the duplicates bench have scenarios of %s',
    (family) => {
      expect(results.scenarios.some(({ id }) => id.startsWith(family))).toBe(true);
    },
  );
});
