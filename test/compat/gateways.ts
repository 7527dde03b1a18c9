// Gateways of other projects that npm has, each as a process of its own.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator, type Emulator } from '../../src/testing/index.ts';
import { freePort, ServerProcess } from '../servers/processes.ts';

const packages = join(import.meta.dirname, 'node_modules');

/** A gateway of another project that runs on this machine. */
export interface OtherGateway extends AsyncDisposable {
  /** Name and version. */
  readonly name: string;
  readonly url: string;
  readonly key: string;
  /** Headers that it needs on every request, as in `GATEWAY_HEADERS`. */
  readonly headers: string;
  /** The emulator behind it, if it relays requests. */
  readonly emulator?: Emulator;
}

async function versionOf(name: string): Promise<string> {
  const text = await readFile(join(packages, name, 'package.json'), 'utf8');
  const { version }: { version: string } = JSON.parse(text);
  return version;
}

/** A PNG of one pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const place = { city: 'Paris', country: 'France' };
const call = { name: 'get_weather', arguments: { city: 'Paris' } };
const chat = { endpoint: 'chat' };

/** Answers of aimock. It lists the models that they name. */
const fixtures = [
  { match: { ...chat, hasToolResult: true }, response: { content: 'It is 18 degrees.' } },
  { match: { ...chat, toolName: 'get_weather' }, response: { toolCalls: [call] } },
  { match: { ...chat, responseFormat: 'json_schema' }, response: { content: place } },
  { match: { ...chat, responseFormat: 'json_object' }, response: { content: place } },
  { match: { ...chat, model: 'm-large' }, response: { content: 'OK' } },
  { match: { ...chat, model: 'gemini-flash' }, response: { content: 'OK' } },
  {
    match: { endpoint: 'embedding', model: 'm-embedding' },
    response: { embedding: [0.1, 0.2, 0.3] },
  },
  { match: { endpoint: 'image', model: 'm-image' }, response: { image: { b64Json: pixel } } },
  {
    match: { endpoint: 'speech', model: 'm-tts' },
    response: { audio: Buffer.from('ID3 sound').toString('base64') },
  },
  {
    match: { endpoint: 'transcription', model: 'm-whisper' },
    response: { transcription: { text: 'The quick brown fox.' } },
  },
  {
    match: { endpoint: 'translation', model: 'm-whisper' },
    response: { transcription: { text: 'The quick brown fox.' } },
  },
  {
    match: { endpoint: 'video', model: 'm-video' },
    response: { video: { id: 'video_1', status: 'completed', b64: 'AAAAHGZ0eXBtcDQy' } },
  },
];

/** aimock, which answers by fixtures. */
export async function startAimock(): Promise<OtherGateway> {
  const version = await versionOf('@copilotkit/aimock');
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-aimock-'));
  await writeFile(join(folder, 'fixtures.json'), JSON.stringify({ fixtures }));
  const config = { llm: { fixtures: join(folder, 'fixtures.json') } };
  await writeFile(join(folder, 'aimock.json'), JSON.stringify(config));
  const port = await freePort();
  const key = 'sk-aimock';
  const flags = ['--config', 'aimock.json', '--host', '127.0.0.1', '--port', `${port}`];
  const server = await ServerProcess.start(
    process.execPath,
    [join(packages, '@copilotkit/aimock/dist/aimock-cli.js'), ...flags],
    'listening on',
    { cwd: folder, env: { ...process.env, AIMOCK_API_KEYS: key } },
  );
  return {
    name: `aimock ${version}`,
    url: `http://127.0.0.1:${port}`,
    key,
    headers: '',
    async [Symbol.asyncDispose]() {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Portkey in front of an emulator.
 *
 * It adds headers to responses that it passes on, which newer versions of `@hono/node-server` make
 * immutable; package.json overrides that dependency.
 */
export async function startPortkey(): Promise<OtherGateway> {
  const version = await versionOf('@portkey-ai/gateway');
  const emulator = createEmulator({ gateway: 'openai' });
  const { url: upstream } = await emulator.listen();
  const port = await freePort();
  const server = await ServerProcess.start(
    process.execPath,
    [join(packages, '@portkey-ai/gateway/build/start-server.js'), `--port=${port}`, '--headless'],
    'Ready for connections',
  );
  return {
    name: `Portkey ${version}`,
    url: `http://127.0.0.1:${port}`,
    key: emulator.apiKey,
    headers: `x-portkey-provider: openai\nx-portkey-custom-host: ${upstream}/v1`,
    emulator,
    async [Symbol.asyncDispose]() {
      await server.stop('SIGKILL');
      await emulator[Symbol.asyncDispose]();
    },
  };
}
