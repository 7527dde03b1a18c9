import { answerFromMemory, streamAnswer } from '../lib/answers.ts';
import { columnArgument } from '../lib/arguments.ts';
import { printFigures } from '../lib/child.ts';
import { cpuPerRun } from '../lib/cpu.ts';
import { clients } from './clients.ts';
import { sizes } from './sizes.ts';

const client = clients[columnArgument()];
if (client === undefined) throw new Error('This client has no stream.');

/** Enough that the call around the stream weighs little. */
const count = 4_000;

const text = client.events(count);
let answer = streamAnswer(text, sizes[0]);
answerFromMemory(() => answer());
const read = await client.connect();
let length: number | undefined;

const figures: Record<string, number> = {};
for (const size of sizes) {
  answer = streamAnswer(text, size);
  // Warmed up as a server is: what is compiled along the way would weigh more than the difference.
  const milliseconds = await cpuPerRun(
    async () => {
      const own = await read();
      length ??= own;
      if (own !== length || own < count) throw new Error('Not the whole stream was read.');
    },
    { warmup: 12, runs: 10 },
  );
  figures[String(size)] = (milliseconds / count) * 1000;
}
printFigures(figures);
