import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { expect, test, vi } from 'vitest';
import type { Operation } from '../../src/index.ts';
import { runRival } from '../../src/playground/rival.ts';
import { scenarios } from '../../src/playground/scenarios.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { patient } from '../helpers/patient.ts';

const messages = [{ role: 'user' as const, content: 'Why does light bend?' }];

/** Each call as input of the rule, and through the package itself. */
const calls = [
  {
    kind: 'image' as const,
    operation: 'images.generate' as const satisfies Operation,
    body: { model: 'm-image', prompt: 'A lighthouse' },
    run: (client: OpenAI) => client.images.generate({ model: 'm-image', prompt: 'A lighthouse' }),
  },
  {
    kind: 'video' as const,
    operation: 'videos.create' as const satisfies Operation,
    body: { model: 'm-video', prompt: 'A boat' },
    run: (client: OpenAI) => client.videos.create({ model: 'sora-2', prompt: 'A boat' }),
  },
  {
    kind: 'chat' as const,
    operation: 'chat.completions.create' as const satisfies Operation,
    body: { model: 'm-large', messages, stream: true },
    run: async (client: OpenAI) => {
      const stream = await client.chat.completions.create({
        model: 'm-large',
        messages,
        stream: true,
      });
      for await (const chunk of stream) if (chunk === undefined) return;
    },
  },
];

const cases = calls.flatMap((call) =>
  scenarios
    .filter(({ kinds }) => kinds.includes(call.kind))
    .flatMap((scenario) =>
      [1, 3].map((times) => ({ ...call, ...scenario, call: call.kind, times })),
    ),
);

/** The package itself, on an emulator of its own, without its pauses. */
async function payByPackage({ operation, fault, times, run }: (typeof cases)[number]) {
  const emulator = createEmulator({ videoDuration: 0, quirks: { eventDelay: 0 } });
  emulator.fail({ operation, fault, times });
  const client = new OpenAI({
    apiKey: emulator.apiKey,
    baseURL: `${emulator.baseURL}/v1`,
    fetch: emulator.fetch,
    // As long as ours is: it has arrived by then, however busy the machine is.
    ...(fault.type === 'hang' ? { timeout: 1_500 } : {}),
  });
  // Its pauses between attempts: `calculateDefaultRetryTimeoutMillis` is private.
  Reflect.set(client, 'calculateDefaultRetryTimeoutMillis', () => 0);
  const answered = run(client).then(
    () => 'answer' as const,
    () => 'error' as const,
  );
  /** Says that it waits when nothing has come of it for half a second after it was charged. */
  const waiting = async (): Promise<'waiting'> => {
    await vi.waitUntil(() => emulator.charges.length > 0, patient);
    return pause(500, 'waiting' as const);
  };
  const ended = await (fault.type === 'stall-events'
    ? Promise.race([answered, waiting()])
    : answered);
  return {
    requests: emulator.requests.filter(({ method }) => method === 'POST').length,
    charges: emulator.charges.length,
    ended,
  };
}

test.concurrent.for(cases)(
  '$call, $name × $times: the rule pays what the openai package pays',
  { timeout: 20_000 },
  async (wanted, { expect: is }) => {
    const { operation, body, fault, times } = wanted;

    const [rule, packaged] = await Promise.all([
      runRival(operation, body, fault, times),
      payByPackage(wanted),
    ]);

    is({ requests: rule.requests, charges: rule.charges, ended: rule.ended }).toEqual(packaged);
  },
);

test('without a fault both sides pay once', async () => {
  const { charges, ended } = await runRival(
    'images.generate',
    { model: 'm-image', prompt: 'A lighthouse' },
    undefined,
    1,
  );

  expect({ charges, ended }).toEqual({ charges: 1, ended: 'answer' });
});
