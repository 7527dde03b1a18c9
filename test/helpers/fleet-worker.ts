// Submits each order once through a ledger that it shares with other processes. See `fleet.ts`.
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileLedger } from '../../src/adapters/node/index.ts';
import { Gateway, type VideoTaskRef } from '../../src/index.ts';

const [baseURL = '', folder = '', count = '0', isScarce = ''] = process.argv.slice(2);

/** Uses up the free descriptors, again and again, for as long as the program runs. */
function takeDescriptors(): void {
  const taken: number[] = [];
  const turn = (): void => {
    const most = Math.random() * 60;
    try {
      while (taken.length < most) taken.push(openSync('/dev/null', 'r'));
    } catch {
      // There is none left.
    }
    setTimeout(() => {
      for (const descriptor of taken.splice(0)) closeSync(descriptor);
      setTimeout(turn, Math.random() * 20).unref();
    }, Math.random() * 20).unref();
  };
  turn();
}

// The first one opens what stays open.
await fetch(baseURL).then(async (response) => response.text());
if (isScarce !== '') takeDescriptors();

const client = new Gateway({ baseURL, apiKey: 'sk-test', logLevel: 'off' });
const ledger = fileLedger(folder);

/** Records a task that the ledger failed to record, as its error says. */
async function record(callId: string, ref: VideoTaskRef): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    const isRecorded = await ledger.accept(callId, ref).then(
      () => true,
      () => false,
    );
    if (isRecorded) return;
    await pause(5 + Math.random() * 20);
  }
}

/** Why an order ended, and how often it was tried. */
async function place(callId: string): Promise<readonly [end: string, tries: number]> {
  for (let tries = 1; ; tries += 1) {
    try {
      const task = await client.videos.create(
        { model: 'm-video', prompt: callId },
        { ledger, callId, maxRetries: 0 },
      );
      if (task._ledger_error !== undefined) await record(callId, task.ref);
      return [task.id, tries];
    } catch (error) {
      const { name, outcome, isInProgress } = Object(error);
      const isOver = outcome !== 'not_sent' && outcome !== 'rejected' && isInProgress !== true;
      if (isOver || tries === 400) return [String(name), tries];
      await pause(5 + Math.random() * 20);
    }
  }
}

const orders = Array.from({ length: Number(count) }, (_, index) => `order-${index}`);
const left = orders.toSorted(() => Math.random() - 0.5);
const ends: (readonly [order: string, end: string, tries: number])[] = [];
const work = async (): Promise<void> => {
  for (let order = left.shift(); order !== undefined; order = left.shift()) {
    ends.push([order, ...(await place(order))]);
  }
};
await Promise.all(Array.from({ length: 6 }, work));
console.log(JSON.stringify(ends));
process.exit(0);
