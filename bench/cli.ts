import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from './lib/child.ts';
import type { Part, PartResult, Values } from './lib/metric.ts';
import { varying } from './lib/rounds.ts';

const program = path.join(import.meta.dirname, '..', 'dist', 'cli', 'main.js');
const execute = promisify(execFile);
const rounds = 15;

/** Measures a whole process, in milliseconds. */
async function measureTime(words: readonly string[]): Promise<number> {
  const start = performance.now();
  await execute(process.execPath, [...words], { env: childEnvironment() });
  return performance.now() - start;
}

/** Measures the time from the start of `chat` to the arrival of its request, in milliseconds. */
async function timeToRequest(): Promise<number> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/event-stream').end('data: [DONE]\n\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const arrived = new Promise<number>((resolve) => {
    server.once('request', () => resolve(performance.now()));
  });
  const start = performance.now();
  const child = spawn(process.execPath, [program, 'chat', '-m', 'm', 'Hello'], {
    env: {
      ...childEnvironment(),
      GATEWAY_API_KEY: 'key',
      GATEWAY_BASE_URL: `http://127.0.0.1:${address.port}`,
      XDG_STATE_HOME: tmpdir(),
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const taken = (await arrived) - start;
  await ended;
  server.closeAllConnections();
  server.close();
  return taken;
}

const handshake = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('');

/** Runs a program until its output contains a text, closes its input, and returns its CPU time in milliseconds. */
async function measureCPU(words: readonly string[], input = '', until?: string): Promise<number> {
  const script = `TIMEFORMAT='%U %S'; time "$@"`;
  const timed = spawn('bash', ['-c', script, 'bash', process.execPath, ...words], {
    env: {
      ...childEnvironment(),
      GATEWAY_API_KEY: 'key',
      GATEWAY_BASE_URL: 'http://127.0.0.1:9',
      XDG_STATE_HOME: tmpdir(),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let times = '';
  timed.stderr.on('data', (chunk: Buffer) => (times += chunk.toString()));
  timed.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (until !== undefined && output.includes(until)) timed.stdin.end();
  });
  timed.stdin.write(input);
  if (until === undefined) timed.stdin.end();
  await new Promise((resolve) => timed.once('close', resolve));
  return readTimes(times);
}

/** Returns the sum of the last two numbers, which are seconds, in milliseconds. */
function readTimes(output: string): number {
  const numbers = output.trim().split(/\s+/).slice(-2).map(Number);
  return numbers.reduce((sum, seconds) => sum + seconds * 1_000, 0);
}

async function measure(): Promise<PartResult> {
  const version: Values[] = [];
  const chat: Values[] = [];
  const mcp: Values[] = [];
  for (let round = 0; round < rounds; round++) {
    const floor = await measureTime(['-e', '0']);
    version.push({ 'model-gateway': await measureTime([program, '--version']), floor });
    chat.push({ 'model-gateway': (await timeToRequest()) - floor });
    mcp.push({
      'model-gateway': await measureCPU([program, 'mcp'], handshake, '"id":2'),
      floor: await measureCPU(['-e', '0']),
    });
  }
  return {
    metrics: [
      varying(
        { id: 'cli.version', label: 'Command line: --version (floor: node -e 0)', unit: 'ms' },
        version,
      ),
      varying(
        {
          id: 'cli.chat',
          label: '– chat, from its start to its request, over bare Node',
          unit: 'ms',
        },
        chat,
      ),
      varying(
        {
          id: 'cli.mcp',
          label: '– mcp, from its start to the list of tools, CPU (floor: node -e 0)',
          unit: 'ms',
        },
        mcp,
      ),
    ],
  };
}

export const cliPart: Part = { name: 'cli', measure };
