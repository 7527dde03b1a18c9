import { isDeepStrictEqual } from 'node:util';
import { test } from 'vitest';
import {
  parseVideoTaskRef,
  type VideoWaitOptions,
  type VideoWaitState,
  type VideoWaitStep,
} from '../../src/index.ts';
import stored from './stored/0.1.0.json' with { type: 'json' };
import {
  baseURL,
  byKey,
  clientFor,
  expectGolden,
  groupBy,
  inFakedTime,
  inWords,
  plain,
  sectionsOf,
  toJSON,
  valueInWords,
  withAdvice,
  type Answer,
} from './support.ts';

const task = (fields: object) => () => Response.json({ id: 'task_1', ...fields });
const error = (code: string) => ({ error: { message: 'No', type: 'new_api_error', code } });

/** Responses to a poll. */
const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
  queued: task({ status: 'queued', progress: 0 }),
  running: task({ status: 'in_progress', progress: 30 }),
  'running on': task({ status: 'in_progress', progress: 60 }),
  completed: task({ status: 'completed', progress: 100, url: 'https://cdn.test/v.mp4' }),
  failed: task({ status: 'failed', error: { message: 'No', code: 'refused' } }),
  'failed for another reason': task({ status: 'failed', error: { message: 'Never' } }),
  unknown: task({ status: 'unknown' }),
  'an unheard-of word': task({ status: 'baking' }),
  'no status': task({}),
  'an error in place of a status': task({ error: { message: 'No', code: 'x' } }),
  'not there': () =>
    Response.json({ code: 'task_not_exist', message: 'No', data: null }, { status: 400 }),
  'no such route': () => Response.json(error(''), { status: 404 }),
  'no key': () => Response.json(error(''), { status: 401 }),
  'too often': () => Response.json(error(''), { status: 429, headers: { 'retry-after': '20' } }),
  'a failure of the gateway': () => Response.json(error('x'), { status: 500 }),
  'the page of a proxy': () => new Response('<html></html>', { status: 502 }),
  'a lost connection': () =>
    Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })),
  'half an answer': () => new Response('{"id":'),
};
const unheard = (): Response => new Response(null, { status: 404 });

const now = Date.UTC(2026, 0, 1);

/** Checks a stored state. */
const isState = (value: unknown): value is VideoWaitState => typeof value === 'object';

/** Changes of the state in one step, except fields that repeat the task. */
function stateInWords({ state, task: seen }: VideoWaitStep, before: unknown): string {
  const { status, rawStatus, progress, ...counts } = state;
  const said = { status: seen?.status, rawStatus: seen?.raw_status, progress: seen?.progress };
  const isRepeated = isDeepStrictEqual({ status, rawStatus, progress }, said);
  const {
    status: _status,
    rawStatus: _rawStatus,
    progress: _progress,
    ...counted
  } = Object(before);
  const words = isRepeated
    ? valueInWords(plain(counts), counted)
    : valueInWords(plain(state), before);
  return words.replace(/as sent(, with )?/, '');
}

const errorName = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : 'no error');

async function stepOn(state: unknown, answer: Answer): Promise<string> {
  if (!isState(state)) throw new Error('A state is an object.');
  const { client, sent } = clientFor(answer, { maxRetries: 0 });
  try {
    const step = await client.videos.step('task_1', state);
    const { next } = step;
    const does =
      'delayMs' in next
        ? `waits ${next.delayMs}${next.delayMs === next.earliestMs ? '' : ` or ${next.earliestMs}`}`
        : 'video' in next
          ? 'is done'
          : `ends: ${inWords(next.error)}`;
    const asked = sent.count === 1 ? '' : `, ${sent.count} requests`;
    const failure = step.pollError === undefined ? '' : `, after ${errorName(step.pollError)}`;
    return `${does}${asked}${failure}; ${stateInWords(step, state)}`;
  } catch (thrown) {
    return `throws ${inWords(thrown)}`;
  }
}

test('steps', async () => {
  // The others have the same result as one of these.
  const telling = Object.entries(answers).filter(
    ([name]) => !/on$|another|route|failure|connection|half/.test(name),
  );
  const works = Object.entries(stored.states).flatMap(([name, state]) =>
    telling.map(([answered, answer]) => async () => {
      return [name, answered, await stepOn(state, answer)] as const;
    }),
  );
  const sections = byKey(await inFakedTime(works), ([name]) => name).map(([name, steps]) => {
    const groups = groupBy(steps.map(([, answered, words]) => [answered, words]));
    return `${name}\n${groups.map(([words, all]) => `  ${all.join('; ')}: ${words}\n`).join('')}`;
  });

  const about = `
    What one step makes of a stored state and of the answer to its poll: how long it waits until the next, in
    milliseconds, and what it changes in the state besides what the task says now.
  `;
  await expectGolden('steps.txt', about, withAdvice(sections.join('\n')));
});

