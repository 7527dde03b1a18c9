import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readErrorText } from '../../src/answers/failure.ts';
import { classifyStatus, classifyThrown } from '../../src/http/classify.ts';
import { decideRetry, failures as rules, getOutcome } from '../../src/http/retry.ts';
import type { ChargeClass, Gateway } from '../../src/index.ts';
import { type Failure, failures, kinds, kindFor, provenBy } from '../failures.ts';
import { elsewhere, naming, thrown } from '../thrown.ts';
import { collect, scripted } from '../helpers/clients.ts';
import { settle } from '../helpers/fake-time.ts';
import { root } from '../helpers/run-program.ts';

/** With a version, so that a 404 is not followed by a request without `/v1`. */
const baseURL = 'https://gateway.test/v1';
const model = 'm';
const messages = [{ role: 'user', content: 'hi' }] as const;

const ask = ({ chat }: Gateway) => chat.completions.create({ model, messages: [...messages] });
const draw = ({ images }: Gateway) => images.generate({ model, prompt: 'a boat' });

/** Calls of each charge class, and the column of the table that counts their requests. */
const calls: readonly {
  readonly operation: string;
  readonly charge: ChargeClass;
  readonly column?: 'charged' | 'allowed';
  readonly retryUnknownOutcome?: boolean;
  readonly call: (client: Gateway) => PromiseLike<unknown>;
}[] = [
  { operation: 'models.list', charge: 'free', call: ({ models }) => models.list() },
  { operation: 'chat.completions.create', charge: 'metered', call: ask },
  {
    operation: 'responses.create',
    charge: 'metered',
    call: ({ responses }) => responses.create({ model, input: 'hi' }),
  },
  {
    operation: 'responses.create, streamed',
    charge: 'metered',
    call: async ({ responses }) =>
      collect(await responses.create({ model, input: 'hi', stream: true })),
  },
  { operation: 'images.generate', charge: 'charged', call: draw },
  ...[
    { charge: 'metered', operation: 'chat.completions.create', call: ask } as const,
    { charge: 'charged', operation: 'images.generate', call: draw } as const,
  ].flatMap(({ operation, ...row }) =>
    [true, false].map((retryUnknownOutcome) => ({
      ...row,
      operation: `${operation} with retryUnknownOutcome: ${retryUnknownOutcome}`,
      column: retryUnknownOutcome ? ('allowed' as const) : ('charged' as const),
      retryUnknownOutcome,
    })),
  ),
];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the table has every kind of failure', () => {
  const missing = Object.keys(rules).filter((kind) => !failures.some((row) => row.kind === kind));

  expect(kinds.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(rules).toSorted());
  // Nothing is sent after the first, a proxy is at fault for the second, and the caller causes the third. Only reads
  // have the last.
  expect(missing).toEqual(['invalid_input', 'proxy_refused', 'aborted', 'other_shape']);
});

test.each(kinds)('$kind: $outcome, sent $free, $metered or $charged times', (row) => {
  const { kind, ...expected } = row;
  const phase = row.outcome === 'not_sent' ? 'connect' : 'headers';
  const call = { maxRetries: 2, canRefresh: false, replayable: true };
  const count = (charge: ChargeClass, retryUnknownOutcome?: boolean): number =>
    [0, 1, 2].findIndex((retries) => {
      const state = { ...call, charge, retryUnknownOutcome, retries };
      return decideRetry({ kind, phase }, state) !== 'retry';
    }) + 1;

  expect({
    outcome: getOutcome({ kind, phase }),
    free: count('free'),
    metered: count('metered'),
    charged: count('charged'),
    allowed: count('charged', true),
  }).toEqual(expected);
});

test.each(failures)('$name is classified as "$kind"', async (row) => {
  const answer = row.wire();

  if (answer instanceof Error) expect(classifyThrown(answer).kind).toBe(row.kind);
  // Other statuses depend on the operation.
  if (!(answer instanceof Response) || answer.status < 400) return;
  const body = readErrorText(await answer.text());
  for (const charge of ['free', 'metered', 'charged'] as const) {
    const kind = classifyStatus(answer.status, body, answer.headers, charge);
    expect(kind).toBe(kindFor(row, charge));
  }
});

test.each(thrown)('%s is classified', (name, error, kind) => {
  const url = 'https://gateway.test/v1/models';
  // An error of a fetch of the caller proves something only if it names the gateway, as Deno's do.
  const isProof = provenBy(kind).outcome !== 'not_sent' || name.startsWith('Deno');

  expect(classifyThrown(error, { url, isTrusted: true }).kind).toBe(kind);
  expect(classifyThrown(error, { url, isTrusted: false }).kind).toBe(
    isProof ? kind : 'interrupted',
  );
});

test.for([...naming, ...elsewhere])(
  "an error of the caller's fetch that names %s is classified",
  ([, error, kind, url = 'https://gateway.test/v1/models']) => {
    expect(classifyThrown(error, { url, isTrusted: false }).kind).toBe(kind);
  },
);

