import { answerFromMemory, openaiEvents } from '../lib/answers.ts';
import { columnArgument } from '../lib/arguments.ts';
import { printFigures } from '../lib/child.ts';
import { openers } from './clients.ts';

const counts = [1_000, 2_000] as const;

const first = new TextEncoder().encode(openaiEvents(1).split('\n\n', 1)[0] + '\n\n');
// Streams that have begun and stay open.
answerFromMemory(() => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(first);
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
});

const connect = openers[columnArgument()];
if (connect === undefined) throw new Error('This client has no stream.');
const open = await connect();

/** Bytes on and off the heap, garbage gone. */
async function usedBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const held: unknown[] = [];
for (let index = 0; index < 100; index++) held.push(await open());

const figures: Record<string, number> = {};
for (const count of counts) {
  const before = await usedBytes();
  const start = held.length;
  while (held.length < start + count) held.push(await open());
  figures[String(count)] = ((await usedBytes()) - before) / count / 1024;
}
printFigures(figures);
// The streams would keep their timers and so this process.
process.exit();
