import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { toFields } from '../../../src/answers/objects.ts';
import { prompts } from '../../../src/programs/cli/doctor/calls/samples.ts';
import { type DoctorReport, reportSchema } from '../../../src/programs/cli/doctor/report-schema.ts';
import { createReport } from '../../../src/programs/cli/doctor/report.ts';
import { readGateway } from '../../../src/gateways/index.ts';
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type ReceivedRequest,
} from '../../../src/testing/index.ts';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import { modes } from '../../helpers/modes.ts';
import { startProxy } from './proxy.ts';
import { Machine } from './run.ts';

passTimeFaster();

const unitsPerDollar = 500_000;

async function start(options: EmulatorOptions = {}) {
  const emulator = createEmulator(options);
  emulator.clock.speed = 100;
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const url = options.gateway === 'openrouter' ? `${server.url}/api/v1` : server.url;
  const machine = new Machine({ url, key: emulator.apiKey });
  machine.env['GATEWAY_PROFILE'] = options.gateway ?? 'new-api';
  return { emulator, server, machine };
}

/** A time limit that a busy machine meets in fast time. */
const patient = ['--timeout', '1m'];

async function spend(machine: Machine, words: readonly string[]) {
  const { code, stdout, stderr } = await machine.run(['doctor', '--json', ...patient, ...words]);
  return { code, stderr, report: reportSchema.parse(JSON.parse(stdout)) };
}

const find = ({ rows }: DoctorReport, id: string) => rows.find((row) => row.id === id);

const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

/** Returns what the emulator has charged and not refunded, in US dollars. */
const charged = ({ charges }: Emulator): number =>
  sum(charges.map(({ amount, refundedAt }) => (refundedAt === undefined ? amount : 0))) /
  unitsPerDollar;

const targetFor = (emulator: Emulator, signal = new AbortController().signal) => ({
  baseURL: emulator.baseURL,
  findGateway: readGateway('new-api'),
  isAuto: false,
  key: emulator.apiKey,
  headers: {},
  signal,
  timeout: 60_000,
  spend: false,
});

/** Options of paid calls without a user. */
const spendAll = {
  video: true,
  models: [],
  confirm: () => Promise.resolve(),
  onTask: () => {},
};

describe.each(modes)('%s', (gateway) => {
  test('the report says what the account was charged', async () => {
    const { emulator, machine } = await start({ gateway });
    const { code, report } = await spend(machine, ['--spend', '20', '--video']);

    expect(code).toBe(0);
    const calls = report.rows.filter(({ id }) => id.startsWith('call.'));
    expect(calls.length).toBeGreaterThan(25);
    expect(calls.filter(({ status }) => status !== 'pass' && status !== 'unsupported')).toEqual([]);
    const { chargedUSD = 0, unknownUSD = 0 } = report.spend ?? {};
    const paid = report.rows.flatMap((row) => row.call ?? []).filter((call) => call.atMostUSD > 0);
    const spentUSD = charged(emulator);
    expect(paid.length).toBeGreaterThan(15);
    if (gateway === 'openai') {
      // It reports neither prices nor charges.
      expect(chargedUSD).toBe(0);
      expect(paid.every(({ usd }) => usd === undefined)).toBe(true);
      expect(unknownUSD).toBeGreaterThanOrEqual(spentUSD);
    } else {
      expect(chargedUSD).toBeCloseTo(spentUSD, 9);
      expect(unknownUSD).toBe(0);
      expect(paid.every(({ usd, source }) => usd !== undefined && source === 'usage-log')).toBe(
        true,
      );
      expect(paid.every(({ usd = 0, atMostUSD }) => usd <= atMostUSD)).toBe(true);
    }
    // Tools take two requests.
    expect(emulator.charges).toHaveLength(paid.length + 1);
  });

  test('a report without --spend charges nothing', async () => {
    const { emulator, machine } = await start({ gateway });
    await machine.run(['doctor', '--report', '--json']);
    await machine.run(['doctor', '--write-profile', 'gateway.ts']);

    expect(emulator.charges).toEqual([]);
  });
});

const only = (...calls: string[]) => ['--spend', '2', '--yes', '--only', ...calls];

/** Returns whether a request is a call, and not a free probe of its route. */
const hasModel = ({ body }: ReceivedRequest): boolean =>
  body.kind === 'json' && 'model' in toFields(body.value);

