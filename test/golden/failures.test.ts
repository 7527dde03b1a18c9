import { expect, test, vi } from 'vitest';
import type { Fetch, GatewayOptions } from '../../src/index.ts';
import { commonBodies, rareBodies } from './bodies.ts';
import {
  baseURL,
  byKey,
  chat,
  clientFor,
  download,
  draw,
  expectGolden,
  fateOf,
  film,
  groupBy,
  inFakedTime,
  inWords,
  list,
  sectionsOf,
  speak,
  stream,
  withAdvice,
  type Answer,
  type Call,
} from './support.ts';
import { naming, thrown } from '../thrown.ts';

const byCharge: Readonly<Record<string, Call>> = { free: list, metered: chat, charged: draw };

/** Outcomes by kind of call, with equal ones in one line. */
function formatLines(fates: readonly (readonly [way: string, words: string])[]): string {
  const groups = groupBy(fates);
  if (groups.length === 1) return `  ${groups[0]?.[0]}\n`;
  return groups.map(([words, ways]) => `  ${ways.join(', ')}: ${words}\n`).join('');
}

/** A failure of a call. */
interface Event {
  readonly name: string;
  readonly way: string;
  fate(): Promise<string>;
}

/** Outcomes of calls, grouped by equal outcome. */
async function formatFates(events: readonly Event[]): Promise<string> {
  const words = await inFakedTime(events.map((event) => () => event.fate()));
  const told = events.map(({ name, way }, at) => ({ name, way, words: words[at] ?? '' }));
  const rows = byKey(told, ({ name }) => name).map(
    ([name, fates]) =>
      [name, formatLines(fates.map(({ way, words: fate }) => [way, fate]))] as const,
  );
  return withAdvice(sectionsOf(rows));
}

/** Replaces the runtime's error code. */
const withoutCode = (words: string): string => words.replace(/(?<=\)) [A-Z]\w+(?= ⟦)/, ' its code');

/** Outcomes of calls whose fetch throws. */
const whenThrown = (
  errors: readonly (readonly [name: string, error: unknown, ...rest: unknown[]])[],
  isRuntimes: boolean,
): Event[] =>
  errors.flatMap(([name, error]) =>
    Object.entries(byCharge).map(([way, call]) => ({
      name,
      way,
      fate: async () =>
        withoutCode(await fateOf(call, () => Promise.reject(error), {}, isRuntimes)),
    })),
  );

const aboutThrown = `
  How often it was sent (maxRetries is 1), the outcome, the error, its phase unless it is "headers", whether
  it tells the code, and its advice.
`;

test('requests whose fetch of the runtime throws have the recorded fates', async () => {
  const about = `What becomes of a request whose fetch, which is the runtime's, throws.\n${aboutThrown}`;

  await expectGolden('thrown.txt', about, await formatFates(whenThrown(thrown, true)));
});

test('requests whose fetch of the caller throws have the recorded fates', async () => {
  const about = `What becomes of a request whose fetch, which is the caller's, throws.\n${aboutThrown}`;

  const events = whenThrown([...thrown, ...naming], false);
  await expectGolden('thrown-by-callers.txt', about, await formatFates(events));
});

const never = (): Promise<never> => new Promise(() => {});

/** A fetch that throws synchronously. */
const throwing =
  (error: unknown): Fetch =>
  () => {
    throw error;
  };

/** The number of calls is not compared. */
const withoutCount = (words: string): string => words.replace(/^\w+, /, '');

test('a fetch that throws at once proves as much', async () => {
  const works = [...thrown, ...naming].map(([, error]) => () => {
    const atOnce = fateOf(draw, never, { fetch: throwing(error) });
    return Promise.all([fateOf(draw, () => Promise.reject(error)), atOnce]);
  });

  for (const [later, atOnce] of await inFakedTime(works)) {
    expect(withoutCount(atOnce)).toBe(withoutCount(later));
  }
});

const limits = { timeout: 1_000, idleTimeout: 1_000, firstByteTimeout: 1_000 } as const;
const type = { 'content-type': 'application/json' };

/** A body that is cut or stalls after some text. */
function unfinished(text: string, end: 'break' | 'silence'): ReadableStream<Uint8Array> {
  const pieces = text === '' ? [] : [new TextEncoder().encode(text)];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (end === 'break') controller.error(new TypeError('terminated'));
      else return never();
      return undefined;
    },
  });
}

/** Calls with a signal that is aborted after some milliseconds. */
function abortedAfter(call: Call, time: number): Call {
  return (client) => {
    const controller = new AbortController();
    if (time === 0) controller.abort(new Error('Enough'));
    else setTimeout(() => controller.abort(new Error('Enough')), time);
    return call(client, { signal: controller.signal });
  };
}

