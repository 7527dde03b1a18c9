import { expect, test } from 'vitest';
import { toSubmitOptions, toWaitOptions } from '../../../src/adapters/bullmq/options.ts';
import { optionsOf } from '../../../src/options/option-names.ts';
import { untyped } from '../../helpers/untyped.ts';

/** Options that the processor sets itself; its type does not have them. */
const ofProcessor = new Set(['callId', 'idempotencyKey', 'onSubmitted', 'onUpdate', 'signal']);

test.each([
  { method: 'videos.step', toOptions: toWaitOptions },
  ...(['videos.create', 'videos.remix'] as const).map((method) => ({
    method,
    toOptions: (options: never) => toSubmitOptions(options, method),
  })),
] as const)('a job passes $method only the options that it has', ({ method, toOptions }) => {
  const all = [...optionsOf('videos.createAndWait').keys()].filter(
    (name) => !ofProcessor.has(name),
  );
  const options = Object.fromEntries(all.map((name) => [name, true]));

  const passed = Object.keys(toOptions(untyped<never>(options)));

  expect(passed.length).toBeGreaterThan(5);
  expect(passed.filter((name) => !optionsOf(method).has(name))).toEqual([]);
});