const columns = failures.flatMap((row) =>
  calls.flatMap(({ charge, column = charge, ...call }) => {
    const kind = kindFor(row, charge);
    if (kind === undefined) return [];
    const { outcome, [column]: count } = provenBy(kind);
    return [{ ...row, ...call, outcome, count }];
  }),
);

test.each(columns)(
  '$name: $operation is sent $count times ($outcome)',
  async ({ wire, call, count, outcome, error, text, retryUnknownOutcome }) => {
    const { client, requests } = scripted([wire], { baseURL, retryUnknownOutcome });

    const { error: failure } = await settle<unknown>(call(client));

    expect(requests).toHaveLength(count);
    expect(failure).toMatchObject({ name: error, outcome });
    expect(failure).toHaveProperty('evidence.attempts.length', count);
    expect(String(failure)).toContain(text);
    expect(vi.getTimerCount()).toBe(0);
  },
);

const errors = failures.flatMap(({ name, wire, ...row }) => {
  const answer = wire();
  return answer instanceof Response && answer.status >= 400 ? [{ name, wire, ...row }] : [];
});

/** Counts the requests of calls whose responses have this header. */
async function countRequests(row: Failure, header: string, charge: ChargeClass) {
  const respond = async () => {
    const answer = await row.wire();
    if (answer instanceof Response) answer.headers.set('x-should-retry', header);
    return answer;
  };
  const { call } = calls.find((each) => each.charge === charge) ?? {};
  const { client, requests } = scripted([respond], { baseURL });
  await settle<unknown>(Promise.resolve(call?.(client)));
  return requests.length;
}

test.each(errors)('$name with x-should-retry: true or false', async (row) => {
  for (const charge of ['free', 'metered', 'charged'] as const) {
    const kind = kindFor(row, charge) ?? row.kind;
    const { outcome, [charge]: usual } = provenBy(kind);
    const isFree = charge === 'free' || (charge === 'metered' && outcome === 'rejected');
    const mayRepeat = isFree && !row.isPermanent && kind !== 'unauthorized';

    expect(await countRequests(row, 'false', charge)).toBe(1);
    // It never adds a retry of a call that may have been charged.
    expect(await countRequests(row, 'true', charge)).toBe(mayRepeat ? 3 : usual);
  }
});

/** Returns the cell of a table in a guide that begins with these cells. */
function readCell(guide: string, ...cells: readonly (string | RegExp)[]): string {
  const page = readFileSync(join(root, 'docs/guides', guide), 'utf8');
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const found = rows.find((row) =>
    cells.every((cell, column) => {
      const text = row[column + 1] ?? '';
      return typeof cell === 'string' ? text === cell : cell.test(text);
    }),
  );
  return found?.[cells.length + 1] ?? '';
}

/** Reads statuses such as "408, 5xx (except 501)". */
function readStatuses(text: string): number[] {
  const [, list = '', except = ''] = /((?:\d{3}|5xx|, )+)(?: \(except ([^)]+)\))?/.exec(text) ?? [];
  const listed = list.replace('5xx', '500, 502, 503, 504, 520, 524, 529, 599');
  const left = new Set(listed.match(/\d{3}/g));
  for (const status of except.match(/\d{3}/g) ?? []) left.delete(status);
  return [...left].map(Number);
}

const everyStatus = Array.from({ length: 200 }, (_, index) => 400 + index);
const body = readErrorText('{"error":{"message":"no","type":"new_api_error"}}');
const kindOf = (status: number) => classifyStatus(status, body, new Headers(), 'metered');

const retriedIf = (charge: 'metered' | 'charged'): number[] =>
  everyStatus.filter((status) => provenBy(kindOf(status))[charge] > 1);

test('the guide lists the statuses after which calls are retried', () => {
  const guide = 'retries-and-charges.md';
  const metered = readCell(guide, '**metered**', /./);
  const charged = readCell(guide, '**charged**', /./);
  const retried = retriedIf('metered');

  expect(readStatuses(metered)).toEqual(expect.arrayContaining(retried.filter((s) => s < 500)));
  expect(readStatuses(metered).filter((status) => !retried.includes(status))).toEqual([]);
  expect(metered).toContain(
    `(except ${everyStatus.filter((s) => s >= 500 && !retried.includes(s)).join(' and ')})`,
  );
  expect(new Set(charged.match(/\d{3}/g)?.map(Number))).toEqual(new Set(retriedIf('charged')));
});

test('the guide lists the statuses after which another model is requested', () => {
  const listed = readStatuses(readCell('rate-limits.md', '`overload`'));
  const rows = failures.filter(({ name }) => /^4\d\d$/.test(name));
  const overloaded = rows
    .filter(({ reason }) => reason === 'overload')
    .map(({ name }) => Number(name));

  expect(new Set(listed.filter((status) => status < 500))).toEqual(new Set(overloaded));
});
