/**
 * Waits for many tasks at once and prints what a wait takes: a program of its own.
 *
 *   node --expose-gc waits.ts <kind> asleep <base URL> <tasks>
 *   node --expose-gc waits.ts <kind> working <base URL> <tasks> <seconds>
 *
 * Asleep, all waits are between two polls. Working, they poll at the default interval: requests that are
 * under way count as well then, and they are the more, the busier the machine is.
 */
import { Gateway } from '../lib/model-gateway.ts';
import { memoryInUse } from './probe.ts';

const [kind = '', way = '', baseURL = 'http://127.0.0.1', tasks = '0', seconds = '0'] =
  process.argv.slice(2);
const count = Number(tasks);
const isAsleep = way === 'asleep';
const apiKey = 'sk-bench';
const client = new Gateway({ apiKey, baseURL, logLevel: 'error' });

/** The initial rate of polls per second. Tasks that start at once would poll at once. */
const perSecond = 1_000;
const interval = isAsleep ? 600_000 : undefined;

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

async function fetchStatus(id: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseURL}/v1/videos/${id}`, { headers });
  const body: unknown = JSON.parse(await response.text());
  return typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined;
}

/** The least that waits for a task, at the same intervals. */
async function waitByHand(id: string): Promise<void> {
  for (let longest = 5_000; (await fetchStatus(id)) !== 'completed';) {
    await pause(interval ?? longest * (0.8 + 0.4 * Math.random()));
    longest = Math.min(10_000, longest * 1.25);
  }
}

/** Begins a wait for each task, as tasks are submitted: one after the other. */
async function waitForEach(wait: (id: string) => Promise<unknown>): Promise<number> {
  const waits: Promise<unknown>[] = [];
  for (const id of ids) {
    waits.push(wait(id));
    if (waits.length % 20 === 0) await pause(20_000 / perSecond);
  }
  return (await Promise.all(waits)).length;
}

const ids = Array.from({ length: count }, (_, index) => `task_${index}`);

/** Begins all waits; the promise is fulfilled when all have ended, with how many are completed. */
const kinds: Readonly<Record<string, () => Promise<number>>> = {
  'fetch alone': () => waitForEach(waitByHand),
  'wait()': () => waitForEach((id) => client.videos.wait(id, { interval })),
  async 'waitAll(), at most 1,000 polls a second'() {
    let ended = 0;
    const options = { interval, maxPollsPerSecond: perSecond };
    for await (const { video } of client.videos.waitAll(ids, options)) {
      if (video?.status === 'completed') ended += 1;
    }
    return ended;
  },
};

async function pollsSoFar(): Promise<number> {
  const stats: unknown = await (await fetch(`${baseURL}/stats`)).json();
  return typeof stats === 'object' && stats !== null && 'polls' in stats ? Number(stats.polls) : 0;
}

/** Returns when every task was asked for once since a number of polls. */
async function allBegun(before: number): Promise<void> {
  while ((await pollsSoFar()) - before < count) await pause(100);
  await pause(1_000);
}

/** The rate of polls and the CPU load. */
async function measureWork(): Promise<{ perSecond: number; load: number }> {
  const polls = await pollsSoFar();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await pause(Number(seconds) * 1_000);
  const elapsed = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: ((await pollsSoFar()) - polls) / elapsed,
    load: (user + system) / 1_000_000 / elapsed,
  };
}

const begin = kinds[kind];
if (begin === undefined) {
  console.log(JSON.stringify(Object.keys(kinds)));
} else {
  // Code is loaded and caches are filled before anything is measured.
  await client.videos.retrieve('task_0');
  await fetchStatus('task_0');
  const polls = await pollsSoFar();
  const before = await memoryInUse();
  const ending = begin();
  await allBegun(polls);
  const perWait = ((await memoryInUse()) - before) / count;
  if (isAsleep) {
    console.log(JSON.stringify({ perWait }));
    // Exit without waiting for the ten minutes of sleep.
    process.exit();
  }
  const work = await measureWork();
  await fetch(`${baseURL}/finish`);
  console.log(JSON.stringify({ perWait, ...work, ended: await ending }));
}
