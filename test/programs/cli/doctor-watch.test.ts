import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Difference } from '../../../src/programs/cli/doctor/compare.ts';
import { createReport } from '../../../src/programs/cli/doctor/report.ts';
import { watchGateway } from '../../../src/programs/cli/doctor/watch.ts';
import { readGateway } from '../../../src/gateways/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { settle } from '../../helpers/fake-time.ts';
import { begin } from './run.ts';

test('prints a line for each change, and Ctrl-C ends it with 1 because something got worse', async () => {
  const { machine, emulator } = await begin();
  const child = machine.start(['doctor', '--watch', '1s']);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => resolve(code));
  });
  await expect.poll(() => stderr).toContain('First report');
  expect(stdout).toBe('');
  emulator.quirks.requestIdHeader = false;
  await expect.poll(() => stdout).toContain('\n');
  emulator.quirks.requestIdHeader = true;
  await expect.poll(() => stdout.split('\n').length).toBeGreaterThan(2);
  child.kill('SIGINT');

  expect(await ended).toBe(1);
  expect(stderr).toMatch(/^First report: \d+ rows, no problems\. Ctrl-C ends the watch\.\n$/);
  const time = String.raw`20\d\d-\d\d-\d\dT[\d:.]+Z`;
  expect(stdout).toMatch(
    new RegExp(
      `^${time}  worse    request-id: yes x-oneapi-request-id → no responses have no request id\n` +
        `${time}  better   request-id: no responses have no request id → yes x-oneapi-request-id\n$`,
    ),
  );
  expect(emulator.charges).toEqual([]);
});

test('ends after --runs with 0 if nothing changed, and with 1 if the first report has a problem', async () => {
  const { machine, emulator } = await begin();
  const good = await machine.run(['doctor', '--watch', '1s', '--runs', '2']);
  emulator.quirks.modelList = 'failure';
  const bad = await machine.run(['doctor', '--watch', '1s', '--runs', '1']);

  expect(good).toMatchObject({ code: 0, stdout: '' });
  expect(bad).toMatchObject({ code: 1, stdout: '' });
  expect(bad.stderr).toMatch(
    /problems: 1\.[\s\S]*models: fail the response does not contain a list/,
  );
});

test('writes changes as lines of JSON', async () => {
  const { machine, emulator } = await begin();
  const child = machine.start(['doctor', '--watch', '1s', '--runs', '2', '--json']);
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
  });
  child.stderr.once('data', () => (emulator.quirks.modelList = 'gemini'));
  await ended;

  const changes = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(changes).toContainEqual({
    at: expect.any(String),
    id: 'model-kinds',
    change: 'changed',
    before: expect.stringContaining('"data"'),
    after: expect.stringContaining('"models"'),
  });
});

test('ends before the limit of --spend is passed', async () => {
  const { machine, emulator } = await begin();
  const words = ['--watch', '1s', '--spend', '0.0003', '--only', 'chat'];
  const { code, stderr } = await machine.run(['doctor', ...words]);

  expect(code).toBe(0);
  expect(stderr).toContain('The watch ends after 2 reports: the rest of the limit is too small');
  expect(emulator.charges).toHaveLength(2);
});

describe('an outage', () => {
  test('an outage is one line, and the rows that could not be read keep their results', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const emulator = createEmulator();
    let isDown = false;
    vi.stubGlobal('fetch', (...request: Parameters<typeof emulator.fetch>) => {
      const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      if (isDown) throw new TypeError('fetch failed', { cause });
      return emulator.fetch(...request);
    });
    const { signal } = new AbortController();
    const target = {
      baseURL: emulator.baseURL,
      findGateway: readGateway('new-api'),
      isAuto: false,
      key: emulator.apiKey,
      headers: {},
      signal,
      timeout: 10_000,
      spend: false,
    };
    const changes: Difference[] = [];
    let runs = 0;
    const watching = watchGateway({
      interval: 900_000,
      runs: 3,
      signal,
      wallet: undefined,
      createReport() {
        runs += 1;
        isDown = runs === 2;
        return createReport(target);
      },
      onStart: () => {},
      onChange: (change) => changes.push(change),
      onSpent: () => {},
    });

    expect(await settle(watching)).toEqual({ value: false });
    expect(runs).toBe(3);
    expect(changes.map(({ id, change }) => `${id} ${change}`)).toEqual([
      'connection worse',
      'connection better',
    ]);
  });
});

test.each([
  { words: ['--watch', '10ms'], problem: 'an interval from 1s to 24h, not 10ms' },
  { words: ['--watch', '25h'], problem: 'an interval from 1s to 24h, not 25h' },
  { words: ['--watch', 'often'], problem: "argument 'often' is invalid. Use a number with ms" },
  { words: ['--watch', '1h', '--report'], problem: '--watch cannot be combined with --report' },
  { words: ['--runs', '2'], problem: '--runs requires --watch' },
])('$words is rejected before anything is sent', async ({ words, problem }) => {
  const { machine, emulator } = await begin();
  const { code, stderr } = await machine.run(['doctor', ...words]);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) });
  expect(emulator.requests).toEqual([]);
});
