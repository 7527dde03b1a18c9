// `npm run example chat-stream` runs examples/chat-stream.ts on the emulator. With `-- --real` it asks, then uses the
// gateway of GATEWAY_BASE_URL.
import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmulator } from 'model-gateway/testing';
import { chooseGateway } from './target.ts';

const folder = join(import.meta.dirname, '..');
const names = (await readdir(folder))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length));
const name = process.argv
  .slice(2)
  .find((word) => !word.startsWith('-'))
  ?.replace(/\.ts$/, '');
if (name === undefined || !names.includes(name)) {
  console.error(`Usage: npm run example <name> [-- --real]\n\nExamples: ${names.join(', ')}`);
  process.exit(1);
}

const gateway = await chooseGateway(`${name} calls`);
const emulator = createEmulator({
  gateway: name === 'openrouter' ? name : 'new-api',
  quirks: { imageTasks: name === 'image-task' ? 'list' : 'none' },
});
const server = gateway === undefined ? await emulator.listen() : undefined;
const environment =
  server === undefined
    ? process.env
    : {
        ...process.env,
        GATEWAY_BASE_URL: server.url,
        GATEWAY_API_KEY: emulator.apiKey,
        GATEWAY_PROFILE: 'auto',
      };
if (server !== undefined) console.log(`(on the emulator, ${server.url})\n`);
const child = spawn(process.execPath, [join(folder, `${name}.ts`)], {
  env: environment,
  stdio: 'inherit',
});
const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
await server?.close();
process.exitCode = code ?? 1;
