// Golden files record decisions, results and declarations of the client as text.
//
// The tests of this folder use only exports of the package, so that they don't depend on its structure. A
// difference means that behaviour has changed. If that is intended, build, update the files with
//
//     npx vitest run test/golden --update
//
// and read the difference before it is committed.
import { isDeepStrictEqual } from 'node:util';
import { expect, vi } from 'vitest';
import {
  Gateway,
  GatewayError,
  type Fetch,
  type GatewayOptions,
  type RequestOptions,
} from '../../src/index.ts';

/** Compares text with a file of this folder; writes the file with `--update`. */
export async function expectGolden(name: string, about: string, text: string): Promise<void> {
  const head = about
    .trim()
    .split('\n')
    .map((line) => `${`# ${line.trim()}`.trim()}\n`)
    .join('');
  const made = '# Made anew with: npm run build && npx vitest run test/golden --update\n';
  await expect(`${head}${made}\n${text.trimEnd()}\n`).toMatchFileSnapshot(`./${name}`);
}

export const baseURL = 'https://gateway.test';

/** Responds to a request, or throws like a runtime. */
export type Answer = (request: {
  /** The number of earlier requests. */
  readonly position: number;
  readonly url: string;
}) => Response | Promise<Response>;

/** Stand-ins for the runtime's own fetch, by a header of the call. */
const runtimes = new Map<string, Fetch>();
const callHeader = 'x-call';

const runtimesFetch: Fetch = (input, init) => {
  const fetch = runtimes.get(new Headers(init?.headers).get(callHeader) ?? '');
  return fetch?.(input, init) ?? Promise.reject(new Error('There is no stand-in for fetch.'));
};

/** Options of a client whose requests go through the runtime's own fetch, which is this one. */
function throughRuntime(fetch: Fetch): GatewayOptions {
  const id = `${runtimes.size}`;
  runtimes.set(id, fetch);
  vi.stubGlobal('fetch', runtimesFetch);
  return { fetch: undefined, defaultHeaders: { [callHeader]: id } };
}

/**
 * A client whose requests one function responds to, and the number of its requests.
 *
 * @param isRuntimes - Whether it is the runtime's own fetch that answers, and not one of the caller's.
 */
export function clientFor(answer: Answer, options: GatewayOptions = {}, isRuntimes = false) {
  const sent = { count: 0 };
  const fetch: Fetch = async (input, init) => {
    const answered = answer({ position: sent.count++, url: getURL(input) });
    const signal = init?.signal;
    if (!(answered instanceof Promise) || signal === undefined || signal === null) return answered;
    // Like the runtime's, it rejects immediately after an abort.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(asError(signal.reason)), { once: true });
    });
    return Promise.race([answered, aborted]);
  };
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL,
    logLevel: 'off',
    maxRetries: 1,
    ...(isRuntimes ? throughRuntime(fetch) : { fetch }),
    ...options,
  });
  return { client, sent };
}

const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('aborted', { cause: reason });

const getURL = (input: string | URL | Request): string =>
  typeof input === 'string' ? input : 'url' in input ? input.url : input.href;

/** A way to call a client. */
export type Call = (client: Gateway, options?: RequestOptions) => PromiseLike<unknown>;

const model = 'm';
const prompt = 'A boat';
const messages = [{ role: 'user' as const, content: 'Hi' }];

export const list: Call = (client, options) => client.models.list(options);
export const chat: Call = (client, options) =>
  client.chat.completions.create({ model, messages }, options);
export const draw: Call = (client, options) => client.images.generate({ model, prompt }, options);
export const film: Call = (client, options) => client.videos.create({ model, prompt }, options);
export const retrieve: Call = (client, options) => client.videos.retrieve('task_1', options);
export const speak: Call = async (client, options) => {
  const speech = { model, input: 'Hi', voice: 'alloy' };
  const answer = await client.audio.speech.create(speech, options);
  return answer.arrayBuffer();
};
export const download: Call = async (client, options) => {
  const answer = await client.videos.downloadContent('task_1', options);
  return answer.arrayBuffer();
};
export const stream: Call = async (client, options) => {
  const params = { model, messages, stream: true } as const;
  for await (const _ of await client.chat.completions.create(params, options));
};

/** Runs one thing after the other. */
export async function inSequence<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  async function* results() {
    for (const item of items) yield work(item);
  }
  const all: Result[] = [];
  for await (const result of results()) all.push(result);
  return all;
}

const realImmediate = setImmediate;
const turn = () => new Promise<void>((resolve) => void realImmediate(resolve));

/** The result of a promise. */
type Settled = { readonly value: unknown } | { readonly error: unknown };

const settle = (promise: PromiseLike<unknown>): Promise<Settled> =>
  Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

