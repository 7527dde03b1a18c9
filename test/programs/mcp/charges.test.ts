import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { images } from '../../../bench/duplicates/answers.ts';
import { FaultServer } from '../../../bench/duplicates/fault-server.ts';
import { faults } from '../../../bench/duplicates/faults.ts';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import { image, McpMachine } from './run.ts';

const video = { model: 'm-video', prompt: 'A paper boat', seconds: 4 };

const slow = { type: 'slow', milliseconds: 1_500 } as const;

/** Returns the id of the process that makes the only paid call. */
function findWorker({ machine }: McpMachine): number {
  const folder = join(machine.folder, 'state', 'model-gateway', 'mcp', 'jobs');
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const { owner }: { owner: { pid: number } } = JSON.parse(
    readFileSync(join(folder, name), 'utf8'),
  );
  return owner.pid;
}

describe('an image that takes longer than the time limit', () => {
  test('an image that takes longer than the time limit returns a handle, and the same call or wait_video its result', async () => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation: 'images.generate', fault: slow });
    const session = await machine.connect(['--wait', '500ms']);

    const first = await session.call('create_image', image);
    const repeated = await session.call('create_image', image);
    const { call_id } = first;
    await expect
      .poll(() => session.call('wait_video', { call_id }))
      .toMatchObject({ state: 'done', files: [{ mime_type: 'image/png' }] });

    // The request may have been sent, and may be charged.
    expect(first).toMatchObject({ state: 'running', charged: 'unknown', isError: false });
    expect(repeated).toMatchObject({ state: 'running', reused: true });
    expect(machine.charges).toBe(1);
  });

  test('an image that takes longer than the time limit continues if the agent cancels the call', async () => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation: 'images.generate', fault: slow });
    const session = await machine.connect();
    const controller = new AbortController();

    const cancelled = session.call('create_image', image, { signal: controller.signal });
    await machine.requestArrives();
    controller.abort();
    await expect(cancelled).rejects.toThrow();
    const repeated = await session.call('create_image', image);

    expect(repeated).toMatchObject({ state: 'done' });
    expect(machine.charges).toBe(1);
  });

  test('an image that takes longer than the time limit continues if the client gives up after its time-out', async () => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation: 'images.generate', fault: slow });
    const session = await machine.connect();

    await expect(session.call('create_image', image, { timeout: 600 })).rejects.toThrow(
      'timed out',
    );
    const repeated = await session.call('create_image', image);

    expect(repeated).toMatchObject({ state: 'done' });
    expect(machine.charges).toBe(1);
  });
});

describe('a server that ends during a call', () => {
  test.each([
    { how: 'because standard input closes', signal: undefined },
    { how: 'after SIGTERM', signal: 'SIGTERM' as const },
  ])('$how finishes, saves and records it', async ({ signal }) => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation: 'images.generate', fault: slow });
    const session = await machine.start();

    const making = session.call('create_image', image).catch(() => {});
    await machine.requestArrives();
    const code = await (signal === undefined ? session.end() : session.kill(signal));
    await making;
    const saved = machine.saved;
    const repeated = await (await machine.start()).call('create_image', image);

    expect(code).toBe(0);
    expect(saved).toHaveLength(1);
    expect(repeated).toMatchObject({ state: 'done', reused: true });
    expect(machine.charges).toBe(1);
  });

  test('a server that ends by kill -9 loses neither the call nor its result', async () => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation: 'images.generate', fault: slow });
    const session = await machine.start();

    const making = session.call('create_image', image).catch(() => {});
    await machine.requestArrives();
    await session.kill('SIGKILL');
    await making;
    const repeated = await (await machine.start()).call('create_image', image);

    expect(repeated).toMatchObject({ state: 'done', reused: true });
    expect(machine.saved).toHaveLength(1);
    expect(machine.charges).toBe(1);
  });
});

