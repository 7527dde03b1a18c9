// What a gateway says in place of a result reaches the user: each form of it, at each way to ask.
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import { APIError, GatewayError, UnexpectedResponseError } from '../../src/index.ts';
import { eventStream, json, scripted } from '../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../helpers/fake-time.ts';
import { type Door, doors, isFree, isResult } from './doors.ts';
import { errors, type Form, quotes, textOf, whole, words } from './forms.ts';

fakeWaitingTime();

/** What became of a request. */
interface End {
  readonly error?: unknown;
  readonly value?: unknown;
  readonly requests: number;
}

async function open(door: Door, answer: () => Response, maxRetries = 2): Promise<End> {
  const { client, requests } = scripted([answer], { maxRetries });
  return { ...(await settle(door.open(client))), requests: requests.length };
}

/** Returns what is wrong with the end of a request that received a form. */
function problemOf(door: Door, form: Form, end: End, isEvent = false): string | undefined {
  const { error, value, requests } = end;
  if (isResult(door, form)) return 'value' in end ? undefined : `refused: ${String(error)}`;
  if (!GatewayError.isInstance(error)) return `returned ${JSON.stringify(value)}`;
  const { message, outcome, name } = error;
  if (message.split(form.words).length !== 2 && form.words !== '') return `said: ${message}`;
  if (door.kind === 'poll') return undefined;
  if (door.charge === 'charged' && requests !== 1) return `sent ${requests} requests`;
  if (form.words.includes(words) && !isEvent && UnexpectedResponseError.isInstance(error))
    return name;
  const code = APIError.isInstance(error) ? (error.code ?? undefined) : undefined;
  if (form.words.includes(words) && form.code !== (code === undefined ? code : String(code)))
    return `has the code ${code}`;
  if (door.charge === 'free') return undefined;
  const expected = isFree(door, form, isEvent) ? 'rejected' : 'unknown';
  return outcome === expected ? undefined : `is ${outcome}`;
}

type Ask = (door: Door) => Promise<End>;

/** Asks doors, and expects that none is wrong. */
async function expectAt(asked: readonly Door[], form: Form, ask: Ask, isEvent = false) {
  const wrong: string[] = [];
  for (const door of asked) {
    const problem = problemOf(door, form, await ask(door), isEvent);
    if (problem !== undefined) wrong.push(`${door.name}: ${problem}`);
  }
  expect(wrong).toEqual([]);
}

test('a quote has neither the key nor the query of a URL', async () => {
  const apiKey = 'sk-0123456789abcdef';
  const body = { a: `${apiKey} https://a.test/b?sig=secret` };
  for (const door of doors.filter(({ kind }) => kind !== 'status')) {
    const { client } = scripted([json(body)], { apiKey });

    const { error } = await settle(door.open(client));

    expect(String(error), door.name).not.toMatch(/0123456789|secret/);
  }
});

const polls = doors.filter(({ kind }) => kind === 'poll');

/** Milliseconds until a wait ends that is answered so, and its error. */
async function waitFor(door: Door, body: object): Promise<{ error: unknown; elapsed: number }> {
  const start = Date.now();
  const { error } = await open(door, json(body));
  return { error, elapsed: Date.now() - start };
}

test.each([
  { error: { message: words } },
  { fail_reason: words },
  { base_resp: { status_code: 1_008, status_msg: words } },
  { error_msg: words, status: null },
])('the same error beside the id of a task ends each wait after 30 s: %j', async (fields) => {
  for (const door of polls) {
    const { error, elapsed } = await waitFor(door, { id: 'task', ...fields });

    expect(error, door.name).toMatchObject({ reason: words, outcome: 'unknown' });
    expect(elapsed, door.name).toBeGreaterThanOrEqual(30_000);
    expect(elapsed, door.name).toBeLessThan(60_000);
  }
});

test('an error without an id is a poll that failed, and ends each wait after eleven', async () => {
  for (const door of polls) {
    const { error } = await waitFor(door, { error: { message: words } });

    expect(error, door.name).toMatchObject({ polls: 11, outcome: 'unknown' });
    expect(String(error), door.name).toContain(`too often in a row: 200 ${words}`);
  }
});

const streams = doors.filter(({ kind }) => kind === 'stream');

/** Errors that a provider reports before any work, without a status. */
const early: readonly object[] = [
  {
    message: `${words}: the maximum context length is 4096 tokens`,
    code: 'context_length_exceeded',
  },
  { message: `${words}: prompt is too long: 210000 tokens > 200000 maximum` },
  { message: words, code: 'rate_limit_exceeded' },
];

/** Errors of these types too, for calls that are billed by use. */
const typed: readonly object[] = [
  { message: words, type: 'invalid_request_error' },
  { message: words, type: 'rate_limit_error' },
];

test.each([...early, ...typed])(
  'an error before any content is not charged, although the stream began with 200: %j',
  async (error) => {
    const asked = streams.filter(({ name }) => !typed.includes(error) || !/image/.test(name));
    for (const door of asked) {
      const answer = eventStream({ type: 'error', error }, '[DONE]');

      const { error: failure, requests } = await open(door, answer);

      expect(failure, door.name).toMatchObject({ outcome: 'rejected' });
      expect(String(failure), door.name).toContain(words);
      expect(requests, door.name).toBe(1);
    }
  },
);

test('an error after content is unknown, whatever it says', async () => {
  const [door] = streams.filter(({ name }) => name === 'chat stream');
  const content = { choices: [{ index: 0, delta: { content: 'Hi' } }] };
  const answer = eventStream(content, { error: early[0] }, '[DONE]');

  const { error } = door === undefined ? {} : await open(door, answer);

  expect(error).toMatchObject({ outcome: 'unknown' });
});

describe.each([...errors, ...quotes])('$name', (form) => {
  test('an error in a 200 is read at every door', () =>
    expectAt(doors, form, (door) => open(door, whole(form, 200))));

  test('an error is read at the AI SDK', async () => {
    const { client } = scripted([whole(form, 200)]);
    const provider = createModelGateway({ client });
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];

    const { error } = await settle(provider('m').doGenerate({ prompt }));

    expect(String(error)).toContain(form.words);
  });

  test('an error that is an event is read at every stream', async () => {
    const text = textOf(form);
    // Some relays write the terminator behind an error, in the same line.
    const joined = /^[{[]/.test(text) ? [[`${text}data: [DONE]`]] : [];
    for (const events of [[text], [text, '[DONE]'], ...joined]) {
      const answer = eventStream(...events);
      // Text is an event of a transcript, and an empty list has none.
      const isAsked = form.words.includes(words) || form.body !== '[]';
      const asked = streams.filter(
        ({ takes }) => isAsked && (takes !== 'text' || form.words.includes(words)),
      );
      await expectAt(asked, form, (door) => open(door, answer), true);
    }
  });

  test.each([400, 403, 404, 429, 500, 503])(
    'an error behind a %i is read at every door',
    async (status) => {
      for (const door of doors) {
        const { error } = await open(door, whole(form, status), 0);
        const { message, outcome } = GatewayError.isInstance(error) ? error : { message: '' };
        const times = form.words === '' ? 1 : message.split(form.words).length - 1;
        expect(times, `${door.name}: ${message}`).toBe(1);
        if (status < 500 && door.kind !== 'poll') expect(outcome, door.name).toBe('rejected');
      }
    },
  );
});
