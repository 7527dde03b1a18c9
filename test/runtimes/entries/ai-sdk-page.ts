import { aiSDKChecks } from '../checks/ai-sdk.ts';
import { runChecks } from '../harness/check.ts';
import { readWorld } from '../harness/world.ts';

const world = await (await fetch('/world.json')).text();

await runChecks(aiSDKChecks, readWorld(world), (line) => console.log(line));
