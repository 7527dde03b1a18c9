/** The service of the soak: a process that makes the jobs of a queue with one of the clients, until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import { Gateway } from '../../../src/index.ts';

export interface Job {
  readonly id: string;
  readonly kind: 'image' | 'video' | 'chat' | 'leave';
}

/** What the service reports about a job. */
export interface Report {
  readonly id: string;
  readonly end: 'done' | 'failed' | 'stopped';
  /** The name of the class of its error. */
  readonly error?: string | undefined;
  /** US dollars that the client counts so far: what it knows, and what may be charged besides. */
  readonly counted: readonly [known: number, possible: number];
}

type Service = Readonly<Record<Job['kind'], (id: string) => Promise<unknown>>> & {
  readonly count: () => Promise<Report['counted']>;
  readonly settle: () => Promise<unknown>;
};

const [client, baseURL = '', apiKey = '', ledgerFolder = ''] = process.argv.slice(2);
const stopping = new AbortController();
const { signal } = stopping;

const model = 'm-large';
const messages = (content: string) => [{ role: 'user' as const, content }];

function withGateway(): Service {
  const budget = { limit: 1_000 };
  const gateway = new Gateway({
    apiKey,
    baseURL,
    logLevel: 'off',
    budget,
    limits: {},
    timeout: 10_000,
  });
  const ledger = fileLedger(ledgerFolder);
  const options = (callId: string) => ({ ledger, callId, onUnknown: 'settle', signal }) as const;
  return {
    image: (prompt) =>
      gateway.images.generate({ model: 'm-image', prompt, size: '256x256' }, options(prompt)),
    video: (prompt) =>
      gateway.videos.createAndWait(
        { model: 'm-video', prompt },
        { ...options(prompt), interval: { first: 250, min: 250, max: 500 } },
      ),
    chat: (prompt) =>
      gateway.chat.completions.create({ model, messages: messages(prompt) }, { signal }),
    async leave(prompt) {
      const params = { model, messages: messages(prompt), stream: true } as const;
      for await (const _ of await gateway.chat.completions.create(params, { signal })) break;
    },
    async count() {
      const { estimate, possible } = await gateway.account.spent();
      return [estimate.value, possible.value];
    },
    settle: () => gateway.settled(),
  };
}

function withOpenAI(): Service {
  const openai = new OpenAI({ apiKey, baseURL: `${baseURL}/v1`, timeout: 10_000 });
  return {
    image: (prompt) =>
      openai.images.generate({ model: 'm-image', prompt, size: '256x256' }, { signal }),
    async video(prompt) {
      let video = await openai.videos.create({ model: 'm-video', prompt }, { signal });
      while (video.status !== 'completed' && video.status !== 'failed') {
        await delay(150, undefined, { signal });
        video = await openai.videos.retrieve(video.id, { signal });
      }
    },
    chat: (prompt) =>
      openai.chat.completions.create({ model, messages: messages(prompt) }, { signal }),
    async leave(prompt) {
      const params = { model, messages: messages(prompt), stream: true } as const;
      for await (const _ of await openai.chat.completions.create(params, { signal })) break;
    },
    count: async () => [0, 0],
    settle: async () => {},
  };
}

const service = client === 'openai' ? withOpenAI() : withGateway();

process.on('message', ({ id, kind }: Job) => {
  const report = async (end: Report['end'], error?: string): Promise<void> => {
    process.send?.({ id, end, error, counted: await service.count() } satisfies Report);
  };
  void service[kind](id).then(
    () => report('done'),
    (error: unknown) => {
      const name = error instanceof Error ? error.name : typeof error;
      return report(signal.aborted ? 'stopped' : 'failed', name);
    },
  );
});
process.once('SIGTERM', () => {
  stopping.abort();
  // The reports of the stopped jobs go out first.
  void service
    .settle()
    .then(() => delay(50))
    .then(() => process.exit());
});
// The queue has ended.
process.once('disconnect', () => process.exit());
