import { describe, expect, test } from 'vitest';
import {
  checkDuration,
  checkInteger,
  checkLimit,
  checkList,
  checkNumber,
  checkText,
  checkWord,
  shown,
} from '../../src/options/check.ts';

describe('an invalid parameter', () => {
  const long = 'a key or a prompt, which is private';

  test.each<[unknown, string]>([
    [0, '0'],
    [Number.NaN, 'NaN'],
    [undefined, 'undefined'],
    [null, 'null'],
    ['5', '"5"'],
    [long, 'a long text'],
    [[long], 'a list'],
    [{ long }, 'an object'],
    [() => long, 'a function'],
    [Promise.resolve(long), 'a promise, which needs "await" before it'],
  ])('%o is shown as %s', (value, expected) => {
    expect(shown(value)).toBe(expected);
  });

  test.each<[string, () => unknown]>([
    ['f: must be a finite number, not NaN.', () => checkNumber('f', Number.NaN)],
    ['f: must be a number from 0 to 1, not 2.', () => checkNumber('f', 2, 0, 1)],
    ['f: must be a whole number of at least 1, not 1.5.', () => checkInteger('f', 1.5, 1)],
    ['f: must be a whole number from 0 to 9, not "1".', () => checkInteger('f', '1', 0, 9)],
    [
      'f: must be a number of milliseconds from 1 to 2147483647, not 0.',
      () => checkDuration('f', 0),
    ],
    [
      'f: must be a number of milliseconds from 1 to 2147483647, not undefined.',
      () => checkLimit('f', undefined),
    ],
    ['f: must be one of "a", "b", not "c".', () => checkWord('f', 'c', ['a', 'b'])],
    ['f: is empty; give a name.', () => checkText('f', ' ', 'a name')],
    ['f: is empty; give a name.', () => checkText('f', undefined, 'a name')],
    ['f: must be text, not 7; give a name.', () => checkText('f', 7, 'a name')],
    ['f: must be a list with at least one entry; pass names.', () => checkList('f', [], 'names')],
  ])('%s', (message, check) => {
    expect(check).toThrow(
      expect.objectContaining({ name: 'InvalidInputError', field: 'f', message }),
    );
  });

  test('returns a valid value', () => {
    expect([checkNumber('f', 1, 0, 1), checkLimit('f', null), checkText('f', ' a ', '')]).toEqual([
      1,
      null,
      ' a ',
    ]);
  });
});
