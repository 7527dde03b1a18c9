import { answerFromMemory, longAnswer } from '../lib/answers.ts';
import { columnArgument } from '../lib/arguments.ts';
import { printFigures } from '../lib/child.ts';
import { cpuPerRun } from '../lib/cpu.ts';
import { clients, inputs, dimensions } from './clients.ts';

/** What a gateway answers in the format that it is asked for. */
function answerIn(format: 'float' | 'base64'): () => Response {
  const data = inputs.map((_, index) => {
    const vector = Float32Array.from({ length: dimensions }, (_item, position) =>
      Math.sin(index * dimensions + position),
    );
    const embedding =
      format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: 256, total_tokens: 256 };
  return longAnswer({ object: 'list', model: 'embedding-model', data, usage });
}

const answers = { float: answerIn('float'), base64: answerIn('base64') };
answerFromMemory((request) =>
  typeof request?.body === 'string' && request.body.includes('"base64"')
    ? answers.base64()
    : answers.float(),
);

const client = clients[columnArgument()];
if (client === undefined) throw new Error('This client has no embeddings.');

const figures: Record<string, number> = {};
for (const [name, embed] of Object.entries(await client())) {
  figures[name] = await cpuPerRun(
    async () => {
      const length = await embed();
      if (length !== dimensions) throw new Error(`A vector has ${length} numbers.`);
    },
    { warmup: 5, runs: 10 },
  );
}
printFigures(figures);