test('the newest build of new-api: every call, streamed images, content that needs a key', async () => {
  const { emulator, machine } = await start({ edition: '2026' });
  const { report } = await spend(machine, ['--spend', '20', '--video']);

  const calls = report.rows.filter(({ id }) => id.startsWith('call.'));
  expect(calls.filter(({ status }) => status !== 'pass' && status !== 'unsupported')).toEqual([]);
  expect(find(report, 'family')).toMatchObject({ detail: expect.stringContaining('new-api') });
  expect(find(report, 'content-key')).toMatchObject({ status: 'yes' });
  expect(find(report, 'videos')).toMatchObject({ status: 'ok' });
  expect(find(report, 'call.image-stream')).toMatchObject({
    status: 'pass',
    detail: expect.not.stringContaining('JSON in place of events'),
  });
  expect(report.spend?.chargedUSD).toBeCloseTo(charged(emulator), 9);
});

describe('/v1/responses', () => {
  const both = only('responses', 'responses-stream');

  test('/v1/responses is called whole and streamed', async () => {
    const { emulator, machine } = await start();
    const { report } = await spend(machine, both);

    expect(find(report, 'call.responses')).toMatchObject({ status: 'pass', detail: '200' });
    expect(find(report, 'call.responses-stream')).toMatchObject({
      status: 'pass',
      detail: '200; ends with "response.completed"',
    });
    expect(emulator.charges).toHaveLength(2);
  });

  test('/v1/responses is unsupported at a gateway without it, and a cut stream fails', async () => {
    const { emulator, machine } = await start();
    const rule = { operation: 'responses.create', when: hasModel } as const;
    emulator.fail({ ...rule, fault: { type: 'bare', status: 404 } });
    emulator.fail({ ...rule, fault: { type: 'cut-events', after: 3 } });
    const { report } = await spend(machine, both);

    expect(find(report, 'call.responses')).toMatchObject({ status: 'unsupported' });
    expect(find(report, 'call.responses-stream')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('StreamTruncatedError'),
    });
  });
});

describe('a model that does not serve a call', () => {
  test('a model that does not serve a call says nothing about the gateway: the next one is tried', async () => {
    const models = [
      { id: 'claude-embedding-mini', vendor: 'anthropic' },
      { id: 'text-embedding-3-large', vendor: 'openai' },
    ] as const;
    const { emulator, machine } = await start({ models });
    const { report } = await spend(machine, only('embeddings', 'embeddings-tokens'));

    for (const id of ['call.embeddings', 'call.embeddings-tokens']) {
      expect(find(report, id)).toMatchObject({
        status: 'pass',
        detail: expect.stringContaining('not served by claude-embedding-mini'),
        call: { model: 'text-embedding-3-large' },
      });
    }
    expect(emulator.charges).toHaveLength(2);
  });

  test.each([
    {
      code: 'convert_request_failed',
      message: 'not supported model for image generation, only imagen models are supported',
      status: 500,
    },
    { code: 'invalid_value', message: 'This model does not support this endpoint', status: 400 },
  ])('a model that does not serve a call is tried once a call: $message', async (fault) => {
    const models = ['gemini-2.5-flash-image', 'gpt-image-1', 'dall-e-3'].map((id) => ({ id }));
    const { emulator, machine } = await start({ models });
    emulator.fail({
      operation: 'images.generate',
      when: hasModel,
      fault: { type: 'error', ...fault },
    });
    const { report } = await spend(machine, only('image'));

    expect(find(report, 'call.image')).toMatchObject({
      status: 'pass',
      detail: expect.stringContaining('not served by gemini-2.5-flash-image'),
    });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a model that does not serve a call is named if no other one serves it', async () => {
    const models = [{ id: 'claude-embedding-a' }, { id: 'claude-embedding-b' }];
    const { emulator, machine } = await start({ models });
    const { report } = await spend(machine, only('embeddings'));

    expect(find(report, 'call.embeddings')).toMatchObject({
      status: 'skip',
      detail: expect.stringMatching(/^no model of 2 serves it: claude-embedding-a: 500 .*; claude/),
    });
    expect(emulator.charges).toHaveLength(0);
  });

  test('a model that does not serve a call is not replaced once the limit may be used up', async () => {
    const models = ['gpt-image-mini', 'other-image'].map((id) => ({ id }));
    const { emulator, machine } = await start({ gateway: 'openai', models });
    emulator.fail({
      operation: 'images.generate',
      when: hasModel,
      fault: { type: 'error', status: 500, message: 'The model does not support it' },
    });
    const words = ['--spend', '0.3', '--yes', '--only', 'image'];
    const { report } = await spend(machine, words);

    expect(find(report, 'call.image')).toMatchObject({
      status: 'skip',
      call: { model: 'gpt-image-mini', atMostUSD: 0.3 },
    });
    expect(emulator.requests.filter(hasModel)).toHaveLength(1);
  });
});

