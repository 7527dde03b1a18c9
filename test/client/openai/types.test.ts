// Every type of the namespace of `openai` that this package also has, in both directions, as code without
// `exactOptionalPropertyTypes` sees it.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'node_modules/.cache', `types-${process.pid}`);

/** The path of each namespace below the default export. */
const spaces: Readonly<Record<string, string>> = {
  Gateway: '',
  Completions: 'Chat.Completions.',
  Chat: 'Chat.',
  Images: 'Images.',
  Speech: 'Audio.Speech.',
  Transcriptions: 'Audio.Transcriptions.',
  Translations: 'Audio.Translations.',
  Audio: 'Audio.',
  Models: 'Models.',
  Embeddings: 'Embeddings.',
  Videos: 'Videos.',
};

/** Names of classes and of options, whose members differ. */
const own = new Set(
  'Audio Chat Completions Embeddings Images Models Responses Videos Speech Transcriptions Translations RequestOptions ClientOptions'.split(
    ' ',
  ),
);

const parameters: Readonly<Record<string, string>> = {
  ParsedChatCompletion: '<unknown>',
  ParsedChatCompletionMessage: '<unknown>',
  ParsedChoice: '<unknown>',
  Page: '<string>',
  PageResponse: '<string>',
};

const anyModel = 'model ids are any string';
const nulls = 'optional fields may be null, and finish reasons any string';
const files = 'files may also be bytes, and streamed files belong to their package';

/** Types of this package that `openai` does not accept, each with the reason. */
const toTheirs: Readonly<Record<string, string>> = {
  ChatModel: anyModel,
  ImageModel: anyModel,
  SpeechModel: anyModel,
  AudioModel: anyModel,
  EmbeddingModel: anyModel,
  ChatCompletion: nulls,
  ChatCompletionChunk: nulls,
  ParsedChatCompletion: nulls,
  ParsedChoice: nulls,
  Transcription: nulls,
  TranscriptionCreateResponse: nulls,
  TranscriptionDiarized: nulls,
  TranscriptionStreamEvent: nulls,
  TranscriptionTextDeltaEvent: nulls,
  TranscriptionTextDoneEvent: nulls,
  TranscriptionVerbose: nulls,
  TranslationVerbose: nulls,
  ImagesResponse: 'details of usage may be missing',
  ImageGenCompletedEvent: 'usage may be missing',
  ImageGenStreamEvent: 'usage may be missing',
  ImageEditCompletedEvent: 'usage may be missing',
  ImageEditStreamEvent: 'usage may be missing',
  ImageEditParams: files,
  ImageEditParamsNonStreaming: files,
  ImageEditParamsStreaming: files,
  TranscriptionCreateParams: files,
  TranscriptionCreateParamsNonStreaming: files,
  TranscriptionCreateParamsStreaming: files,
  TranslationCreateParams: files,
  VideoCreateParams: files,
  SpeechCreateParams: 'voice may be missing',
  Video: 'fields may be missing',
  VideoCreateError: 'fields may be missing',
  ModelsPage: 'a class of its own',
  Page: 'a class of its own',
};

/** Types of `openai` that this package does not accept, each with the reason. */
const toOurs: Readonly<Record<string, string>> = {
  ImagesResponse: 'data is always set',
  Model: 'supported_endpoint_types is always set',
  ModelsPage: 'a class of its own',
  Video: 'task_id and ref are always set',
  VideoCreateParams: 'model is required, and a reference is not the id of a file',
  ImageInputReferenceParam: 'a reference is not the id of a file',
  SpeechCreateParams: 'a voice is not the id of a custom voice',
};

/** Keys of `openai` that this package does not have. */
const missingKeys: Readonly<Record<string, string>> = {
  ImageInputReferenceParam: 'file_id',
  ModelsPage: 'nextPageRequestOptions',
  Page: 'iterPages, nextPageRequestOptions',
};

/** Lists the names of both namespaces, each with its path. */
async function listNames(): Promise<ReadonlyMap<string, string>> {
  const source = await readFile(join(root, 'src/client/openai/gateway.ts'), 'utf8');
  const names = new Map<string, string>();
  for (const [, space = '', body = ''] of source.matchAll(
    /export declare namespace (\w+) \{\s*export \{([^}]*)\}/g,
  )) {
    const path = spaces[space];
    if (path === undefined) continue;
    for (const item of body.split(',')) {
      const name = /(\w+)\s*$/.exec(item)?.[1];
      if (name === undefined || own.has(name) || names.has(name)) continue;
      names.set(name, `${path}${name}${parameters[name] ?? ''}`);
    }
  }
  return names;
}

