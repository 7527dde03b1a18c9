import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryLedger } from '../../src/index.ts';
import { type OptionName, optionTable } from '../../src/options/option-table.ts';
import { root } from '../helpers/run-program.ts';

/** Values that an option accepts, other than its default first, and values that it rejects. */
interface Samples {
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const guide = readFileSync(join(root, 'docs/guides/options.md'), 'utf8');

/** The types of the options in the guide. */
const types = new Map(
  [...guide.matchAll(/^\| \[`(\w+)`\]\S+ +\| ((?:[^|\\]|\\.)+?) +\|/gm)].map(([, name, type]) => [
    name ?? '',
    type ?? '',
  ]),
);

const notNumbers = [Number.NaN, '5', true, {}];

function numbers(first: string, last: string): Samples {
  const smallest = Number(first);
  const largest = last === '2³⁰' ? 2 ** 30 : Number(last);
  const step = Number.isInteger(smallest) ? 1 : smallest;
  const outside = [smallest - step, largest + 1].filter((number) => number !== Infinity);
  return {
    valid: last === 'Infinity' ? [smallest + 1, smallest] : [largest - step, smallest, largest],
    invalid: [...outside, Infinity, ...notNumbers],
  };
}

/** Samples for types that several options have. */
const byType: Readonly<Record<string, Samples>> = {
  ms: {
    valid: [1, 1.5, 2_147_483_647],
    invalid: [0, -1, 0.5, 2_147_483_648, Infinity, ...notNumbers],
  },
  boolean: { valid: [true, false], invalid: ['false', 'true', 0, 1] },
  function: { valid: [() => {}], invalid: ['log', 1, {}] },
  object: { valid: [{ note: 'a' }], invalid: ['a=b', 1, true] },
  '`AbortSignal`': {
    valid: [new AbortController().signal],
    invalid: [7, 'stop', new AbortController()],
  },
};

const words = /^(?:`"\w+"`(?:, )?)+$/;
const unchecked: Samples = { valid: [], invalid: [] };

/** Samples of options whose type in the guide does not determine them. A new option may need a line here. */
const own: { readonly [Name in OptionName]?: Samples } = {
  apiKey: { valid: ['sk-1', () => 'sk-1'], invalid: [' ', 7, {}, true, 'Bearer ', '""', 'a\nb'] },
  baseURL: { valid: ['https://gateway.test/v1'], invalid: [7, 'gateway.test', ' ', {}] },
  gateway: { valid: ['litellm', 'auto'], invalid: ['nowhere', 7] },
  retryBudget: { valid: [50, 0], invalid: [-1, 1.5, Infinity, ...notNumbers] },
  organization: { valid: ['org-1'], invalid: [7, {}, true, 'line\nbreak'] },
  project: { valid: ['proj-1'], invalid: [7, {}, true, 'line\nbreak'] },
  idempotency: {
    valid: [{ header: 'x-key', honored: true }, { header: 'x-key' }],
    invalid: ['x-key', {}, { header: 'a b' }, { header: 'cookie' }, { header: 'a', honored: 1 }],
  },
  idempotencyKey: { valid: ['key-1'], invalid: ['', 'a b', 'k'.repeat(256), 7] },
  fallback: {
    valid: [[{ model: 'm-other' }], ['m-other']],
    invalid: [[], 'b', ['b', { model: 'b' }], [{ model: '' }], Array.from({ length: 11 }, String)],
  },
  fallbackOn: { valid: [['limits'], []], invalid: ['limits', ['luck'], [1]] },
  structuredOutput: {
    valid: ['json_object', 'auto', 'json_schema', 'prompt'],
    invalid: ['json', 1, true],
  },
  budget: { valid: [{ limit: 5 }], invalid: [5, {}, { limit: -1 }, { limit: '5' }] },
  limits: { valid: [{ requestsPerMinute: 60 }], invalid: [5, { requestsPerMinute: 0 }] },
  observer: { valid: [{}, [{}]], invalid: [5, 'log'] },
  defaultHeaders: {
    valid: [{ 'x-a': '1' }, [['x-a', '1']], { 'x-a': null }],
    invalid: ['x: y', 1, [['a b', 'c']], ['a'], [1], { 'bad name': 'x' }, { 'x-a': 'a\nb' }],
  },
  headers: {
    valid: [{ 'x-tenant': 'a' }, [['x-a', '1']], { 'x-a': null }],
    invalid: ['x: y', 1, true, { 'bad name': 'x' }, { 'x-a': 'a\nb' }, [['a b', 'c']]],
  },
  query: { valid: [{ region: 'eu' }], invalid: ['a=b', 1, true, { a: new Map() }] },
  callId: { valid: ['job-1'], invalid: ['', ' ', 7, {}] },
  ledger: { valid: [memoryLedger()], invalid: [{}, { claim: () => {} }, 7] },
  interval: {
    valid: [250, {}, { min: 250, max: 250 }],
    invalid: [249, Number.NaN, '5', [], true, { min: '5' }, { max: 1 }, { factor: 0.5 }],
  },
  maxConsecutiveErrors: { valid: [0, 1_000, 1.5], invalid: [-1, 1_001, Infinity, ...notNumbers] },
  maxAge: { valid: [0, 2_147_483_647], invalid: [-1, 2_147_483_648, ...notNumbers] },
  variant: { valid: ['thumbnail'], invalid: ['', 7] },
  // The operation checks these, or their values mean something anyway.
  path: unchecked,
  method: unchecked,
  body: unchecked,
  stream: unchecked,
  dangerouslyAllowBrowser: unchecked,
  logger: { valid: [console], invalid: ['console', 1, {}, { error() {} }] },
  logLevel: { valid: ['off', 'DEBUG '], invalid: ['verbose', 3, ''] },
};

function find(name: OptionName, type: string): Samples {
  const found = own[name] ?? byType[type];
  if (found !== undefined && type !== 'ms') return found;
  // A value of its own, so that one limit is not taken for another.
  const limit = 50_000 + Object.keys(optionTable).indexOf(name);
  if (found !== undefined) return { ...found, valid: [limit, ...found.valid] };
  const [, first = '', last = ''] = /^([\d.]+) to (\S+)$/.exec(type) ?? [];
  if (first !== '') return numbers(first, last);
  const [, least = ''] = /^(\d+) or more$/.exec(type) ?? [];
  if (least !== '') return numbers(least, 'Infinity');
  if (!words.test(type)) throw new Error(`Add samples of the option ${name}: ${type}`);
  const known = [...type.matchAll(/\w+/g)].map(([word]) => word);
  return { valid: known.toReversed(), invalid: ['other', 1, true, Symbol(known[0])] };
}

/** Returns values of an option, by its type in the guide. `null` is valid if the guide says so. */
export function samplesOf(name: OptionName): Samples {
  const type = types.get(name);
  if (type === undefined)
    throw new Error(`The guide has no option ${name}; run docs/tables/write.ts.`);
  const { valid, invalid } = find(name, type.replace(/ or `null`$/, ''));
  return type.endsWith('or `null`') ? { valid: [...valid, null], invalid } : { valid, invalid };
}
