import { checks } from '../checks/index.ts';
import { runChecks } from '../harness/check.ts';
import { readWorld } from '../harness/world.ts';

// Node, Bun and Deno all have `process`, but Deno only as a module of Node's.
const { argv } = globalThis.process;

await runChecks(checks, readWorld(argv[2] ?? ''), (line) => console.log(line));
