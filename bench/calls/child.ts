import { answerFromMemory } from '../lib/answers.ts';
import { columnArgument } from '../lib/arguments.ts';
import { printFigures } from '../lib/child.ts';
import { cpuPerRun } from '../lib/cpu.ts';
import { clients } from './clients.ts';

const { answer, connect } = clients[columnArgument()];
answerFromMemory(answer);
const call = await connect();
const milliseconds = await cpuPerRun(
  async () => {
    await call();
  },
  { warmup: 8_000, runs: 12_000 },
);
printFigures({ call: milliseconds * 1000 });
