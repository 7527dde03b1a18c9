/**
 * Writes the guide "Compatibility" and its evidence from reports of `doctor` on the gateways that run here: the emulator in each
 * of its modes, the gateways that `npm run test:compat` has installed, and the LiteLLM proxy if
 * `npm run test:litellm` has. If one is not installed, its last report is used again.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DoctorReport } from '../src/programs/cli/doctor/report-schema.ts';
import { createEmulator, type Emulator } from '../src/testing/index.ts';
import { type OtherGateway, startAimock, startPortkey } from '../test/compat/gateways.ts';
import { runDoctor } from '../test/compat/run-doctor.ts';
import { modes } from '../test/helpers/modes.ts';
import { masterKey, startProxy } from '../test/litellm/proxy.ts';

const root = path.join(import.meta.dirname, '..');
const guidePath = path.join(root, 'docs', 'guides', 'compatibility.md');
const evidencePath = path.join(root, 'docs', 'compatibility-evidence.md');
const kept = path.join(root, 'docs', 'compatibility-reports.json');

/** A report as the page shows it. */
export interface Column {
  readonly name: string;
  /** The date of the report, as `2026-01-31`. */
  readonly date: string;
  /** The version of model-gateway. */
  readonly client: string;
  readonly rows: readonly Pick<DoctorReport['rows'][number], 'id' | 'status' | 'detail'>[];
  /** The options that the report names, without the name of the gateway. */
  readonly options: readonly string[];
  readonly gateway: string;
}

const toColumn = (name: string, { createdAt, client, rows, settings }: DoctorReport): Column => ({
  name,
  date: createdAt.slice(0, 10),
  client,
  rows: rows.filter(isShown).map(({ id, status, detail }) => ({ id, status, detail })),
  options: settings?.reasons ?? [],
  gateway: settings?.gateway ?? '',
});

const isShown = ({ id }: { readonly id: string }): boolean =>
  id.startsWith('call.') || checks.some(([shown]) => shown === id);

