import { answerFromMemory, openaiEvents } from '../lib/answers.ts';
import { columnArgument } from '../lib/arguments.ts';
import { printFigures } from '../lib/child.ts';
import { memoryInUse } from '../memory/probe.ts';
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

const held: unknown[] = [];
for (let index = 0; index < 100; index++) held.push(await open());

const figures: Record<string, number> = {};
for (const count of counts) {
  const before = await memoryInUse();
  const start = held.length;
  while (held.length < start + count) held.push(await open());
  figures[String(count)] = ((await memoryInUse()) - before) / count / 1024;
}
printFigures(figures);
// The streams would keep their timers and so this process.
process.exit();