test('handles', async () => {
  const works = Object.entries({ ...stored.handles, ...stored.noHandles }).map(
    ([name, handle]) =>
      async () => {
        const urls: string[] = [];
        const { client } = clientFor(({ url }) => {
          urls.push(url);
          return task({ status: 'completed' })();
        });
        try {
          const ref = parseVideoTaskRef(handle);
          const { ref: again } = await client.videos.wait({ ...ref, baseURL });
          const changed =
            toJSON({ ...ref, baseURL }) === toJSON(again) ? '' : `  then ${toJSON(again)}\n`;
          return [name, `  ${toJSON(ref)}\n${changed}  polls ${urls.join(', ')}\n`] as const;
        } catch (thrown) {
          return [name, `  ${inWords(thrown)} ${String(thrown)}\n`] as const;
        }
      },
  );

  const text = withAdvice(sectionsOf(await inFakedTime(works)));
  await expectGolden('handles.txt', 'What stored handles are read as, and where they lead.', text);
});

interface Wait {
  readonly name: string;
  /** Responses to the polls; the last one repeats. */
  readonly polls: readonly (keyof typeof answers)[];
  readonly options?: VideoWaitOptions;
}

const waits: readonly Wait[] = [
  { name: 'well', polls: ['queued', 'queued', 'running', 'running on', 'completed'] },
  { name: 'done at once', polls: ['completed'] },
  { name: 'without an end', polls: ['running'], options: { timeout: 120_000 } },
  { name: 'not there at first', polls: ['not there', 'not there', 'queued', 'completed'] },
  { name: 'never there', polls: ['not there'] },
  { name: 'gone for a while', polls: ['queued', 'not there', 'not there', 'completed'] },
  { name: 'gone', polls: ['queued', 'not there'] },
  { name: 'failed', polls: ['queued', 'failed'] },
  { name: 'failed, and then not', polls: ['queued', 'failed', 'running', 'completed'] },
  { name: 'failed in two ways', polls: ['failed', 'failed for another reason', 'failed'] },
  { name: 'an error in place of a status', polls: ['an error in place of a status'] },
  { name: 'an error once', polls: ['an error in place of a status', 'completed'] },
  { name: 'unknown for long', polls: ['unknown'], options: { timeout: 400_000 } },
  { name: 'no status', polls: ['no status'], options: { timeout: 60_000 } },
  { name: 'an unheard-of word', polls: ['an unheard-of word', 'completed'] },
  { name: 'failures that pass', polls: ['the page of a proxy', 'a lost connection', 'completed'] },
  { name: 'a gateway that is down', polls: ['the page of a proxy'] },
  {
    name: 'a gateway that is down, with little patience',
    polls: ['queued', 'a failure of the gateway'],
    options: { maxConsecutiveErrors: 2 },
  },
  { name: 'asked too often', polls: ['too often', 'too often', 'completed'] },
  { name: 'no key', polls: ['queued', 'no key'] },
  { name: 'no such route', polls: ['no such route'] },
  {
    name: 'an interval of its own',
    polls: ['queued', 'queued', 'queued', 'queued', 'completed'],
    options: { interval: { first: 1_000, factor: 2, max: 3_000 } },
  },
];

/** The times of polls; of many, the first and the last. */
function timesInWords(times: readonly number[]): string {
  const some = 14;
  if (times.length <= some) return times.join(', ');
  return `${times.slice(0, some - 1).join(', ')}, … ${times.at(-1)} (${times.length})`;
}

test('waits', async () => {
  const works = waits.flatMap(({ name, polls, options }) =>
    ['task_1', parseVideoTaskRef({ ...stored.handles.plain, createdAt: now })].map(
      (whom) => async () => {
        const begun = performance.now();
        const times: number[] = [];
        const updates: string[] = [];
        const { client } = clientFor(
          ({ position, url }) => {
            const place = url.includes('/v1/videos/task_1') ? '' : ' elsewhere';
            times.push(Math.round(performance.now() - begun));
            if (place !== '') return unheard();
            return (answers[polls[Math.min(position, polls.length - 1)] ?? ''] ?? unheard)();
          },
          { maxRetries: 0 },
        );
        const onUpdate: VideoWaitOptions['onUpdate'] = (update) => {
          updates.push(
            `${update.status} (${update.rawStatus}) ${update.progress} at ${update.elapsed}`,
          );
        };
        const ended = await client.videos.wait(whom, { onUpdate, ...options }).then(
          ({ status }) => status,
          (thrown: unknown) => `${inWords(thrown).split(',')[0]}, ${String(thrown)}`,
        );
        const by = typeof whom === 'string' ? 'by its id' : 'by the handle of one just submitted';
        const lines = [`polls: ${timesInWords(times)}`, ...updates, ended];
        return [`${name}, ${by}`, lines.map((line) => `  ${line}\n`).join('')] as const;
      },
    ),
  );

  const about = `
    How tasks are waited for: when they are polled, in milliseconds with chance in the middle, what is told
    of them meanwhile, and how it ends.
  `;
  await expectGolden('waits.txt', about, sectionsOf(await inFakedTime(works)));
});