const everyCall: Readonly<Record<string, Call>> = {
  'models.list()': list,
  'chat.completions.create()': chat,
  'images.generate()': draw,
  'videos.create()': film,
  'audio.speech.create()': speak,
  'videos.downloadContent()': download,
  'a chat as a stream': stream,
};

function onEveryCall(
  name: string,
  answer: Answer,
  options: GatewayOptions = {},
  change: (call: Call) => Call = (call) => call,
): Event[] {
  return Object.entries(everyCall).map(([way, call]) => ({
    name,
    way,
    fate: () => fateOf(change(call), answer, { ...limits, ...options }, true),
  }));
}

const begun = '{"error":{"message":"No","type":"new_api';

const answered = (status: number, text: string, end: 'break' | 'silence') => (): Response =>
  new Response(unfinished(text, end), { status, headers: type });

test('requests have the recorded fates, however far the call had come', async () => {
  const withBody = (status: number, what: string) => [
    ...onEveryCall(`${status}, ${what} breaks off at once`, answered(status, '', 'break')),
    ...onEveryCall(`${status}, ${what} breaks off`, answered(status, begun, 'break')),
    ...onEveryCall(`${status}, ${what} falls silent`, answered(status, begun, 'silence')),
    ...onEveryCall(
      `${status}, aborted while ${what} is read`,
      answered(status, begun, 'silence'),
      {},
      (call) => abortedAfter(call, 10),
    ),
    ...onEveryCall(
      `${status}, totalTimeout while ${what} is read`,
      answered(status, begun, 'silence'),
      { totalTimeout: 500 },
    ),
  ];
  const events = [
    ...onEveryCall('aborted before', never, {}, (call) => abortedAfter(call, 0)),
    ...onEveryCall('apiKey() fails', never, { apiKey: () => Promise.reject(new Error('No key')) }),
    ...onEveryCall('apiKey() never answers', never, { apiKey: never }),
    ...onEveryCall('totalTimeout while apiKey() is waited for', never, {
      apiKey: never,
      totalTimeout: 500,
    }),
    ...onEveryCall('timeout without an answer', never),
    ...onEveryCall('totalTimeout without an answer', never, { totalTimeout: 500 }),
    ...onEveryCall('aborted without an answer', never, {}, (call) => abortedAfter(call, 10)),
    ...onEveryCall(
      'aborted in the pause before it is sent again',
      () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ConnectionRefused' } })),
      {},
      (call) => abortedAfter(call, 10),
    ),
    ...onEveryCall(
      'aborted in the pause after a 429',
      () => Response.json({ error: { message: 'No' } }, { status: 429 }),
      {},
      (call) => abortedAfter(call, 10),
    ),
    ...onEveryCall(
      '401, and apiKey() gives another key',
      ({ position }) => Response.json({ error: { message: 'No' } }, { status: 401 - position }),
      { apiKey: () => 'sk-other', maxRetries: 0 },
    ),
    ...onEveryCall(
      '401 again, after apiKey() gave another key',
      () => Response.json({ error: { message: 'No' } }, { status: 401 }),
      { apiKey: () => 'sk-other' },
    ),
    ...withBody(400, 'its error'),
    ...withBody(429, 'its error'),
    ...withBody(500, 'its error'),
    ...withBody(200, 'its body'),
    ...onEveryCall(
      '200, its body is shorter than its length says',
      () =>
        new Response('abc', { headers: { 'content-type': 'video/mp4', 'content-length': '9' } }),
    ),
  ];

  const about = `
    What becomes of a call that is stopped or broken off on its way: how often it was sent (maxRetries is 1),
    the outcome, the error, its phase unless it is "headers", and its code and advice.
  `;
  await expectGolden('phases.txt', about, await formatFates(events));
});

test('redirects', async () => {
  const places = {
    'the same path at another origin': 'https://other.test',
    'another path': `${baseURL}/elsewhere`,
    'a file of another origin': 'https://cdn.test/a.mp4',
    'no web address': 'ftp://gateway.test/',
    nowhere: undefined,
  };
  const events = [301, 302, 303, 307, 308].flatMap((status) =>
    Object.entries(places).flatMap(([place, location]) =>
      onEveryCall(`${status} to ${place}`, ({ position, url }) => {
        if (position > 0) return new Response(/mp4$|content$/.test(url) ? 'abc' : '{"data":[]}');
        const path = location === 'https://other.test' ? new URL(url).pathname : '';
        const headers = location === undefined ? {} : { location: location + path };
        return new Response(null, { status, headers });
      }),
    ),
  );
  const hidden = onEveryCall('a redirect that a browser hides', () =>
    Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' }),
  );
  const endless = onEveryCall('redirects without an end', () =>
    Response.redirect(`${baseURL}/again`),
  );

  const about = `
    What becomes of a request that is answered with a redirect, and of one that it leads to: how often
    anything was sent, the outcome, the error, its phase unless it is "headers", and its advice.
  `;
  const sections = await formatFates([...events, ...hidden, ...endless]);
  await expectGolden('redirects.txt', about, sections);
});

