import { fileChecks } from '../checks/files.ts';
import { runChecks } from '../harness/check.ts';
import { readWorld } from '../harness/world.ts';

// Apart from the other checks, which need neither a disk nor leave to use one.
const { argv } = globalThis.process;

await runChecks(fileChecks, readWorld(argv[2] ?? ''), (line) => console.log(line));
