// Kills this process at one of the places, when the video of one model gets there. Imported before the recipes.
import { AsyncLocalStorage } from 'node:async_hooks';
import fsPromises from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import type { Place } from './places.ts';

const [, , , place, wanted] = process.argv;
/** The model whose submission is running. */
const submitting = new AsyncLocalStorage<string>();

function reach(here: Place, model: string | undefined): void {
  if (here === place && model === wanted) process.kill(process.pid, 'SIGKILL');
}

type Method = (...parameters: unknown[]) => Promise<unknown>;

/** Wraps a method of an object. */
function around(
  owner: object,
  name: string,
  wrap: (call: () => Promise<unknown>, parameters: readonly unknown[]) => Promise<unknown>,
): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`Missing ${name}()`);
  Reflect.set(owner, name, function (this: unknown, ...parameters: Parameters<Method>) {
    return wrap(() => Reflect.apply(original, this, parameters), parameters);
  });
}

const modelOf = (value: unknown): string => String(Reflect.get(Object(value), 'model'));

around(globalThis, 'fetch', async (call) => {
  const model = submitting.getStore();
  reach('claimed, and nothing sent', model);
  const response = await call();
  reach('response received, and not in the ledger', model);
  return response;
});
around(fsPromises, 'rename', async (call, [, to]) => {
  await call();
  reach('saved, and the step is not recorded', basename(String(to), '.mp4'));
});
syncBuiltinESMExports();

const require = createRequire(import.meta.url);
/** What the recipes import. Bundles of the Workflow SDK are CommonJS. */
const copies = [
  [await import('../../dist/index.js'), await import('../../dist/postgres.js')],
  [require('../../dist/index.cjs'), require('../../dist/postgres.cjs')],
] as const;

for (const [{ Gateway }, { postgresLedger }] of copies) {
  const { videos } = new Gateway({ apiKey: 'none', baseURL: 'http://127.0.0.1' });
  const ledger = postgresLedger({ query: async () => ({ rows: [] }) });

  around(Object.getPrototypeOf(videos), 'create', (call, [params]) =>
    submitting.run(modelOf(params), async () => {
      reach('before the submission', submitting.getStore());
      const task = await call();
      reach('submitted, and the step is not recorded', submitting.getStore());
      return task;
    }),
  );
  around(Object.getPrototypeOf(videos), 'step', async (call, [ref]) => {
    const step = await call();
    reach('polled, and the step is not recorded', modelOf(ref));
    // By then the step is recorded, and the timer of the engine runs. Both are right if not.
    setTimeout(() => reach('between polls', modelOf(ref)), 100);
    return step;
  });
  around(Object.getPrototypeOf(Object.getPrototypeOf(ledger)), 'accept', async (call) => {
    await call();
    reach('in the ledger, and the call has not returned', submitting.getStore());
  });
}