describe('a call whose own process is killed', () => {
  test('a call whose own process is killed may have been charged, and is not sent again', async () => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation: 'images.generate', fault: slow });
    const session = await machine.start();

    const making = session.call('create_image', image);
    await machine.requestArrives();
    process.kill(findWorker(machine), 'SIGKILL');
    const lost = await making;
    const repeated = await session.call('create_image', image);
    const check = await session.call('check_charge', { call_id: repeated.call_id });
    const anew = await session.call('create_image', { ...image, again: 'lost' });

    expect(lost).toMatchObject({ isError: true });
    expect(repeated).toMatchObject({ state: 'unknown', charged: 'unknown', isError: true });
    expect(repeated.text).toMatch(/may have been charged.*check_charge.*again/);
    expect(check).toMatchObject({ verdict: 'unknowable' });
    expect(anew).toMatchObject({ state: 'done' });
    const posts = machine.emulator.requests.filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(2);
  });

  test('a call whose own process is killed continues if the gateway has named its task', async () => {
    const machine = await McpMachine.open({ quirks: { imageTasks: 'list', imageTaskTime: 3_000 } });
    const session = await machine.start();

    const making = session.call('create_image', image);
    await machine.requestArrives();
    const id = await expect
      .poll(() => session.call('list_jobs', { state: 'submitted' }))
      .toMatchObject({ jobs: [{}] })
      .then(() => findWorker(machine));
    process.kill(id, 'SIGKILL');
    const made = await making;

    expect(made).toMatchObject({
      state: 'done',
      charged: 'yes',
      files: [{ mime_type: 'image/png' }],
    });
    const posts = machine.emulator.requests.filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(1);
    expect(machine.charges).toBe(1);
  });
});

describe('a call that fails', () => {
  test('a call that fails before any work is charged nothing, and can be repeated', async () => {
    const machine = await McpMachine.open();
    const refusal = { type: 'error', status: 403, code: 'insufficient_user_quota' } as const;
    machine.emulator.fail({ operation: 'images.generate', fault: refusal });
    const session = await machine.connect();

    const refused = await session.call('create_image', image);
    const repeated = await session.call('create_image', image);

    expect(refused).toMatchObject({ state: 'failed', charged: 'no', isError: true });
    expect(refused.text).toContain('Nothing was charged.');
    expect(repeated).toMatchObject({ state: 'done', reused: false });
    expect(machine.charges).toBe(1);
  });

  test.each([
    { tool: 'create_image', operation: 'images.generate', args: image },
    { tool: 'create_video', operation: 'videos.create', args: video },
    {
      tool: 'create_speech',
      operation: 'audio.speech.create',
      args: { model: 'm-speech', text: 'Hello' },
    },
  ] as const)(
    'a call of $tool that fails after the charge is not sent again',
    async ({ tool, operation, args }) => {
      const machine = await McpMachine.open();
      machine.emulator.fail({
        operation,
        fault: { type: 'reset', when: 'after-charge' },
        times: 9,
      });
      const session = await machine.connect();

      const lost = await session.call(tool, args);
      const repeated = await session.call(tool, args);

      for (const result of [lost, repeated]) {
        expect(result).toMatchObject({ state: 'unknown', charged: 'unknown', isError: true });
      }
      const posts = machine.emulator.requests.filter(({ method }) => method === 'POST');
      expect(posts).toHaveLength(1);
      expect(machine.charges).toBe(1);
    },
  );

  test('a call that fails is sent again if the usage log proves that it was free', async () => {
    const machine = await McpMachine.open();
    // An error of the gateway after the request was relayed: its outcome is unknown to the client.
    const fault = { type: 'error', status: 500, errorType: 'upstream_error' } as const;
    machine.emulator.fail({ operation: 'images.generate', fault });
    const session = await machine.connect();

    const first = await session.call('create_image', image);
    const second = await session.call('create_image', image);

    expect(first).toMatchObject({ isError: true });
    expect(second.state === 'done' ? machine.charges : 1).toBe(1);
    expect(machine.charges).toBeLessThanOrEqual(1);
  });
});

// A service that never answers is the test of the time limit above.
const tried = faults.filter(
  ({ on, id }) => on === 'whole' && id !== 'timeout' && id !== 'own-fetch',
);

describe('two calls', () => {
  passTimeFaster();

  test.each(tried)('create_image twice, with $label: at most one charge', async (fault) => {
    const server = await FaultServer.open(fault, images);
    onTestFinished(() => server.close().catch(() => {}));
    if (fault.at === 'port') await server.close();
    const machine = await McpMachine.open();
    machine.machine.env['GATEWAY_BASE_URL'] = server.origin;
    const session = await machine.connect(['--wait', '1m']);

    const results = [
      await session.call('create_image', image),
      await session.call('create_image', image),
    ];

    expect(server.charges).toBeLessThanOrEqual(1);
    const expected = { answered: 'yes', unknown: 'unknown', rejected: 'no', not_sent: 'no' };
    // A connection that is reset when it opens may have sent the request.
    const charged = fault.id === 'reset-on-accept' ? expect.any(String) : expected[fault.verdict];
    for (const result of results) expect(result).toMatchObject({ charged });
    if (fault.verdict === 'answered')
      expect(results[1]).toMatchObject({ reused: true, state: 'done' });
  });
});