/** Completes each video after its first poll, so that reports always show both states. */
function completeVideos(emulator: Emulator): Disposable {
  emulator.clock.hold();
  const timer = setInterval(() => {
    const { videos, requests } = emulator;
    const polls = requests.filter(({ operation }) => operation === 'videos.retrieve');
    const isPolled = videos.list.some(({ id }) => polls.some(({ path: url }) => url.includes(id)));
    if (isPolled) emulator.clock.advance(60_000);
  }, 50);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const modeNames = {
  'new-api': 'new-api 2025',
  openrouter: 'OpenRouter',
  litellm: 'LiteLLM',
  openai: 'OpenAI',
};

/** Reports on the emulator, in each of its modes and editions. */
export async function examineEmulator(): Promise<Column[]> {
  const newest = { name: 'new-api 2026', gateway: 'new-api', edition: '2026' } as const;
  const setups = modes.map((gateway) => ({
    name: modeNames[gateway],
    gateway,
    edition: undefined,
  }));
  return Promise.all(
    [newest, ...setups].map(async ({ name, gateway, edition }) => {
      await using emulator = createEmulator({ gateway, edition });
      using _ = completeVideos(emulator);
      const { url } = await emulator.listen();
      const base = gateway === 'openrouter' ? `${url}/api/v1` : url;
      return toColumn(
        `${name}, emulated`,
        await runDoctor({ url: base, key: emulator.apiKey, profile: gateway }),
      );
    }),
  );
}

/** Returns the folder of the programs of LiteLLM, and its version. */
async function findLiteLLM(): Promise<
  { readonly bin: string; readonly version: string } | undefined
> {
  const requirements = await readFile(
    path.join(root, 'test', 'litellm', 'requirements.txt'),
    'utf8',
  );
  const version = /==(\S+)/.exec(requirements)?.[1] ?? '';
  const bin = path.join(root, 'node_modules', '.cache', `litellm-${version}`, 'bin');
  return existsSync(path.join(bin, 'litellm')) ? { bin, version } : undefined;
}

const mode = (kind: string) => ({ info: { mode: kind } });
const perToken = { input_cost_per_token: 2e-6, output_cost_per_token: 2e-6 };

/** Reports on the LiteLLM proxy without a database, whose models are those of the emulator. */
async function examineLiteLLM(bin: string, version: string): Promise<Column> {
  await using proxy = await startProxy(bin, {
    models: {
      'm-large': { model: 'm-large', params: perToken },
      'm-reasoning': { model: 'm-reasoning', params: perToken },
      'm-embedding': { model: 'm-embedding', params: perToken, ...mode('embedding') },
      'm-image': {
        model: 'm-image',
        params: { output_cost_per_image: 0.002 },
        ...mode('image_generation'),
      },
      'm-speech': { model: 'm-speech', params: perToken, ...mode('audio_speech') },
      'm-transcription': {
        model: 'm-translation',
        params: { input_cost_per_second: 0.0001 },
        ...mode('audio_transcription'),
      },
      'm-video': {
        model: 'm-video',
        params: { output_cost_per_second: 0.002 },
        ...mode('video_generation'),
      },
    },
  });
  using _ = completeVideos(proxy.emulator);
  const report = await runDoctor({ url: proxy.url, key: masterKey, profile: 'litellm' });
  return toColumn(`LiteLLM ${version}`, report);
}

/** Reports on a gateway of another project, which has OpenAI's routes. */
async function examineOther(start: () => Promise<OtherGateway>): Promise<Column> {
  await using other = await start();
  const { name, url, key, headers, emulator } = other;
  using _ = emulator && completeVideos(emulator);
  return toColumn(name, await runDoctor({ url, key, headers, profile: 'openai' }));
}

const isInstalled = (name: string): boolean =>
  existsSync(path.join(root, 'test', 'compat', 'node_modules', name));

/** Gateways of other projects, and how to report on them; `undefined` if they are not installed. */
const others: readonly (readonly [
  name: string,
  report: () => Promise<(() => Promise<Column>) | undefined>,
])[] = [
  [
    'LiteLLM',
    async () => {
      const found = await findLiteLLM();
      return found && (() => examineLiteLLM(found.bin, found.version));
    },
  ],
  [
    'Portkey',
    async () => (isInstalled('@portkey-ai/gateway') ? () => examineOther(startPortkey) : undefined),
  ],
  [
    'aimock',
    async () => (isInstalled('@copilotkit/aimock') ? () => examineOther(startAimock) : undefined),
  ],
];

/** Returns the columns of other gateways: new reports of those that are installed, and the last ones. */
async function columnsOfOthers(): Promise<Column[]> {
  const last = await readKept();
  const columns: Column[] = [];
  for (const [name, find] of others) {
    const report = await find();
    const column = report ? await report() : last.find((each) => each.name.startsWith(name));
    if (column === undefined) throw new Error(`${name} is not installed, and has no last report.`);
    columns.push(column);
  }
  await writeFile(kept, `${JSON.stringify(columns, undefined, 2)}\n`);
  return columns;
}

/** Returns the last reports on gateways of other projects. */
export async function readKept(): Promise<Column[]> {
  const columns: Column[] = JSON.parse(await readFile(kept, 'utf8'));
  return columns;
}

const callNames: Readonly<Record<string, string>> = {
  embeddings: 'Embeddings',
  'embeddings-base64': 'Embeddings as base64',
  'embeddings-tokens': 'Embeddings of token ids',
  'embeddings-engine': 'Embeddings by the engine path',
  'embeddings-engine-base64': 'Embeddings by the engine path as base64',
  chat: 'Chat',
  'chat-stream': 'Chat, streamed',
  'chat-stream-end': 'Finish reason at the end of a stream',
  tools: 'Tools over two turns',
  'json-schema': '`json_schema`',
  'json-object': '`json_object`',
  reasoning: 'Reasoning',
  'cache-control': '`cache_control`',
  vision: 'Vision',
  'invalid-request': 'A chat without messages is rejected',
  responses: 'Responses API',
  'responses-stream': 'Responses API, streamed',
  gemini: 'Gemini’s format',
  'gemini-stream': 'Gemini’s format, streamed',
  speech: 'Speech',
  transcription: 'Transcription',
  'transcription-stream': 'Transcription, streamed',
  translation: 'Translation',
  image: 'Image',
  'image-task': 'Image as a task',
  'image-stream': 'Image, streamed',
  'image-edit-form': 'Image edit as a form',
  'image-edit-json': 'Image edit as JSON',
  video: 'Video',
  'video-content': 'Download of a video',
  'video-vendor': 'Record of a video on a vendor’s route',
};

/** Checks in the second table, which shows their result or their detail. */
const checks: readonly (readonly [id: string, name: string, shows: 'status' | 'detail'])[] = [
  ['family', 'Recognized', 'detail'],
  ['software', 'Version', 'detail'],
  ['request-id', 'Request id', 'detail'],
  ['cors', 'Calls from pages of other origins', 'status'],
  ['content-key', 'Downloads of videos need a key', 'status'],
  ['usage-log', 'Usage log of the key', 'status'],
  ['usage-log-entries', 'The log has every call', 'status'],
  ['prices', 'Price list', 'status'],
];

const resultNames: Readonly<Record<string, string>> = {
  pass: 'yes',
  unsupported: '–',
  fail: 'fails',
  timeout: 'times out',
  skip: 'not tested',
  ok: 'yes',
  warn: 'no',
};

type Row = Column['rows'][number];

const findRow = ({ rows }: Column, id: string): Row | undefined =>
  rows.find((row) => row.id === id);

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns the evidence of a call without its status; empty if there is nothing to say. */
function formatEvidence({ status, detail }: Row): string {
  const text = status === 'pass' ? detail.replace(/^2\d\d(; )?/, '') : detail;
  return text.replaceAll(/[<>]/g, '');
}

/** Lists the evidence of a gateway's calls, each phrase with the calls that it is about. */
function listEvidence(column: Column): string[] {
  const calls = new Map<string, string[]>();
  for (const [id, name] of Object.entries(callNames)) {
    const row = findRow(column, `call.${id}`);
    const evidence = row === undefined ? '' : formatEvidence(row);
    const parts = row?.status === 'pass' ? evidence.split('; ') : [evidence];
    const costs = parts.filter((part) => part.startsWith('cost in'));
    const phrases = [...costs, parts.filter((part) => !costs.includes(part)).join('; ')];
    for (const phrase of phrases.filter((each) => each !== '')) {
      calls.set(phrase, [...(calls.get(phrase) ?? []), name]);
    }
  }
  return [...calls].map(([phrase, names]) => `- ${names.join(', ')}: ${phrase}`);
}

function listOptions({ name, gateway, options }: Column): string {
  const reasons = options.map((reason) => `; ${reason}`).join('');
  return `- ${name}: set \`gateway: '${gateway}'\`${reasons}.`;
}

/** Formats the page for contributors. */
export function createEvidence(columns: readonly Column[]): string {
  const sections = columns.map((column) => [`## ${column.name}`, '', ...listEvidence(column)]);
  return [
    '# Evidence of compatibility',
    '',
    'Differences from the format of OpenAI or Gemini, and the reasons of calls that fail. The tables are in the guide [Compatibility](guides/compatibility.md), which the same script writes.',
    '',
    sections.map((lines) => lines.join('\n')).join('\n\n'),
    '',
  ].join('\n');
}

/** Returns the table of calls. */
function callsTable(columns: readonly Column[]): string {
  const calls = Object.entries(callNames).map(([id, name]) => [
    name,
    ...columns.map((column) => resultNames[findRow(column, `call.${id}`)?.status ?? ''] ?? ''),
  ]);
  return toTable(
    ['Call', ...columns.map(({ name }) => name)],
    [
      ...calls,
      ['Tested on', ...columns.map(({ date }) => date)],
      ['With model-gateway', ...columns.map(({ client }) => client)],
    ],
  );
}

/** Returns the table of checks. */
function factsTable(columns: readonly Column[]): string {
  const facts = checks.map(([id, name, shows]) => [
    name,
    ...columns.map((column) => {
      const { status = '', detail = '' } = findRow(column, id) ?? {};
      if (shows === 'status') return resultNames[status] ?? status;
      return status === 'ok' || status === 'yes' ? detail.replace(/; read as .*/, '') : status;
    }),
  ]);
  return toTable(['Fact', ...columns.map(({ name }) => name)], facts);
}

/** Formats the guide. */
export function createGuide(emulated: readonly Column[], installed: readonly Column[]): string {
  return [
    '# Compatibility',
    '',
    'What `doctor` finds at gateways that run without an account. To test yours, and to add it in an issue, [write a report](debugging.md#a-report-for-an-issue).',
    '',
    'This page is written by `npm run --prefix docs compatibility`. `–` means that the gateway does not serve a call.',
    '',
    '## Gateways of other projects',
    '',
    'LiteLLM (without a database) and Portkey run in front of the emulator of this package; aimock answers by fixtures. Each call was made once, with this client, on the date in the table.',
    '',
    'Portkey serves the routes of the server behind it, and needs its own headers on every request (`x-portkey-provider`, `x-portkey-custom-host`): set them in `defaultHeaders`, with `--header` or in `GATEWAY_HEADERS`. Installed from npm, version 1.15.2 answers 500 “Something went wrong” to calls that it passes on, because it changes headers that newer versions of `@hono/node-server` make immutable; with 1.13.8 it works.',
    '',
    callsTable(installed),
    '',
    factsTable(installed),
    '',
    '## The emulator in each of its modes and editions',
    '',
    'The emulated gateways show what the client handles, not what a particular installation does.',
    '',
    callsTable(emulated),
    '',
    factsTable(emulated),
    '',
    'Differences from the formats of OpenAI and Gemini, and the reasons of calls that fail, are in the [evidence](../compatibility-evidence.md).',
    '',
    '## Options to set',
    '',
    ...[...installed, ...emulated].map(listOptions),
    '',
  ].join('\n');
}

if (import.meta.filename === process.argv[1]) {
  const emulated = await examineEmulator();
  const installed = await columnsOfOthers();
  await writeFile(guidePath, createGuide(emulated, installed));
  await writeFile(evidencePath, createEvidence([...installed, ...emulated]));
}
