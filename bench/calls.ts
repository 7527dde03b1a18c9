import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  anthropicMessage,
  answerFromMemory,
  geminiResponse,
  jsonAnswer,
  openaiCompletion,
} from './lib/answers.ts';
import { childEnvironment, type Figures, runChild, serveAsChild, timeRuns } from './lib/child.ts';
import * as shared from './lib/clients.ts';
import type { Part } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { inRounds, selectFigures, taking, varying } from './lib/rounds.ts';
import { memoryInUse } from './memory/probe.ts';

const { apiKey, baseURL, body, prompt } = shared;

/** One whole call of one client: about a kilobyte of JSON comes, and is read and parsed. */
interface CallingClient {
  readonly answer: object;
  /** Loads the client and gives its call. */
  readonly connect: () => Promise<() => PromiseLike<unknown>>;
}

const clients: Readonly<Record<Column, CallingClient>> = {
  ...shared.forOpenAILike((connect) => ({
    answer: openaiCompletion,
    connect: async () => {
      const { chat } = await connect();
      return () => chat.completions.create(body);
    },
  })),
  floor: {
    answer: openaiCompletion,
    connect: async () => async () => {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return response.json();
    },
  },
  ky: {
    answer: openaiCompletion,
    connect: async () => {
      const { default: ky } = await import('ky');
      const headers = { authorization: `Bearer ${apiKey}` };
      // The options of the client, which has limits, retries and errors of its own.
      const options = { timeout: false, retry: 0, throwHttpErrors: false } as const;
      const send = ky.create({ ...options, fetch: (input, init) => fetch(input, init) });
      return () => send.post(`${baseURL}/chat/completions`, { headers, json: body }).json();
    },
  },
  '@anthropic-ai/sdk': {
    answer: anthropicMessage,
    connect: async () => {
      const { messages } = await shared.anthropic();
      return () => messages.create({ ...body, max_tokens: 200 });
    },
  },
  '@google/genai': {
    answer: geminiResponse,
    connect: async () => {
      const { models } = await shared.genai();
      return () => models.generateContent({ model: 'chat-model', contents: prompt });
    },
  },
  ai: {
    answer: openaiCompletion,
    connect: async () => {
      const { generateText } = await import('ai');
      const model = (await shared.compatible()).chatModel('chat');
      return () => generateText({ model, prompt });
    },
  },
  '@fal-ai/client': {
    answer: { text: openaiCompletion.choices[0]?.message.content },
    connect: async () => {
      const { createFalClient } = await import('@fal-ai/client');
      const client = createFalClient({ credentials: apiKey });
      return () => client.run('maker/text-model', { input: { prompt } });
    },
  },
  '@runwayml/sdk': {
    answer: { id: '497f6eca-6276-4993-bfeb-53cbbbba6f08', pad: 'x'.repeat(800) },
    connect: async () => {
      const { default: RunwayML } = await import('@runwayml/sdk');
      const { textToVideo } = new RunwayML({ apiKey, baseURL });
      const video = { model: 'veo3.1', ratio: '1280:720', duration: 4 } as const;
      return () => textToVideo.create({ ...video, promptText: prompt });
    },
  },
};

/** The clients whose memory is compared. */
const compared: readonly Column[] = ['model-gateway', 'openai', 'groq-sdk'];

const rows = {
  call: { id: 'calls', label: 'A whole call, CPU', unit: 'µs' },
  cold: { id: 'calls.cold', label: 'A whole call, CPU – calls 11 to 500 of a process', unit: 'µs' },
  promoted: {
    id: 'calls.promoted',
    label: 'Memory of a call that outlives young collections',
    unit: 'KiB',
  },
  pending: { id: 'calls.pending', label: 'Memory per pending call', unit: 'KiB' },
  kept: { id: 'calls.kept', label: 'Memory that a client keeps after 10,000 calls', unit: 'KiB' },
} as const;

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** What a process measures, by its word. Each begins cold. */
const measurements: Readonly<
  Record<string, (client: CallingClient) => Promise<Readonly<Record<string, number>>>>
