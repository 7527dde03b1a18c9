/**
 * Waits for many tasks at once and prints what a wait takes: a program of its own.
 *
 *   node --expose-gc waits.ts <kind> <base URL> <tasks> <seconds>
 */
import { Gateway } from '../lib/model-gateway.ts';
import { memoryInUse } from './probe.ts';

const [kind = '', baseURL = 'http://127.0.0.1', tasks = '0', seconds = '0'] = process.argv.slice(2);
const count = Number(tasks);
const client = new Gateway({ apiKey: 'sk-bench', baseURL, logLevel: 'error' });

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

async function pollsSoFar(): Promise<number> {
  const stats: unknown = await (await fetch(`${baseURL}/stats`)).json();
  return typeof stats === 'object' && stats !== null && 'polls' in stats ? Number(stats.polls) : 0;
}

/** Over how long waits begin, as tasks are submitted: all at once they would all poll at once. */
const beginning = 10_000;

const ids = Array.from({ length: count }, (_, index) => `task_${index}`);

/** Begins all waits; the promise is fulfilled when all have ended, with how many are completed. */
const kinds: Readonly<Record<string, () => Promise<number>>> = {
  async 'wait()'() {
    const waits: Promise<number>[] = [];
    for (const id of ids) {
      waits.push(client.videos.wait(id).then(() => 1));
      if (waits.length % 100 === 0) await pause((beginning * 100) / count);
    }
    const ended = await Promise.all(waits);
    return ended.length;
  },
  async 'waitAll(), 500 a second'() {
    let ended = 0;
    for await (const { video } of client.videos.waitAll(ids, { maxPollsPerSecond: 500 })) {
      if (video?.status === 'completed') ended += 1;
    }
    return ended;
  },
};

const begin = kinds[kind];
if (begin === undefined) {
  console.log(JSON.stringify(Object.keys(kinds)));
} else {
  await client.videos.retrieve('task_0');
  const before = await memoryInUse();
  const ending = begin();
  // Until everybody has been asked for at least once.
  await pause(Math.max(beginning, (count / 500) * 1_000) + 2_000);
  const perWait = ((await memoryInUse()) - before) / count;
  const polls = await pollsSoFar();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await pause(Number(seconds) * 1_000);
  const elapsed = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = ((await pollsSoFar()) - polls) / elapsed;
  await fetch(`${baseURL}/finish`);
  const ended = await ending;
  const after = ((await memoryInUse()) - before) / count;
  const load = (user + system) / 1_000_000 / elapsed;
  console.log(JSON.stringify({ perWait, perSecond, load, ended, after }));
}