let names: ReadonlyMap<string, string>;
const problems: Record<'to theirs' | 'to ours' | 'keys', Map<string, string>> = {
  'to theirs': new Map(),
  'to ours': new Map(),
  keys: new Map(),
};

const options = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  },
  files: ['names.ts'],
};

beforeAll(async () => {
  names = await listNames();
  const lines = [
    "import type Theirs from 'openai';",
    "import type Ours from '../../../src/index.ts';",
    'type Keys<T> = T extends readonly unknown[] | string ? never : T extends object ? keyof T : never;',
    'type Missing<T, O> = { [Key in Exclude<Keys<T>, Keys<O>>]: 1 };',
  ];
  const places = new Map<number, { name: string; problem: keyof typeof problems }>();
  const add = (line: string, name: string, problem?: keyof typeof problems): void => {
    lines.push(line);
    if (problem !== undefined) places.set(lines.length, { name, problem });
  };
  for (const [name, path] of names) {
    add(`{ let ours!: Ours.${path}; let theirs!: Theirs.${path};`, name);
    add('theirs = ours;', name, 'to theirs');
    add('ours = theirs;', name, 'to ours');
    add(`const keys: Missing<Theirs.${path}, Ours.${path}> = {}; }`, name, 'keys');
  }
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'names.ts'), `${lines.join('\n')}\nexport {};\n`);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [compiler, '-p', folder, '--pretty', 'false', '--noErrorTruncation'],
    { cwd: root, maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: unknown) => Object(error));
  for (const [, file = '', line, text = ''] of String(stdout).matchAll(
    /^(\S+)\((\d+),\d+\): error (.*)$/gm,
  )) {
    const place = places.get(Number(line));
    // The source is checked with other options.
    if (!file.endsWith('names.ts')) continue;
    if (place === undefined) throw new Error(text);
    problems[place.problem].set(place.name, text);
  }
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('types of both packages', () => {
  test('the walk covers the namespace', () => {
    expect(names.size).toBeGreaterThan(100);
  });

  test('types of this package fit those of openai, except for the listed ones', () => {
    expect([...problems['to theirs'].keys()].toSorted()).toEqual(Object.keys(toTheirs).toSorted());
  });

  test('types of openai fit those of this package, except for the listed ones', () => {
    expect([...problems['to ours'].keys()].toSorted()).toEqual(Object.keys(toOurs).toSorted());
  });

  test('the guide lists these types', async () => {
    const guide = await readFile(join(root, 'docs/guides/from-openai.md'), 'utf8');
    const listed = guide.matchAll(/^\| (`.*`) +\| (yes|no) +\| (yes|no) +\|/gm);
    const refused = { theirs: new Set<string>(), ours: new Set<string>() };
    for (const [, cell = '', byTheirs, byOurs] of listed) {
      for (const [, name = '', more] of cell.matchAll(/`(\w+)(…?)`/g)) {
        const found = [...names.keys()].filter(
          (item) => item === name || (more && item.startsWith(name)),
        );
        expect(found, name).not.toEqual([]);
        for (const item of found) {
          if (byTheirs === 'no') refused.theirs.add(item);
          if (byOurs === 'no') refused.ours.add(item);
        }
      }
    }

    expect([...refused.theirs].toSorted()).toEqual(Object.keys(toTheirs).toSorted());
    expect([...refused.ours].toSorted()).toEqual(Object.keys(toOurs).toSorted());
  });

  test('messages, parts, tools, usage and embeddings fit in both directions', () => {
    const exact = [...names.keys()].filter((name) =>
      /Message(Param|ToolCall)?$|ContentPart|Tool$|ToolChoice|^CompletionUsage$|Embedding(CreateParams|$)|^CreateEmbedding|^Image$|ImageGenerateParams/.test(
        name,
      ),
    );

    expect(exact.length).toBeGreaterThan(25);
    for (const name of exact) {
      expect(toTheirs, name).not.toHaveProperty(name);
      expect(toOurs, name).not.toHaveProperty(name);
    }
  });

  test('no key of openai is missing, except for the listed ones', () => {
    const missing = [...problems.keys].map(([name, text]) => [
      name,
      /Property '(\w+)' is missing/.exec(text)?.[1] ?? /: ([^:]*)$/.exec(text)?.[1],
    ]);

    expect(Object.fromEntries(missing)).toEqual(missingKeys);
  });
});
