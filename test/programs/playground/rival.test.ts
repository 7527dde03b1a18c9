import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage, streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/index.ts';
import type { CallKind, Rival } from '../../../src/programs/playground/protocol.ts';
import { runRivals } from '../../../src/programs/playground/rival.ts';
import { findFault, scenarios } from '../../../src/programs/playground/scenarios.ts';
import { createEmulator, type Emulator } from '../../../src/testing/index.ts';

const prompt = 'Why does light bend?';
const messages = [{ role: 'user' as const, content: prompt }];

const calls = {
  image: {
    operation: 'images.generate',
    body: { model: 'm-image', prompt },
  },
  video: {
    operation: 'videos.create',
    body: { model: 'm-video', prompt },
  },
  chat: {
    operation: 'chat.completions.create',
    body: { model: 'm-large', messages, stream: true },
  },
} as const satisfies Partial<Record<CallKind, { operation: Operation; body: object }>>;

/** Runs the rule of one SDK. */
async function run(
  name: Rival['name'],
  kind: keyof typeof calls,
  scenario: string,
  times: number,
): Promise<Rival | undefined> {
  const { operation, body } = calls[kind];
  const rivals = await runRivals(kind, operation, { ...body }, findFault(scenario), times);
  return rivals.find((rival) => rival.name === name);
}

/** The packages themselves. Only the time limit differs, where a package has one. */
const packages = [
  {
    name: 'openai',
    kind: 'image',
    times: [1, 3],
    call: (emulator: Emulator, timeout?: number) =>
      connect(emulator, timeout).images.generate(calls.image.body),
  },
  {
    name: 'openai',
    kind: 'video',
    times: [1, 3],
    call: (emulator: Emulator, timeout?: number) =>
      connect(emulator, timeout).videos.create({ model: 'sora-2', prompt }),
  },
  {
    name: 'openai',
    kind: 'chat',
    times: [1, 3],
    async call(emulator: Emulator, timeout?: number) {
      const { body } = calls.chat;
      const params = { ...body, messages: [...body.messages], stream: true as const };
      const stream = await connect(emulator, timeout).chat.completions.create(params);
      for await (const chunk of stream) if (chunk === undefined) return;
    },
  },
  {
    name: 'ai',
    kind: 'image',
    // Each of its retries waits for seconds.
    times: [1],
    call: (emulator: Emulator) =>
      generateImage({ model: provider(emulator).imageModel('m-image'), prompt }),
  },
  {
    name: 'ai',
    kind: 'chat',
    times: [1],
    async call(emulator: Emulator) {
      const errors: unknown[] = [];
      const { textStream } = streamText({
        model: provider(emulator).chatModel('m-large'),
        prompt,
        onError: ({ error }) => {
          errors.push(error);
        },
      });
      await textStream.pipeTo(new WritableStream());
      if (errors.length > 0) throw errors[0];
    },
  },
] as const;

function connect({ apiKey, baseURL, fetch }: Emulator, timeout?: number): OpenAI {
  const client = new OpenAI({
    apiKey,
    baseURL: `${baseURL}/v1`,
    fetch,
    ...(timeout === undefined ? {} : { timeout }),
  });
  // Its pauses between attempts: `calculateDefaultRetryTimeoutMillis` is private.
  Reflect.set(client, 'calculateDefaultRetryTimeoutMillis', () => 0);
  return client;
}

const provider = ({ apiKey, baseURL, fetch }: Emulator) =>
  createOpenAICompatible({ name: 'emulator', apiKey, baseURL: `${baseURL}/v1`, fetch });

const cases = packages.flatMap((entry) =>
  scenarios
    .filter(({ kinds }) => kinds.includes(entry.kind))
    .flatMap((scenario) =>
      entry.times.map((times) => ({ ...entry, ...scenario, times, package: entry.name })),
    ),
);