test('one failure after the other', async () => {
  const gatewayError = commonBodies['error of the gateway'] ?? '';
  const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
    'cannot connect': () =>
      Promise.reject(new TypeError('fetch failed', { cause: { code: 'ConnectionRefused' } })),
    reset: () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })),
    'no answer': never,
    400: () => new Response(gatewayError, { status: 400 }),
    401: () => new Response(gatewayError, { status: 401 }),
    429: () => new Response(gatewayError, { status: 429 }),
    500: () => new Response(gatewayError, { status: 500 }),
    502: () => new Response(commonBodies['page'] ?? '', { status: 502 }),
    'an error in a 200': () => new Response(gatewayError),
    'half a body': () => new Response(unfinished('{"id":', 'break'), { headers: type }),
    'an answer': () => new Response(rareBodies['an answer to anything'] ?? ''),
  };
  const firsts = Object.keys(answers).filter((name) => !/^40|200|answer|half/.test(name));
  const events = firsts.flatMap((first) =>
    Object.keys(answers).flatMap((second) =>
      Object.entries({ ...byCharge, videos: film }).map(([way, call]) => ({
        name: `${first}, then ${second}`,
        way,
        fate: () =>
          fateOf(
            call,
            ({ position }) => (answers[position === 0 ? first : second] ?? never)(),
            limits,
            true,
          ),
      })),
    ),
  );

  const about = `
    What becomes of a call whose first and second attempt end in this way: how often it was sent (maxRetries
    is 1), the outcome, the error, its phase unless it is "headers", and its code and advice.
  `;
  await expectGolden('attempts.txt', about, await formatFates(events));
});

test('pauses', async () => {
  const error = commonBodies['error of the gateway'] ?? null;
  const now = Date.UTC(2026, 0, 1);
  const hints: Readonly<Record<string, HeadersInit>> = {
    'no hint': {},
    'retry-after: 3': { 'retry-after': '3' },
    'retry-after: 0': { 'retry-after': '0' },
    'retry-after: 0.5': { 'retry-after': '0.5' },
    'retry-after: 60': { 'retry-after': '60' },
    'retry-after: 61': { 'retry-after': '61' },
    'retry-after: -1': { 'retry-after': '-1' },
    'retry-after: soon': { 'retry-after': 'soon' },
    'retry-after: a date': { 'retry-after': new Date(now + 4_000).toUTCString() },
    'retry-after: a date that is over': { 'retry-after': new Date(now - 4_000).toUTCString() },
    'retry-after-ms: 1500': { 'retry-after-ms': '1500', 'retry-after': '9' },
    'llm_provider-retry-after: 2': { 'llm_provider-retry-after': '2' },
    'ratelimit-reset: 7': { 'ratelimit-reset': '7' },
    'ratelimit-reset: a time': { 'ratelimit-reset': `${(now + 5_000) / 1_000}` },
    'x-ratelimit-reset-requests: 6s': { 'x-ratelimit-reset-requests': '6s' },
  };
  const kinds: Readonly<Record<string, readonly [status: number, body: string | null]>> = {
    '429': [429, error],
    '429 without a body': [429, null],
    '503': [503, error],
  };
  const works = Object.entries(hints).flatMap(([hint, headers]) =>
    Object.entries(kinds).map(([kind, [status, body]]) => async () => {
      vi.setSystemTime(now);
      const at: number[] = [];
      const answer = (): Response => {
        at.push(performance.now());
        return new Response(body, { status, headers });
      };
      const { client } = clientFor(answer, { maxRetries: 5 });
      const words = await Promise.resolve(list(client)).then(() => '', inWords);
      // A timer of no time takes a millisecond or none.
      const pauses = at.slice(1).map((time, before) => {
        const pause = Math.round(time - (at[before] ?? 0));
        return pause === 1 ? 0 : pause;
      });
      return [kind, hint, pauses.length === 0 ? `never, ${words}` : pauses.join(', ')] as const;
    }),
  );
  const sections = byKey(await inFakedTime(works), ([kind]) => kind).map(([kind, rows]) => {
    const groups = groupBy(rows.map(([, hint, pauses]) => [hint, pauses]));
    return `${kind}\n${groups.map(([pauses, all]) => `  ${all.join('; ')}: ${pauses}\n`).join('')}`;
  });

  const about = `
    How long models.list() pauses before it is sent again, in milliseconds, with chance in the middle.
  `;
  await expectGolden('pauses.txt', about, withAdvice(sections.join('\n')));
});
