// `npm run demo` shows the main features step by step, over real HTTP.
//
// It uses the embedded emulator: no key, no network, no cost. `npm run demo -- --real` asks, then uses the gateway
// of GATEWAY_BASE_URL and GATEWAY_API_KEY, which charges for it.
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Gateway } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';
import { chooseGateway } from '../support/target.ts';
import { chooseModels } from './models.ts';
import { writePage } from './page.ts';
import { print } from './print.ts';
import { steps, type DemoContext } from './steps.ts';

const gateway = await chooseGateway(
  'The demo makes every kind of call (chat, streams, embeddings, two images, speech, a translation, a video) to',
);
const emulator =
  gateway === undefined
    ? createEmulator({
        videoDuration: 9_000,
        // Few gateways still serve the engine-style path, so enable it for the demo.
        quirks: { eventDelay: 30, enginePath: 'embeddings' },
      })
    : undefined;
const server = await emulator?.listen();

async function run(): Promise<void> {
  const client = new Gateway(
    server === undefined || emulator === undefined
      ? {}
      : { apiKey: emulator.apiKey, baseURL: server.url, gateway: 'auto' },
  );
  const folder = resolve(process.env['DEMO_OUTPUT'] ?? 'demo-output');
  await mkdir(folder, { recursive: true });

  print.title(
    emulator === undefined
      ? `model-gateway, on ${client.baseURL} (this gateway charges for what follows)`
      : `model-gateway, on the embedded emulator at ${client.baseURL}`,
  );

  const models = await chooseModels(client);
  const context: DemoContext = { client, folder, models, emulator, files: new Map() };
  for (const step of steps) {
    print.step(step.title);
    const missing = step.needs.find((kind) => models[kind] === undefined);
    if (missing !== undefined) {
      print.note(`Skipped: this key can use no model for ${missing}.`);
      continue;
    }
    try {
      await step.run(context);
    } catch (error) {
      process.exitCode = 1;
      print.failure(error);
    }
  }

  const summary =
    emulator === undefined
      ? 'Made by the gateway that GATEWAY_BASE_URL names.'
      : `${emulator.requests.length} requests were sent, ${emulator.charges.length} of them charged, each once.`;
  print.step('Done');
  print.note(summary);
  print.note(
    `See the pictures, the sound and the video: ${await writePage(folder, context.files, summary)}`,
  );
}

try {
  await run();
  print.step('Try next');
  print.note('npx model-gateway playground       See in a browser what a retry costs.');
  print.note(
    'npm run example video-ledger       Submit a video once, whatever happens to the process.',
  );
  print.note('docs/guides/getting-started.md     Call your own gateway.');
} catch (error) {
  process.exitCode = 1;
  print.failure(error);
}
await server?.close();
