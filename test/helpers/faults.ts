import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/** When a step fails: without its effect, or with it. */
type Moment = 'before' | 'after';

/** A step that fails. */
export interface Fault {
  /** From 1. */
  readonly step: number;
  readonly moment: Moment;
  /** `true` if all further steps fail too, without their effects. */
  readonly isLasting: boolean;
}

/** Counts the steps of a store, and lets one of them fail. */
export class Faults {
  readonly #makeError: (name: string) => Error;
  #fault: Fault | undefined;
  #steps = 0;
  /** The number of steps that have failed. */
  failed = 0;

  constructor(makeError: (name: string) => Error) {
    this.#makeError = makeError;
  }

  /** Runs something under a fault. Returns whether the fault was reached. */
  async during(fault: Fault, act: () => Promise<unknown>): Promise<boolean> {
    this.#fault = fault;
    this.#steps = 0;
    try {
      await act();
    } finally {
      this.#fault = undefined;
    }
    return this.#steps >= fault.step;
  }

  #fail(name: string): never {
    this.failed += 1;
    throw this.#makeError(name);
  }

  /** One step. */
  async take<T>(name: string, run: () => Promise<T>): Promise<T> {
    const fault = this.#fault;
    if (fault === undefined) return run();
    this.#steps += 1;
    const step = this.#steps;
    const isHit = step === fault.step;
    if (isHit ? fault.moment === 'before' : fault.isLasting && step > fault.step) this.#fail(name);
    const result = await run();
    if (isHit) this.#fail(name);
    return result;
  }
}

const names = [
  'open',
  'link',
  'rename',
  'rm',
  'mkdir',
  'readdir',
  'readFile',
  'lstat',
  'stat',
] as const;

let broken: Faults | undefined;

/**
 * Puts faults between the source and the disk, until the end of the test.
 *
 * @param hasLinks - `false` for a file system without hard links.
 */
export function breakDisk(hasLinks = true): Faults {
  if (broken !== undefined) return broken;
  const faults = new Faults((name) => {
    // Without free descriptors, an existing file cannot be told from a new one.
    const code = name === 'open' ? 'EMFILE' : 'EIO';
    return Object.assign(new Error(`${code}: broken, ${name}`), { code, syscall: name });
  });
  const originals = { ...fsPromises };
  /** The function of that name with a fault before and after it. */
  const wrap =
    (owner: object, name: string, original: unknown = Reflect.get(owner, name)) =>
    (...parameters: unknown[]): Promise<unknown> =>
      faults.take(name, async (): Promise<unknown> => {
        if (typeof original !== 'function') throw new Error(`Missing ${name}()`);
        if (name === 'link' && !hasLinks) {
          throw Object.assign(new Error('EPERM: no links'), { code: 'EPERM', syscall: name });
        }
        return Reflect.apply(original, owner, parameters);
      });
  for (const name of names) Reflect.set(fsPromises, name, wrap(fsPromises, name));
  const { open } = fsPromises;
  fsPromises.open = async (...parameters) => {
    const file = await open(...parameters);
    for (const name of ['writeFile', 'sync', 'stat']) Reflect.set(file, name, wrap(file, name));
    const close = file.close.bind(file);
    file.close = async () => {
      // A descriptor is free after a failed close, too.
      await close();
      await faults.take('close', async () => undefined);
    };
    return file;
  };
  syncBuiltinESMExports();
  broken = faults;
  onTestFinished(() => {
    broken = undefined;
    Object.assign(fsPromises, originals);
    syncBuiltinESMExports();
  });
  return faults;
}
