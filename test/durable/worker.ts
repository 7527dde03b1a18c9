// A worker of one engine: `worker.ts <engine> <place> <model>`. Starts videos, and reports their results.
import { registerHooks } from 'node:module';
import type { Engine, Message } from './workers.ts';

// The recipes are outside of this folder, and use its packages.
registerHooks({
  resolve(specifier, context, next) {
    const isOutside = context.parentURL?.includes('/examples/durable/') === true;
    const isPackage = /^[@a-z]/.test(specifier) && !/^(node:|model-gateway)/.test(specifier);
    return next(
      specifier,
      isOutside && isPackage ? { ...context, parentURL: import.meta.url } : context,
    );
  },
});

await import('./kill-points.ts');
const engine: Engine = await import(`./engines/${process.argv[2]}.ts`);

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