describe('the limit', () => {
  test('the limit is never passed: a call that may cost more than the rest is skipped', async () => {
    const { emulator, machine } = await start();
    const { report } = await spend(machine, ['--spend', '0.003']);

    expect(charged(emulator)).toBeLessThanOrEqual(0.003);
    expect(find(report, 'call.chat')?.status).toBe('pass');
    expect(find(report, 'call.image')).toMatchObject({
      status: 'skip',
      detail: expect.stringMatching(/^costs up to \$0\.002, but \$0\.0\d+ of the limit is left$/),
    });
  });

  test('the limit counts a model without a price at its upper bound', async () => {
    const { emulator, machine } = await start({ gateway: 'openai' });
    const { report, stderr } = await spend(machine, ['--spend', '0.02', '--only', 'chat', 'image']);

    expect(stderr).toContain('no price; at most $0.0171');
    expect(find(report, 'call.chat')).toMatchObject({
      status: 'pass',
      call: { model: 'm-flash', atMostUSD: expect.closeTo(0.0171, 6) },
    });
    expect(find(report, 'call.image')).toMatchObject({
      status: 'skip',
      detail: expect.stringContaining('publishes no price; it may cost up to $0.3'),
    });
    expect(emulator.charges).toHaveLength(1);
  });

  test('the limit counts a call whose response was lost at its estimate', async () => {
    const { emulator, machine } = await start();
    emulator.quirks.accountRoutes = ['pricing'];
    emulator.fail({
      operation: 'embeddings.create',
      times: 20,
      fault: { type: 'reset', when: 'after-charge' },
    });
    const { report } = await spend(machine, ['--spend', '1', '--only', 'embeddings']);

    expect(emulator.charges.length).toBeGreaterThan(0);
    expect(find(report, 'call.embeddings')).toMatchObject({
      status: 'fail',
      call: { atMostUSD: 0.0001 },
    });
    expect(report.spend).toMatchObject({ chargedUSD: 0, unknownUSD: 0.0001 });
  });

  test('a video requires --video', async () => {
    const { emulator, machine } = await start();
    const { report } = await spend(machine, ['--spend', '5']);

    expect(find(report, 'call.video')).toMatchObject({
      status: 'skip',
      detail: 'requires --video',
    });
    expect(emulator.charges.some(({ operation }) => operation === 'videos.create')).toBe(false);
  });
});

describe('the calls', () => {
  test('the calls use the models that -m names', async () => {
    const models = [{ id: 'gpt-4o-mini' }, { id: 'my-chat' }, { id: 'my-embedding' }, { id: 'e5' }];
    const { machine } = await start({ models });
    const words = ['--spend', '1', '--only', 'chat', 'embeddings', 'image'];
    const { report } = await spend(machine, [...words, '-m', 'my-chat', '-m', 'e5']);

    expect(find(report, 'call.chat')?.call?.model).toBe('my-chat');
    expect(find(report, 'call.embeddings')?.call?.model).toBe('e5');
    expect(find(report, 'call.image')).toMatchObject({ status: 'skip', detail: /no model/ });
  });

  test('limit the output under another name if the model wants it', async () => {
    const emulator = createEmulator();
    const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) =>
      typeof init?.body === 'string' && /"m-reasoning".*"max_tokens"/.test(init.body)
        ? Promise.resolve(Response.json({ error: { message } }, { status: 400 }))
        : emulator.fetch(input, init),
    );
    const report = await createReport(targetFor(emulator), {
      spend: { ...spendAll, wallet: { limit: 1, spent: 0 }, only: ['reasoning', 'vision'] },
    });

    expect(find(report, 'call.reasoning')?.status).toBe('pass');
    expect(find(report, 'call.vision')?.status).toBe('pass');
    const bodies = emulator.requests.map(({ body }) => JSON.stringify(body));
    const asked = bodies.filter((body) => body.includes('"role":"user"'));
    expect(asked).toEqual([
      expect.stringContaining('"max_completion_tokens":400'),
      expect.stringContaining('"max_tokens":16'),
    ]);
    expect(emulator.charges).toHaveLength(2);
  });

  test('the calls end at their time limit', async () => {
    const { emulator, machine } = await start();
    emulator.fail({ operation: 'audio.speech.create', times: 20, fault: { type: 'hang' } });
    const words = ['--spend', '1', '--only', 'speech', '--timeout', '2s'];
    const { code, report } = await spend(machine, words);

    expect(code).toBe(1);
    expect(find(report, 'call.speech')?.status).toBe('timeout');
  });

  test('the calls stop when the user interrupts, and the report says what was charged', async () => {
    const emulator = createEmulator();
    vi.stubGlobal('fetch', emulator.fetch);
    const controller = new AbortController();
    const report = await createReport(targetFor(emulator, controller.signal), {
      spend: {
        ...spendAll,
        wallet: { limit: 1, spent: 0 },
        only: ['video', 'video-content'],
        onTask: () => controller.abort(),
      },
    });

    expect(find(report, 'call.video')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('interrupted'),
      call: { usd: 0.01, source: 'usage-log' },
    });
    expect(find(report, 'call.video-content')?.status).toBe('skip');
    expect(emulator.charges).toHaveLength(1);
  });
});

