// A worker of one engine: `worker.ts <engine> <place> <model>`. Starts videos, and reports their results.
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Engine, Message } from './workers.ts';

const path = `./engines/${process.argv[2]}/engine.ts`;
const packages = import.meta.resolve(path);
const root = import.meta.resolve('../../package.json');
const requireFromRoot = createRequire(root);

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '', conditions } = context;
    const isOurs = specifier.startsWith('model-gateway');
    // A copied recipe finds the packages of its engine, and not this one.
    if (isOurs && parentURL.includes('/.recipe/')) {
      if (!conditions.includes('require')) return next(specifier, { ...context, parentURL: root });
      return { url: pathToFileURL(requireFromRoot.resolve(specifier)).href, shortCircuit: true };
    }
    // The recipe itself finds this one, and not those of its engine.
    const isPackage = /^[@a-z]/.test(specifier) && !specifier.startsWith('node:') && !isOurs;
    if (isPackage && parentURL.includes('/examples/durable/')) {
      return next(specifier, { ...context, parentURL: packages });
    }
    return next(specifier, context);
  },
});

await import('./kill-points.ts');
const engine: Engine = await import(path);

async function handle({ start, result }: Message): Promise<void> {
  if (start !== undefined) await engine.start(start);
  if (result !== undefined) process.send?.({ result, value: await engine.result(result) });
}

process.on('message', (message: Message) => {
  handle(message).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.send?.('ready');
