import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Gateway, memoryLedger } from '../../lib/model-gateway.ts';
import { images, video } from '../answers.ts';
import { describeEnd, type Counts, type Scenario } from './scenario.ts';
import { Service } from './service.ts';

const apiKey = 'benchmark';
const logLevel = 'off';

const hanging = () => new Promise<never>(() => {});

/** A ledger hangs in one of its methods, and only `totalTimeout` ends it. */
async function hangingLedger(method: 'claim' | 'accept'): Promise<Counts> {
  await using service = await Service.open({ reply: () => ({ answer: video, cost: 0.1 }) });
  const client = new Gateway({ apiKey, baseURL: service.origin, logLevel });
  const ledger = { ...memoryLedger(), [method]: hanging };
  const start = performance.now();
  const ended = await describeEnd(
    client.videos.create(
      { model: 'video-model', prompt: 'A lighthouse' },
      { ledger, callId: 'job', totalTimeout: 500 },
    ),
  );
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  return service.counts({ seconds, ended });
}

const dist = path.join(import.meta.dirname, '../../../dist');

/** A job that requests an image with a ledger in its folder, and writes how it ended. */
const job = `
import { Gateway } from ${JSON.stringify(path.join(dist, 'index.js'))};
import { fileLedger } from ${JSON.stringify(path.join(dist, 'node/index.js'))};
const client = new Gateway({ apiKey: 'benchmark', logLevel: 'off', maxRetries: 0 });
try {
  const options = { ledger: fileLedger('ledger'), callId: 'job' };
  await client.images.generate({ model: 'image-model', prompt: 'A lighthouse' }, options);
  console.log('returned');
} catch (error) {
  console.log(error.constructor.name + ', ' + error.outcome);
}
`;

/** A job behind a proxy with expired credentials runs again when they are renewed. */
async function expiredProxy(): Promise<Counts> {
  await using service = await Service.open({ reply: () => ({ answer: images, cost: 0.1 }) });
  const proxy = createServer();
  proxy.on('connect', (_, socket) => {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const address = proxy.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const cwd = await mkdtemp(path.join(tmpdir(), 'model-gateway-bench-'));
  const run = (env: Readonly<Record<string, string>>): Promise<string> =>
    new Promise((resolve) => {
      const args = ['--input-type=module', '--eval', job];
      execFile(process.execPath, args, { cwd, env, timeout: 15_000 }, (_error, stdout) => {
        resolve(stdout.trim());
      });
    });
  try {
    const first = await run({
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: `http://user:expired@127.0.0.1:${port}`,
      GATEWAY_BASE_URL: 'https://gateway.invalid',
    });
    const second = await run({ GATEWAY_BASE_URL: service.origin });
    return service.counts({ first, second });
  } finally {
    proxy.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

export const ledgerScenarios: readonly Scenario[] = [
  {
    id: 'ledger-claim-hangs',
    label: 'The `claim()` of a ledger hangs; a `totalTimeout` of 0.5 s',
    ours: () => hangingLedger('claim'),
    promise: 'ends in time, nothing sent',
    isKept: ({ requests, notes }) =>
      requests === 0 && Number(notes['seconds']) < 2 && notes['ended'] === 'LedgerError, not_sent',
  },
  {
    id: 'ledger-accept-hangs',
    label: 'The `accept()` of a ledger hangs after a submission; a `totalTimeout` of 0.5 s',
    ours: () => hangingLedger('accept'),
    promise: 'returns the paid task within 5 more seconds',
    isKept: ({ requests, notes }) =>
      requests === 1 && Number(notes['seconds']) < 7 && notes['ended'] === 'returned',
  },
  {
    id: 'ledger-proxy',
    label: 'A proxy answers 407; the job runs again with its ledger when the proxy is gone',
    ours: expiredProxy,
    promise: 'not sent, then returns, sent once',
    isKept: ({ requests, charges, notes }) =>
      requests === 1 &&
      charges === 1 &&
      String(notes['first']).endsWith(', not_sent') &&
      notes['second'] === 'returned',
  },
];