const secrets = [
  'sk-own-4f1d9a',
  'gw7.corp.internal',
  '10.20.30.40',
  'jane@corp.example',
  'tenant-4711',
  'req_0123456789abcdefghij',
];

test.each(['in responses', 'in errors'])(
  'no row has a key, a host or a prompt %s',
  async (place) => {
    const { emulator, machine } = await start({ apiKey: 'sk-own-4f1d9a' });
    const quote = `${secrets.join(' ')} ${Object.values(prompts).join(' ')}`;
    const error = {
      error: { message: quote, type: 'upstream', code: 'tenant-4711 sk-own-4f1d9a' },
    };
    const headers = {
      server: 'gw7.corp.internal',
      'x-ratelimit-limit-requests': '60 for jane@corp.example at 10.20.30.40',
    };
    const url = await startProxy(
      emulator,
      async (response, { method }) => {
        if (place === 'in errors' && method === 'POST') {
          return Response.json(error, { status: 500, headers });
        }
        const body = response.status === 204 ? null : await response.arrayBuffer();
        const own = Object.fromEntries(response.headers);
        return new Response(body, { status: response.status, headers: { ...own, ...headers } });
      },
      (path) => path.replace('/tenant-4711', ''),
    );
    machine.env['GATEWAY_BASE_URL'] = `${url}/tenant-4711/v1`;
    const markdown = await machine.run(['doctor', '--spend', '20', '--video', '--timeout', '10s']);
    const json = await machine.run(['doctor', '--spend', '20', '--json', '--timeout', '10s']);

    const report = reportSchema.parse(JSON.parse(json.stdout));
    const tested = report.rows.filter(({ id }) => id.startsWith('call.'));
    expect(tested.length).toBeGreaterThan(20);
    const wanted = place === 'in errors' ? 'fail' : 'pass';
    expect(tested.filter(({ status }) => status === wanted).length).toBeGreaterThan(10);
    for (const secret of [...secrets, ...Object.values(prompts), '127.0.0.1']) {
      expect(markdown.stdout).not.toContain(secret);
      expect(json.stdout).not.toContain(secret);
    }
  },
);

describe('on a terminal', () => {
  test('asks first, with the estimate, and charges nothing if the user declines', async () => {
    const { emulator, machine } = await start();
    const terminal = machine.open(['doctor', '--spend', '1', '--only', 'chat', 'image']);
    await terminal.shows(/2 calls cost up to \$0\.00213, of a limit of \$1:/);
    await terminal.shows(/image\s+m-image\s+up to \$0\.002/);
    await terminal.shows(/Continue\? \[y\/N\]/);
    expect(emulator.charges).toEqual([]);
    terminal.type('n\r');

    expect(await terminal.end()).toBe(1);
    expect(emulator.charges).toEqual([]);
  });

  test('charges after the user agrees, and with -y without asking', async () => {
    const { emulator, machine } = await start();
    const words = ['doctor', '--spend', '1', '--only', 'chat'];
    const terminal = machine.open(words);
    await terminal.shows(/Continue\?/);
    terminal.type('y\r');
    expect(await terminal.end()).toBe(0);
    const quiet = machine.open([...words, '-y']);
    expect(await quiet.end()).toBe(0);

    expect(emulator.charges).toHaveLength(2);
    expect(quiet.screen).not.toContain('Continue?');
  });
});

test.each([
  { words: ['--spend', 'much'], problem: /a limit in US dollars from 0 to 1000, not much/ },
  { words: ['--spend', '-1'], problem: /limit|unknown option/ },
  { words: ['-m', 'a', '-m', 'b'], problem: /-m can be repeated only with a limit/ },
  { words: ['--spend'], problem: /--spend requires a model or a limit/ },
  { words: ['--video'], problem: /--video requires a limit/ },
  { words: ['--only', 'chat'], problem: /--only requires a limit/ },
  {
    words: ['--spend', '1', '--only', 'chats'],
    problem: /does not know chats\. Calls: embeddings,/,
  },
])('$words is rejected before anything is sent', async ({ words, problem }) => {
  const { emulator, machine } = await start();
  const { code, stderr } = await machine.run(['doctor', ...words]);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(problem) });
  expect(emulator.requests).toEqual([]);
});