> = {
  async cpu({ answer, connect }) {
    answerFromMemory(jsonAnswer(answer));
    const call = await connect();
    await timeRuns(call, 10);
    const cold = await timeRuns(call, 490);
    await timeRuns(call, 4_500);
    return { cold, call: ((await timeRuns(call, 5_000)) + (await timeRuns(call, 5_000))) / 2 };
  },
  async promoted({ answer, connect }) {
    answerFromMemory(jsonAnswer(answer));
    const call = await connect();
    for (let index = 0; index < 5_000; index += 1) await call();
    console.log(begins);
    for (let index = 0; index < promotedCalls; index += 1) {
      await call();
      // A loop without turns of the event loop would keep what weak references hold.
      if (index % 100 === 0) await turn();
    }
    return {};
  },
  async memory({ answer, connect }) {
    const bytes = new TextEncoder().encode(JSON.stringify(answer));
    let count = 0;
    let isAnswering = true;
    const held: unknown[] = [];
    globalThis.fetch = async () => {
      if (!isAnswering) {
        // A connection holds what waits for it.
        const pending = new Promise<never>(() => {});
        held.push(pending);
        return pending;
      }
      count += 1;
      const headers = { 'content-type': 'application/json', 'x-oneapi-request-id': `req-${count}` };
      return new Response(bytes, { headers });
    };
    const call = await connect();
    await timeRuns(call, 10);
    const before = await memoryInUse();
    for (let index = 0; index < 10_000; index += 1) {
      await call();
      if (index % 100 === 0) await turn();
    }
    const kept = ((await memoryInUse()) - before) / 1_024;
    isAnswering = false;
    const hold = async (calls: number): Promise<void> => {
      for (let index = 0; index < calls; index += 1) held.push(call());
      await turn();
    };
    await hold(100);
    const empty = await memoryInUse();
    await hold(1_000);
    return { kept, pending: ((await memoryInUse()) - empty) / 1_000 / 1_024 };
  },
};

const begins = 'The measurement begins.';
const promotedCalls = 15_000;

serveAsChild({
  file: import.meta.filename,
  clients,
  run: (client, [word = '']) => measurements[word]?.(client) ?? Promise.reject(new Error(word)),
});

/** Enough for a mean over processes: each compiles and collects in its own order. */
const launches = 5;

/** Without compiled code, which grows with the number of calls too. */
const interpreted = ['--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode'];

const launch = (column: Column, word: string, flags: readonly string[]): Promise<Figures> =>
  runChild(import.meta.filename, [column, word], flags);

/** Returns how many KiB of each call V8 moves to the old generation. */
async function countPromoted(column: Column): Promise<Figures> {
  const args = ['--trace-gc-nvp', import.meta.filename, column, 'promoted'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    maxBuffer: 2 ** 26,
    env: childEnvironment(),
  });
  const [, measured = ''] = stdout.split(begins);
  const bytes = [...measured.matchAll(/\bpromoted=(\d+)/g)].map(([, text]) => Number(text));
  return { promoted: bytes.reduce((sum, one) => sum + one, 0) / promotedCalls / 1_024 };
}

export const callsPart: Part = {
  name: 'calls',
  async measure({ columns }) {
    const taken = taking(clients, columns);
    const own = taken.filter((column) => compared.includes(column));
    const cpu = await inRounds(taken, launches, (column) => launch(column, 'cpu', []));
    const memory = await inRounds(own, 3, (column) =>
      launch(column, 'memory', ['--expose-gc', ...interpreted]),
    );
    const promoted = await inRounds(own, 3, countPromoted);
    return {
      metrics: [
        varying(rows.call, selectFigures(cpu, 'call')),
        varying(rows.cold, selectFigures(cpu, 'cold')),
        varying(rows.promoted, selectFigures(promoted, 'promoted')),
        varying(rows.pending, selectFigures(memory, 'pending')),
        varying(rows.kept, selectFigures(memory, 'kept')),
      ],
    };
  },
};
