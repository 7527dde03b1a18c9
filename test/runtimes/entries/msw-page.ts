import { mswChecks } from '../checks/msw.ts';
import { runChecks } from '../harness/check.ts';
import { readWorld } from '../harness/world.ts';

const world = await (await fetch('/world.json')).text();

await runChecks(mswChecks, readWorld(world), (line) => console.log(line));
