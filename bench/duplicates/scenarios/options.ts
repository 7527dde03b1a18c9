import { Gateway } from '../../lib/model-gateway.ts';
import { json } from '../answers.ts';
import { describeEnd, type Counts, type Scenario } from './scenario.ts';
import { Service } from './service.ts';

const video = { model: 'video-model', prompt: 'A lighthouse' };
const apiKey = 'benchmark';
const logLevel = 'off';
const accepted = json({ id: 'video_1', object: 'video', status: 'queued' });

/** A job submits a video, its response is lost, and its second run has the same key, which is honoured. */
async function sameKey(): Promise<Counts> {
  const paid = new Set<string | null>();
  let key: string | null = null;
  await using service = await Service.open({
    reply: ({ index }) => {
      const cost = paid.has(key) ? {} : { cost: 0.1 };
      paid.add(key);
      return { answer: accepted, isCut: index === 0, ...cost };
    },
  });
  const client = new Gateway({
    apiKey,
    baseURL: service.origin,
    logLevel,
    maxRetries: 0,
    idempotency: { header: 'Idempotency-Key' },
    fetch: (input, init) => {
      const request = new Request(input, init);
      if (request.method === 'POST') key = request.headers.get('idempotency-key');
      return fetch(request);
    },
  });
  const run = () =>
    describeEnd(client.videos.createAndWait(video, { idempotencyKey: 'job-1', interval: 250 }));
  await run();
  return service.counts({ ended: await run() });
}

/** A submission hangs, and only `timeout` ends it. */
async function hangingSubmission(): Promise<Counts> {
  await using service = await Service.open({ reply: () => ({ answer: accepted, cost: 0.1 }) });
  const client = new Gateway({
    apiKey,
    baseURL: service.origin,
    logLevel,
    fetch: async (input, init) => {
      await fetch(input, init);
      return new Promise<Response>(() => {});
    },
  });
  const start = performance.now();
  const ended = await describeEnd(client.videos.createAndWait(video, { timeout: 500 }));
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  return service.counts({ seconds, ended });
}

export const optionScenarios: readonly Scenario[] = [
  {
    id: 'options-idempotency-key',
    label: 'The response of `createAndWait()` is lost; run again with its `idempotencyKey`',
    ours: sameKey,
    promise: 'charged once by a gateway that honours keys',
    isKept: ({ requests, charges, notes }) =>
      requests === 2 && charges === 1 && notes['ended'] === 'returned',
  },
  {
    id: 'options-timeout',
    label: 'The submission of `createAndWait()` hangs; a `timeout` of 0.5 s',
    ours: hangingSubmission,
    promise: 'ends in time, sent once, unknown',
    isKept: ({ requests, charges, notes }) =>
      requests === 1 &&
      charges === 1 &&
      Number(notes['seconds']) < 2 &&
      String(notes['ended']).endsWith(', unknown'),
  },
];
