import { setTimeout as pause } from 'node:timers/promises';
import { Gateway } from '../../lib/model-gateway.ts';
import { chat, json } from '../answers.ts';
import { describeEnd, type Counts, type Scenario } from './scenario.ts';
import { Service } from './service.ts';

const apiKey = 'benchmark';
const image = { model: 'image-model', prompt: 'A lighthouse' };
const conversation = {
  model: 'chat-model',
  messages: [{ role: 'user', content: 'Why does light bend?' } as const],
};

const connect = (baseURL: string): Gateway => new Gateway({ apiKey, baseURL, logLevel: 'off' });

async function connectOpenAI(origin: string) {
  const { default: OpenAI } = await import('openai');
  return new OpenAI({ apiKey, baseURL: `${origin}/v1` });
}

/** Requests an image and receives a task. */
async function imageTask(use: (origin: string) => Promise<unknown>): Promise<Counts> {
  await using service = await Service.open({
    reply: () => ({
      answer: json({ created: 1_760_000_000, data: [{ task_id: 'task_1', status: 'queued' }] }),
      cost: 0.002,
    }),
  });
  return service.counts({ ended: await describeEnd(use(service.origin)) });
}

/** A promise with the methods of `openai`'s. */
interface APIPromise extends PromiseLike<unknown> {
  withResponse(): Promise<unknown>;
}

/** Wraps a promise in the way of LangSmith: methods get the proxy as `this`. */
function wrap(promise: APIPromise): APIPromise {
  return new Proxy(promise, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      const isOfPromise = name === 'then' || name === 'catch' || name === 'finally';
      return isOfPromise && typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** An app that repeats a call once when it throws. */
async function wrapped(create: (origin: string) => Promise<() => APIPromise>): Promise<Counts> {
  await using service = await Service.open({ reply: () => ({ answer: chat, cost: 0.002 }) });
  const call = await create(service.origin);
  const attempt = async (): Promise<unknown> => wrap(call()).withResponse();
  const first = await describeEnd(attempt());
  if (first !== 'returned') await describeEnd(attempt());
  // The request is sent although its promise is not awaited.
  await pause(100);
  return service.counts({ ended: first });
}

export const answerScenarios: readonly Scenario[] = [
  {
    id: 'image-task',
    label: 'An image request returns a task and no image',
    ours: () =>
      imageTask(async (origin) => {
        const { data } = await connect(origin).images.generate(image);
        if (data[0]?.url === undefined) throw new TypeError('There is no picture.');
      }),
    peers: {
      openai: () =>
        imageTask(async (origin) => (await connectOpenAI(origin)).images.generate(image)),
      ai: async () => {
        const { generateImage } = await import('ai');
        const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
        return imageTask((origin) => {
          const provider = createOpenAICompatible({
            name: 'gateway',
            apiKey,
            baseURL: `${origin}/v1`,
          });
          return generateImage({ ...image, model: provider.imageModel(image.model) });
        });
      },
    },
    promise: 'waits for the image, sent once',
    isKept: ({ requests, charges, notes }) =>
      requests === 1 && charges === 1 && notes['ended'] === 'returned',
  },
  {
    id: 'wrapped-promise',
    label: '`.withResponse()` on a promise wrapped by LangSmith; the app retries errors',
    ours: () =>
      wrapped(async (origin) => {
        const client = connect(origin);
        return () => client.chat.completions.create(conversation);
      }),
    peers: {
      openai: () =>
        wrapped(async (origin) => {
          const client = await connectOpenAI(origin);
          return () => client.chat.completions.create(conversation);
        }),
    },
    promise: 'returns, sent once',
    isKept: ({ requests, charges, notes }) =>
      requests === 1 && charges === 1 && notes['ended'] === 'returned',
  },
];