/** Calls the package on a separate emulator. */
async function runPackage({ kind, fault, times, call, package: name }: (typeof cases)[number]) {
  const emulator = createEmulator({ videoDuration: 0, quirks: { eventDelay: 0 } });
  emulator.fail({ operation: calls[kind].operation, fault, times });
  const isEndless = fault.type === 'stall-events' || (fault.type === 'hang' && name !== 'openai');
  // As long as the limit of the rule: the request has arrived by then, however busy the machine is.
  const timeout = fault.type === 'hang' ? 1_500 : undefined;
  const result = call(emulator, timeout).then(
    () => 'answer' as const,
    () => 'error' as const,
  );
  const waiting = async (): Promise<'waiting'> => {
    await expect.poll(() => emulator.charges.length > 0).toBe(true);
    return pause(500, 'waiting' as const);
  };
  const ended = await (isEndless ? Promise.race([result, waiting()]) : result);
  return {
    requests: emulator.requests.filter(({ method }) => method === 'POST').length,
    charges: emulator.charges.length,
    ended,
  };
}

test.concurrent.for(cases)(
  '$package, $kind, $name × $times: the rule has the charges of the package',
  { timeout: 30_000 },
  async (wanted, { expect: is }) => {
    const [rule, packaged] = await Promise.all([
      run(wanted.package, wanted.kind, wanted.name, wanted.times),
      runPackage(wanted),
    ]);

    is({ requests: rule?.requests, charges: rule?.charges, ended: rule?.ended }).toEqual(packaged);
  },
);

/** A count of `bench/duplicates`, which has the packages that are not installed here. */
interface Measured {
  readonly requests: number;
  readonly charges: number;
  readonly ended: string;
}

const {
  calls: measured,
}: {
  calls: { package: string; call: string; faults: Record<string, Measured> }[];
} = JSON.parse(
  readFileSync(new URL('../../../bench/results/duplicates.json', import.meta.url), 'utf8'),
);

/** The faults that the playground and the bench share. There, each hits every request. */
const shared: readonly { scenario: string; measuredAs: string; kinds?: readonly string[] }[] = [
  { scenario: 'cut-after-charge', measuredAs: 'reset' },
  { scenario: 'page-502', measuredAs: '502-html' },
  { scenario: 'status-499', measuredAs: '499-json' },
  // The emulator charges nothing for a rejected video.
  { scenario: 'error-in-200', measuredAs: '200-error', kinds: ['image'] },
  { scenario: 'half-answer', measuredAs: '200-cut' },
  { scenario: 'rate-limit', measuredAs: '429-retry-after' },
];

describe.each([
  { name: 'openai', call: 'images.generate', kind: 'image' },
  { name: 'openai', call: 'videos.create', kind: 'video' },
  { name: 'ai', call: 'generateImage', kind: 'image' },
  { name: 'replicate', call: 'run', kind: 'image' },
  { name: 'replicate', call: 'predictions.create', kind: 'video' },
  { name: '@fal-ai/client', call: 'run', kind: 'image' },
  { name: '@fal-ai/client', call: 'queue.submit', kind: 'video' },
] as const)('$name, $kind', ({ name, call, kind }) => {
  const counts = measured.find((entry) => entry.package === name && entry.call === call)?.faults;

  test.each(shared.filter(({ kinds }) => kinds?.includes(kind) ?? true))(
    '$scenario: the measured counts',
    async (row) => {
      const rule = await run(name, kind, row.scenario, 10);

      const { requests, charges } = counts?.[row.measuredAs] ?? {};
      expect({ requests: rule?.requests, charges: rule?.charges }).toEqual({ requests, charges });
    },
  );
});

test.each([
  { kind: 'image', names: ['openai', 'ai', 'replicate', '@fal-ai/client'] },
  { kind: 'video', names: ['openai', 'replicate', '@fal-ai/client'] },
  { kind: 'chat', names: ['openai', 'ai'] },
] as const)(
  '$kind: SDKs that support this call, each with one charge without a fault',
  async (row) => {
    const { operation, body } = calls[row.kind];

    const rivals = await runRivals(row.kind, operation, { ...body }, undefined, 1);

    expect(rivals.map(({ name, charges, ended }) => ({ name, charges, ended }))).toEqual(
      row.names.map((name) => ({ name, charges: 1, ended: 'answer' })),
    );
  },
);
