import { checks } from '../checks/index.ts';
import { runChecks } from '../harness/check.ts';
import { readWorld } from '../harness/world.ts';

const world = await (await fetch('/world.json')).text();

await runChecks(checks, readWorld(world), (line) => console.log(line));
