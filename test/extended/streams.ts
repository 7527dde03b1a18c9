/**
 * Starts ten thousand streams on real sockets and ends them in every way: complete, broken, aborted, left,
 * unread. Fails if a listener, a timer or a connection leaks, or if Node logs a warning.
 *
 *   node test/extended/streams.ts [streams, 10000 by default]
 *     [--gateway new-api|openrouter|litellm|openai (the emulator; by default a bare server)]
 */
import { createHook } from 'node:async_hooks';
import { parseArgs } from 'node:util';
import { Gateway } from '../../src/index.ts';
import { startFaultyEmulator } from '../helpers/faulty-emulator.ts';
import { startFaultyServer } from '../helpers/faulty-server.ts';
import { readMode } from '../helpers/modes.ts';
import { endStreams } from '../helpers/stream-ends.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { gateway: { type: 'string' } },
});
const gateway = values.gateway === undefined ? undefined : readMode(values.gateway);
const total = Number(positionals[0] ?? 10_000);
const problems: string[] = [];
process.on('warning', ({ message }) => problems.push(message));

const source = new URL('../../src/', import.meta.url).href;

// Also those timers that let the process end; not those of the runtime, which has some per connection.
const timers = new Set<number>();
let timersSeen = 0;
const hook = createHook({
  init(id, type) {
    if (type === 'Timeout' && new Error('timer').stack?.includes(source) === true) {
      timers.add(id);
      timersSeen += 1;
    }
  },
  destroy: (id) => void timers.delete(id),
}).enable();

const begun = performance.now();
const server =
  gateway === undefined
    ? { ...(await startFaultyServer()), apiKey: 'sk-test', unused: () => [] }
    : await startFaultyEmulator(gateway);
const client = new Gateway({
  baseURL: server.url,
  apiKey: server.apiKey,
  gateway,
  logLevel: 'off',
  maxRetries: 0,
  idleTimeout: 200,
});
const { listeners, forgotten } = await endStreams(client, total, 200);

/** Waits until everything is closed, with a time limit. */
for (let tries = 0; tries < 100 && server.open() + listeners() > 0; tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
hook.disable();

const left = {
  listeners: listeners() + forgotten,
  connections: server.open(),
  timers: timers.size,
};
for (const [what, count] of Object.entries(left)) {
  if (count > 0) problems.push(`${count} ${what} are left`);
}
if (timersSeen < total) problems.push(`only ${timersSeen} timers were seen`);
if (server.requests() !== total) problems.push(`${server.requests()} requests came`);
for (const model of server.unused()) problems.push(`no stream of ${model} failed`);
await server[Symbol.asyncDispose]();

const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
console.log(
  `${gateway ?? 'bare server'}: ${total} streams, left ${JSON.stringify(left)}, ${seconds} s`,
);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
