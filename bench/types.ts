import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment, type Figures } from './lib/child.ts';
import type { Effort, Metric, Part, PartResult } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { selectFigures, inRounds, computeMedians, taking, varying } from './lib/rounds.ts';

const execute = promisify(execFile);
const root = path.join(import.meta.dirname, '..');
const modules = path.join(root, 'bench', 'node_modules');

function chatProgram(specifier: string): string {
  return `
    import Client from '${specifier}';
    const client = new Client();
    const answer = await client.chat.completions.create({
      model: 'chat-model',
      messages: [{ role: 'user', content: 'Hello!' }],
    });
    console.log(answer.choices[0]?.message.content);
  `;
}

/** A typical first program with each client. */
const programs: Partial<Record<Column, string>> = {
  'model-gateway': chatProgram('model-gateway'),
  openai: chatProgram('openai'),
  'groq-sdk': chatProgram('groq-sdk'),
  '@anthropic-ai/sdk': `
    import Anthropic from '@anthropic-ai/sdk';
    const message = await new Anthropic().messages.create({
      model: 'chat-model', max_tokens: 9, messages: [{ role: 'user', content: 'Hello!' }],
    });
    console.log(message.content);
  `,
  '@google/genai': `
    import { GoogleGenAI } from '@google/genai';
    const { models } = new GoogleGenAI({});
    console.log((await models.generateContent({ model: 'm', contents: 'Hello!' })).text);
  `,
  ai: `
    import { generateText } from 'ai';
    import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
    const provider = createOpenAICompatible({ name: 'gateway', baseURL: 'https://example.com' });
    console.log((await generateText({ model: provider('m'), prompt: 'Hello!' })).text);
  `,
  '@fal-ai/client': `
    import { fal } from '@fal-ai/client';
    console.log((await fal.run('fal-ai/flux/dev', { input: { prompt: 'Hello!' } })).data);
  `,
  '@runwayml/sdk': `
    import RunwayML from '@runwayml/sdk';
    const { id } = await new RunwayML().textToVideo.create({
      model: 'veo3.1', promptText: 'Hello!', ratio: '1280:720', duration: 4,
    });
    console.log(id);
  `,
};

const flags = [
  '--noEmit --ignoreConfig --strict --skipLibCheck --extendedDiagnostics',
  '--module nodenext --target es2023',
  '--lib ES2023,ESNext.Disposable,DOM,DOM.Iterable,DOM.AsyncIterable',
]
  .join(' ')
  .split(' ')
  .concat('--types', '');

/** TypeScript's diagnostics by the names of our metrics, with the conversion to our units. */
const lines = {
  files: ['Files', 1],
  types: ['Types', 1],
  memory: ['Memory used', 1 / 1_024],
  time: ['Total time', 1_000],
} as const;

async function typeCheck(folder: string, file: string): Promise<Figures> {
  const { stdout } = await execute(
    path.join(root, 'node_modules', '.bin', 'tsc'),
    [...flags, file],
    { cwd: folder, env: childEnvironment() },
  );
  return Object.fromEntries(
    Object.entries(lines).map(([name, [line, unit]]) => {
      const value = new RegExp(`^${line}: *([0-9.]+)`, 'm').exec(stdout)?.[1];
      if (value === undefined) throw new Error(`tsc says nothing of "${line}".`);
      return [name, Number(value) * unit];
    }),
  );
}

async function prepare(folder: string): Promise<void> {
  const links = path.join(folder, 'node_modules');
  for (const scope of ['@ai-sdk', '@anthropic-ai', '@fal-ai', '@google', '@runwayml']) {
    await mkdir(path.join(links, scope), { recursive: true });
  }
  await symlink(root, path.join(links, 'model-gateway'));
  const peers = Object.keys(programs).filter((name) => name !== 'model-gateway');
  for (const name of [...peers, '@ai-sdk/openai-compatible']) {
    await symlink(path.join(modules, name), path.join(links, name));
  }
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(folder, 'empty.ts'), 'console.log(1);\nexport {};\n');
  for (const [column, program] of Object.entries(programs)) {
    await writeFile(path.join(folder, fileName(column)), program);
  }
}

function fileName(column: string): string {
  return `program-${column.replaceAll(/\W/g, '-')}.ts`;
}

async function measure({ columns }: Effort): Promise<PartResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-types-'));
  try {
    await prepare(folder);
    const taken = taking(programs, columns);
    let empty: Figures = {};
    const measured = await inRounds(taken, 5, async (column) => {
      if (column === taken[0]) empty = await typeCheck(folder, 'empty.ts');
      const figures = await typeCheck(folder, fileName(column));
      return Object.fromEntries(
        Object.entries(figures).map(([name, figure]) => [name, figure - (empty[name] ?? NaN)]),
      );
    });
    const of = (name: string) => selectFigures(measured, name);
    const counted = (name: 'files' | 'types', label: string): Metric => {
      return { id: `types.${name}`, label, unit: name, values: computeMedians(of(name)) };
    };
    return {
      metrics: [
        counted('files', 'Type checking hello world: files'),
        counted('types', '– types'),
        varying({ id: 'types.memory', label: '– memory', unit: 'MiB' }, of('memory')),
        varying({ id: 'types.time', label: '– time', unit: 'ms' }, of('time')),
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const typesPart: Part = { name: 'types', measure };
