import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Exchange } from '../../../src/programs/cli/doctor/calls/exchanges.ts';
import { reportCalls } from '../../../src/programs/cli/doctor/calls/operations.ts';
import { createReport } from '../../../src/programs/cli/doctor/report.ts';
import { readGateway } from '../../../src/gateways/index.ts';
import { Gateway } from '../../../src/index.ts';
import { createEmulator, type Emulator, type EmulatorOptions } from '../../../src/testing/index.ts';

const fields =
  'choices delta message content tool_calls function data url id usage candidates usageMetadata parts status metadata error created_at embedding index b64_json task_id model seconds completed_at type';
const field = fc.constantFrom(...fields.split(' '));
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, '', 'a b', '<think>', 'completed', 0, 1.5, 1e13),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(field, tie('json'), { maxKeys: 4 }),
  ),
}));
const body = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc
    .array(json, { maxLength: 4 })
    .map((list) => list.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')),
  fc.string(),
);
const exchange = fc.record({
  method: fc.constantFrom('POST', 'GET'),
  url: fc.constantFrom('http://a.test/v1/videos/task_1', 'http://b.test/v1/images/tasks/x1'),
  status: fc.constantFrom(200, 202, 206, 302, 400),
  headers: fc.constantFrom(new Headers(), new Headers({ 'content-type': 'text/event-stream' })),
  text: body,
  arrivals: fc.constant([]),
}) satisfies fc.Arbitrary<Exchange>;

test('evidence can be read of any response, because the call may be paid for', () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 1, maxLength: 3 }), (exchanges) => {
      const [answer] = exchanges;
      if (answer === undefined) return;
      for (const { facts, extraRows } of reportCalls) {
        const context = {
          client: new Gateway({ apiKey: null, baseURL: 'http://a.test' }),
          profile: undefined,
          model: 'm',
          shared: { newLimits: new Set<string>() },
          exchanges,
          timeout: 1,
          signal: new AbortController().signal,
          onTask: () => {},
        };
        expect(Array.isArray(facts(answer, context))).toBe(true);
        extraRows?.(answer, context);
      }
    }),
  );
});

/** Removes the headers by which the emulator is recognized. */
const anonymous =
  (emulator: Emulator, own: Readonly<Record<string, unknown>>): Emulator['fetch'] =>
  async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const answer = Object.hasOwn(own, pathname) ? own[pathname] : undefined;
    if (answer !== undefined) return Response.json(answer);
    const response = await emulator.fetch(input, init);
    const headers = [...response.headers].filter(([name]) => !/^x-(?!ratelimit)/.test(name));
    return new Response(response.body, { status: response.status, headers });
  };

describe('a gateway without a header of its own', () => {
  test.each<{
    name: string;
    options: EmulatorOptions;
    answers: Readonly<Record<string, unknown>>;
    family: string;
    software: string;
  }>([
    {
      name: 'new-api',
      options: {},
      answers: { '/api/status': { success: true, data: { version: 'v0.9.1' } } },
      family: 'ok new-api, by /api/status; read as new-api',
      software: 'ok version v0.9.1, by /api/status',
    },
    {
      name: 'LiteLLM',
      options: { gateway: 'litellm' },
      answers: {
        '/health/liveliness': "I'm alive!",
        '/health/readiness': { status: 'healthy', litellm_version: '1.75.0' },
      },
      family: 'warn litellm, by /health/liveliness; read as new-api',
      software: 'ok LiteLLM 1.75.0, by /health/readiness',
    },
    {
      name: 'OpenRouter',
      options: { gateway: 'openrouter' },
      answers: {},
      family: 'warn openrouter, by /key; read as new-api',
      software: 'unknown server: not named',
    },
    {
      name: 'nothing that is known',
      options: { quirks: { accountRoutes: [] } },
      answers: { '/v1/chat/completions': { detail: 'Not Found' } },
      family: 'unknown read as new-api; nothing identifies the gateway',
      software: 'unknown server: not named',
    },
  ])(
    'a gateway without a header of its own is recognized as $name',
    async ({ options, answers, family, software }) => {
      const emulator = createEmulator(options);
      vi.stubGlobal('fetch', anonymous(emulator, answers));
      const { rows } = await createReport(targetFor(emulator, options));

      const find = (id: string) => {
        const row = rows.find((candidate) => candidate.id === id);
        return `${row?.status} ${row?.detail}`;
      };
      expect(find('family')).toBe(family);
      expect(find('software')).toBe(software);
    },
  );
});

test('the unit of the usage log is the one that the operator has set', async () => {
  const emulator = createEmulator();
  const status = { success: true, data: { version: 'v0.9.1', quota_per_unit: 1_000_000 } };
  vi.stubGlobal('fetch', ((input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    return pathname === '/api/status'
      ? Promise.resolve(Response.json(status))
      : emulator.fetch(input, init);
  }) satisfies Emulator['fetch']);
  const spend = {
    wallet: { limit: 1, spent: 0 },
    video: false,
    only: ['image'],
    models: [],
    confirm: () => Promise.resolve(),
    onTask: () => {},
  };
  const report = await createReport(targetFor(emulator), { spend });

  expect(emulator.charges).toMatchObject([{ amount: 1_000 }]);
  expect(report.spend?.chargedUSD).toBe(0.001);
});

function targetFor(emulator: Emulator, { gateway }: EmulatorOptions = {}) {
  const isOpenRouter = gateway === 'openrouter';
  return {
    baseURL: isOpenRouter ? `${emulator.baseURL}/api/v1` : emulator.baseURL,
    findGateway: readGateway('auto'),
    isAuto: true,
    key: emulator.apiKey,
    headers: {},
    signal: new AbortController().signal,
    timeout: 10_000,
    spend: false,
  };
}