/** Loads lazy dependencies of the first call, which fake timers can't await. */
async function warmUp(): Promise<void> {
  const { client } = clientFor(() => new Response('{}'));
  const answers = [list, chat, draw, film].map((call) => settle(call(client)));
  await Promise.all(answers);
}

/** Advances fake timers until something is done, a second at a time. */
async function passTime(isDone: () => boolean, seconds = 3_600): Promise<void> {
  if (isDone()) return;
  if (seconds === 0) throw new Error('It is not done within an hour.');
  // Reading a form or a file waits for a turn of the event loop and not for a timer.
  await turn();
  await vi.advanceTimersByTimeAsync(1_000);
  return passTime(isDone, seconds - 1);
}

/**
 * Runs functions concurrently in fake time and without randomness, so that pauses and time limits take no
 * time.
 */
export async function inFakedTime<Result>(
  works: readonly (() => Promise<Result>)[],
): Promise<Result[]> {
  await warmUp();
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  try {
    const size = 250;
    const batches = Array.from({ length: Math.ceil(works.length / size) }, (_, at) =>
      works.slice(at * size, (at + 1) * size),
    );
    const results = await inSequence(batches, async (batch) => {
      let isDone = false;
      const all = Promise.all(batch.map((work) => work())).finally(() => {
        isDone = true;
      });
      const passing = passTime(() => isDone);
      return (await Promise.all([all, passing]))[0];
    });
    return results.flat();
  } finally {
    vi.useRealTimers();
  }
}

const times = ['never', 'once', 'twice'] as const;

/** An error in a few words: outcome, class, phase, code, advice. */
export function inWords(error: unknown): string {
  if (!GatewayError.isInstance(error)) return `not ours: ${String(error)}`;
  const { outcome, name, evidence, advice } = error;
  const phase = evidence.phase === 'headers' ? '' : ` (${evidence.phase})`;
  const code = evidence.code === undefined ? '' : ` ${evidence.code}`;
  return `${outcome}, ${name}${phase}${code} ⟦${advice}⟧`;
}

/** The message of an error without its advice. */
export const withoutAdvice = ({ message, advice }: GatewayError): string =>
  advice !== '' && message.endsWith(` ${advice}`) ? message.slice(0, -advice.length - 1) : message;

/** Writes each advice once, at the end, and its number in its places. */
export function withAdvice(text: string): string {
  const numbers = new Map<string, number>();
  const numbered = text.replaceAll(/⟦(.*?)⟧/gs, (_, advice: string) => {
    const number = numbers.get(advice) ?? numbers.size + 1;
    numbers.set(advice, number);
    return `#${number}`;
  });
  const lines = [...numbers].map(([advice, number]) => `  #${number} ${advice || '(none)'}\n`);
  return `${numbered}\nAdvice\n${lines.join('')}`;
}

/** Makes a call, and describes its result and the number of requests. */
export async function fateOf(
  call: Call,
  answer: Answer,
  options: GatewayOptions = {},
  isRuntimes = false,
): Promise<string> {
  const { client, sent } = clientFor(answer, options, isRuntimes);
  const settled = await settle(call(client));
  const often = times[sent.count] ?? `${sent.count} times`;
  return 'error' in settled ? `${often}, ${inWords(settled.error)}` : `${often}, answered`;
}

function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** A value as JSON with sorted fields. */
export const toJSON = (value: unknown): string => JSON.stringify(value, sorted) ?? 'undefined';

/** A value after a trip through JSON. */
export const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Describes a value by its differences from another. */
export function valueInWords(value: unknown, sent: unknown): string {
  if (value === undefined) return 'undefined';
  if (isDeepStrictEqual(value, sent)) return 'as sent';
  if (!isObject(value) || !isObject(sent)) return toJSON(value);
  const changed = Object.entries(value)
    .filter(([field, inner]) => !isDeepStrictEqual(inner, sent[field]))
    .map(([field, inner]) => [field, isDeepStrictEqual(inner, sent) ? '(as sent)' : inner]);
  const dropped = Object.keys(sent).filter((field) => !(field in value));
  const words = `as sent, with ${toJSON(Object.fromEntries(changed))}`;
  return dropped.length === 0 ? words : `${words} without ${dropped.join(', ')}`;
}

/** Groups equal values with all their names. */
export function sectionsOf(rows: readonly (readonly [name: string, lines: string])[]): string {
  return groupBy(rows)
    .map(([lines, names]) => `${names.join('\n')}\n${lines}`)
    .join('\n');
}

/** Numbers in order, those without a gap between them as ranges. */
export function inRanges(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}

/** Groups values by key, in order. */
export function byKey<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): [key: Key, items: Item[]][] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups];
}

/** Groups the keys of a map by value, in order. */
export function groupBy<Key>(pairs: Iterable<readonly [Key, string]>): [string, Key[]][] {
  return byKey(pairs, ([, value]) => value).map(([value, alike]) => [
    value,
    alike.map(([key]) => key),
  ]);
}
