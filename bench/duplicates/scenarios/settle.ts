import { setTimeout as pause } from 'node:timers/promises';
import { Gateway, GatewayError, memoryLedger, type Settlement } from '../../lib/model-gateway.ts';
import { imageEvents, images, json } from '../answers.ts';
import { readAll } from '../subject.ts';
import { describeEnd, type Counts, type Scenario } from './scenario.ts';
import { Service } from './service.ts';

const image = { model: 'image-model', prompt: 'A lighthouse' };
const apiKey = 'benchmark';
const logLevel = 'off';

const failure = json({ error: { message: 'Something went wrong.', type: 'server_error' } });

async function settled(client: Gateway, call: Promise<unknown>): Promise<Settlement['verdict']> {
  try {
    await call;
  } catch (error) {
    if (!GatewayError.isInstance(error)) throw error;
    return (await client.account.settle(error)).verdict;
  }
  throw new Error('The call was meant to fail.');
}

/** The first channel fails and is logged; the stream is cut; the second channel is charged later. */
async function cutStream(): Promise<Counts> {
  let later: Promise<void> | undefined;
  await using service = await Service.open({
    reply: (request, own) => {
      own.log(request, 5, 0);
      later = pause(500).then(() => own.charge(request, 0.006));
      return { answer: imageEvents('image_generation'), isCut: true };
    },
  });
  const client = new Gateway({ apiKey, baseURL: service.origin, logLevel });
  const stream = client.images.generate({ ...image, stream: true }).then(readAll);
  const verdict = await settled(client, stream);
  await later;
  return service.counts({ verdict });
}

/** Another client with the same key pays for an image; a call that never arrives asks the log. */
async function neverArrived(): Promise<Counts> {
  await using service = await Service.open({ reply: () => ({ answer: images, cost: 0.002 }) });
  const options = { apiKey, baseURL: service.origin, logLevel } as const;
  await new Gateway(options).images.generate(image);
  const lost = new Gateway({
    ...options,
    fetch: async (input, init) => {
      if (new Request(input, init).method === 'POST') throw new TypeError('fetch failed');
      return fetch(input, init);
    },
  });
  return service.counts({ verdict: await settled(lost, lost.images.generate(image)) });
}

/** A video is charged and its answer lost; the log has it under a type of a fork. */
async function foreignType(type: unknown): Promise<Counts> {
  await using service = await Service.open({
    reply: (request, own) => {
      own.charges.push({ key: request.key, cost: 0.002 });
      own.log(request, type, 0.002);
      return { answer: failure, status: 500 };
    },
  });
  const client = new Gateway({ apiKey, baseURL: service.origin, logLevel });
  const options = { ledger: memoryLedger(), callId: 'call-1', onUnknown: 'settle' } as const;
  const call = (): Promise<string> =>
    describeEnd(
      client.videos.createAndWait({ model: 'video-model', prompt: image.prompt }, options),
    );
  await call();
  // The second run finds the first in the ledger and settles it.
  return service.counts({ ended: await call() });
}

export const settleScenarios: readonly Scenario[] = [
  {
    id: 'settle-cut-stream',
    label: 'A stream is cut while the gateway tries its next channel; `settle()` at once',
    ours: cutStream,
    promise: 'never `not_charged`',
    isKept: ({ requests, notes: { verdict } }) =>
      requests === 1 && (verdict === 'unknowable' || verdict === 'charged'),
  },
  {
    id: 'settle-other-client',
    label: 'A call never arrives while another client with its key pays; `settle()`',
    ours: neverArrived,
    promise: 'never `charged`',
    isKept: ({ requests, notes }) => requests === 1 && notes['verdict'] === 'unknowable',
  },
  ...[9, '2', undefined].map((type): Scenario => {
    const name = type === undefined ? 'no type' : `the type ${JSON.stringify(type)}`;
    return {
      id: `settle-type-${String(type)}`,
      label: `The usage log has a charge with ${name}; \`onUnknown: 'settle'\``,
      ours: () => foreignType(type),
      promise: 'submitted once',
      isKept: ({ requests, charges }) => requests === 1 && charges === 1,
    };
  }),
];
