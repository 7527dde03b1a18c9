// Imported before a program: kills its process at a step of its work on the records of jobs, counted from 1.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { KILL_AT, KILL_LOG = '' } = process.env;
let steps = 0;

/** A step before or after an effect that another process could see. */
function step(name: string): void {
  steps += 1;
  fs.appendFileSync(KILL_LOG, `${name}\n`);
  if (steps === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL');
}

/** Adds a step before and after every call of a method that works on records. */
function between(owner: object, name: string, isMeant: (parameters: unknown[]) => boolean): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`Missing ${name}()`);
  Reflect.set(owner, name, (...parameters: unknown[]): unknown => {
    if (!isMeant(parameters)) return Reflect.apply(original, owner, parameters);
    step(`before ${name}`);
    const result: unknown = Reflect.apply(original, owner, parameters);
    if (!(result instanceof Promise)) {
      step(`after ${name}`);
      return result;
    }
    return result.finally(() => step(`after ${name}`));
  });
}

const isRecord = ([path]: unknown[]): boolean => /[/\\]mcp[/\\]jobs/.test(String(path));
for (const name of ['link', 'rename', 'rm', 'readdir', 'readFile']) {
  between(fsPromises, name, isRecord);
}
const { open } = fsPromises;
fsPromises.open = async (...parameters) => {
  const file = await open(...parameters);
  if (!isRecord(parameters)) return file;
  step('after open');
  for (const name of ['writeFile', 'sync']) between(file, name, () => true);
  return file;
};
between(childProcess, 'spawn', () => true);
syncBuiltinESMExports();
