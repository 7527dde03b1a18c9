import { test } from 'vitest';
import type { GatewayOptions } from '../../src/index.ts';
import { codeBodies, codes, commonBodies, rareBodies } from './bodies.ts';
import {
  byKey,
  chat,
  draw,
  expectGolden,
  fateOf,
  film,
  groupBy,
  inFakedTime,
  inRanges,
  list,
  retrieve,
  withAdvice,
  type Call,
} from './support.ts';

interface Way {
  readonly name: string;
  readonly call: Call;
  readonly options?: GatewayOptions;
}

/** A call for each retry rule. */
const ways: readonly Way[] = [
  { name: 'free: models.list()', call: list },
  { name: 'metered: chat.completions.create()', call: chat },
  { name: 'charged: images.generate()', call: draw },
];
const otherWays: readonly Way[] = [
  {
    name: 'metered, retryUnknownOutcome: false',
    call: chat,
    options: { retryUnknownOutcome: false },
  },
  {
    name: 'charged, retryUnknownOutcome: true',
    call: draw,
    options: { retryUnknownOutcome: true },
  },
];
const keyedWay: Way = {
  name: 'charged, idempotency',
  call: draw,
  options: { idempotency: { header: 'Idempotency-Key' } },
};
const videoWays: readonly Way[] = [
  { name: 'charged: videos.create()', call: film },
  { name: 'free: videos.retrieve()', call: retrieve },
];

const everyStatus = Array.from({ length: 400 }, (_, at) => 200 + at);
// Each represents similar statuses; the table of every status proves that.
const someStatuses = [
  200, 201, 400, 401, 402, 403, 404, 408, 409, 413, 422, 424, 425, 429, 499, 500, 501, 502, 503,
  524,
];
const codeStatuses = [200, 201, 400, 401, 408, 424, 429, 500, 501, 503];

/** Statuses that never have a body. */
const bodiless = new Set([204, 205, 304]);

interface Case {
  readonly way: Way;
  readonly status: number;
  readonly kind: string;
  readonly body: string | null;
}

function listCases(
  way: Way,
  statuses: readonly number[],
  bodies: Readonly<Record<string, string | null>>,
): Case[] {
  return statuses.flatMap((status) =>
    Object.entries(bodies).map(([kind, body]) => ({ way, status, kind, body })),
  );
}

/** The outcome of every case. */
async function fates(cases: readonly Case[]): Promise<(readonly [Case, string])[]> {
  const headers = { 'content-type': 'application/json' };
  const all = await inFakedTime(
    cases.map(({ way, status, body }) => async () => {
      const text = bodiless.has(status) ? null : body;
      const answer = () => new Response(text, { status, headers });
      return fateOf(way.call, answer, way.options);
    }),
  );
  return cases.map((one, at) => [one, all[at] ?? '']);
}

/** The outcome of each body, for each range of statuses. */
function formatTable(fate: readonly (readonly [Case, string])[]): string {
  const rows = byKey(fate, ([{ status }]) => status).map(([status, ofStatus]) => {
    const groups = groupBy(ofStatus.map(([{ kind }, words]) => [kind, words]));
    const sorted = groups.toSorted(([, one], [, other]) => one.length - other.length);
    const [most = ''] = sorted.pop() ?? [];
    const few = sorted.map(([words, kinds]) => `    ${kinds.join('; ')}: ${words}\n`);
    return [status, `${most}\n${few.join('')}`] as const;
  });
  return groupBy(rows)
    .map(([lines, statuses]) => `  ${inRanges(statuses)}: ${lines}`)
    .join('');
}

/** The tables of some calls, each with every body. */
async function formatTables(
  these: readonly Way[],
  statuses: readonly number[],
  bodies: Readonly<Record<string, string | null>>,
): Promise<string> {
  const fate = await fates(these.flatMap((way) => listCases(way, statuses, bodies)));
  return byKey(fate, ([{ way }]) => way.name)
    .map(([name, own]) => `${name}\n${formatTable(own)}\n`)
    .join('');
}

const described = (bodies: Readonly<Record<string, string | null>>): string =>
  `\nBodies\n${Object.entries(bodies)
    .map(([kind, body]) => `  ${kind}: ${body ?? '(none)'}\n`)
    .join('')}`;

const about = `
  What becomes of an answer with an error, or with a success that is none: how often the request was sent
  (maxRetries is 1, and the second answer is like the first), the outcome, the error, its phase unless it
  is "headers", and its advice.
`;
const aboutBodies = `${about}
  Under a status stand the bodies with which it comes to something else.
`;

// The tables have thousands of calls.
const many = { timeout: 120_000 };

test('every status', many, async () => {
  const { page: _page, text: _text, ...fewer } = commonBodies;
  const tables = [
    await formatTables(ways, everyStatus, commonBodies),
    await formatTables(otherWays, everyStatus, fewer),
  ];

  const text = withAdvice(tables.join('')) + described(commonBodies);
  await expectGolden('statuses.txt', aboutBodies, text);
});

test('every kind of body', many, async () => {
  const tables = await formatTables([...ways, ...videoWays, keyedWay], someStatuses, rareBodies);

  await expectGolden('bodies.txt', aboutBodies, withAdvice(tables) + described(rareBodies));
});

/** The class of an error as it is in `inWords`. */
const className = /, \w+Error\b/;

test('every error code', many, async () => {
  const places = [...ways, ...videoWays].flatMap((way) =>
    Object.entries(codeBodies)
      .filter(([, { operations }]) => operations.test(way.name))
      .map(([place, body]) => ({ way: { ...way, name: `${way.name}, ${place}` }, body })),
  );
  const cases = places.flatMap(({ way, body }) =>
    codeStatuses.flatMap((status) =>
      codes.map((code) => ({ way, status, kind: code, body: body.make(code) })),
    ),
  );
  const sections = byKey(await fates(cases), ([{ way }]) => way.name).map(([name, ofPlace]) => {
    const usual = new Map(ofPlace.toReversed().map(([{ status }, words]) => [status, words]));
    // The class follows from the status; the table names it where a code changes it.
    const short = ofPlace.map(([one, words]) => {
      const first = usual.get(one.status) ?? '';
      const isUsual = className.exec(words)?.[0] === className.exec(first)?.[0];
      return [one, isUsual ? words.replace(className, '') : words] as const;
    });
    const tables = byKey(short, ([{ kind }]) => kind).map(
      ([code, ofCode]) => [code, formatTable(ofCode)] as const,
    );
    const groups = groupBy(tables).map(([table, alike]) => {
      const isUsual = alike.includes(codes[0] ?? '');
      return `${isUsual ? 'all others' : alike.join('; ')}\n${table}`;
    });
    return `${name}\n\n${groups.join('\n')}\n`;
  });

  await expectGolden(
    'codes.txt',
    `${about}
    The class of an error is told where it is not the one of all other codes.`,
    withAdvice(sections.join('\n')),
  );
});
