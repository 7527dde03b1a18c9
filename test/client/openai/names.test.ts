// Code for the `openai` package names its types. Every name for what this client serves is here, too, at
// each place where it is there, and what is written for the type there fits the type here.
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programOfFits, programOfNames, servedNames } from '../../helpers/openai-names.ts';
import { root } from '../../helpers/run-program.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** Types that differ on purpose. */
const differences: readonly (readonly [why: string, names: RegExp])[] = [
  [
    'a resource has the methods that gateways serve',
    /^(Audio|Chat|Embeddings|Images|Models|Videos|Audio\.Speech|Audio\.Transcriptions|Audio\.Translations|Chat\.Completions)$/,
  ],
  [
    'options of a call are plain, and those of the transport are not among them',
    /^RequestOptions$/,
  ],
  ['an answer with images always has its list', /^(Images\.)?ImagesResponse$/],
  ['speech: gateways refuse a voice of your own', /^Audio\.(Speech\.)?SpeechCreateParams$/],
  ['models tell what they can do', /^(Models\.)?(Model|ModelsPage)$/],
  ['videos: there is no default model', /^(Videos\.)?VideoCreateParams$/],
  ['videos: a reference is an address, gateways store no files', /ImageInputReferenceParam$/],
  [
    'videos: a task has a handle, and fields that vendors leave out may be missing',
    /^(Videos\.)?Video$/,
  ],
];

/** Compiles a program in a project that has both packages, and returns the errors. */
async function compile(program: string): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules', 'model-gateway'));
  await symlink(join(root, 'node_modules', 'openai'), join(folder, 'node_modules', 'openai'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'names.ts'), program);
  const flags = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2023';
  const lib = 'ES2023,ESNext.Disposable,DOM,DOM.Iterable,DOM.AsyncIterable';
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [compiler, ...flags.split(' '), '--lib', lib, '--types', '', 'names.ts'],
      { cwd: folder, maxBuffer: 16 * 2 ** 20 },
      (_, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

test('finds hundreds of names at every level', () => {
  const names = servedNames().map(({ name }) => name);

  expect(names.length).toBeGreaterThan(400);
  expect(names).toContain('Chat.Completions.ChatCompletionChunk.Choice.Delta.ToolCall.Function');
  expect(names).toContain('ChatModel');
  expect(names).toContain('Images.ImageGenCompletedEvent.Usage');
  expect(names).toContain('VideoSize');
});

test('the package has all names of the openai package', { timeout: 120_000 }, async () => {
  const program = programOfNames();

  expect(await compile(program)).toBe('');
  expect(await compile(program.replace('OpenAI.ChatModel', 'OpenAI.ChatModels'))).toContain(
    'ChatModels',
  );
  expect(await compile(program.replace('resources/images.mjs', 'resource/images.mjs'))).toContain(
    'TS2307',
  );
});

test(
  'each type is compatible with that of the openai package, apart from documented differences',
  { timeout: 120_000 },
  async () => {
    const program = programOfFits();
    const lines = program.split('\n');

    const output = await compile(program);

    const differing = [...output.matchAll(/^names\.ts\((\d+),\d+\): error TS2344/gm)].map(
      ([, line]) => lines[Number(line) - 1]?.split(' // ')[1] ?? '',
    );
    expect(output.match(/error TS/g)).toHaveLength(differing.length);
    const isOnPurpose = (name: string): boolean =>
      differences.some(([, names]) => names.test(name));
    expect(differing.filter((name) => !isOnPurpose(name))).toEqual([]);
    const stale = differences.filter(([, names]) => !differing.some((name) => names.test(name)));
    expect(stale).toEqual([]);
  },
);
