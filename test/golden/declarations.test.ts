import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { expectGolden } from './support.ts';

const root = join(import.meta.dirname, '..', '..');

/** The file of a declaration, and its name there. */
interface Source {
  readonly name: string;
  readonly path: string;
}

/** A declaration file: what it exports under which name, and every declaration in it. */
interface DeclarationFile {
  /** Imports, by their local names. */
  readonly imports: ReadonlyMap<string, Source>;
  /** By its name outside. */
  readonly exports: ReadonlyMap<string, Source>;
  readonly declarations: ReadonlyMap<string, string>;
}

/** Text without comments. */
const withoutComments = (text: string): string =>
  text.replaceAll(/('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\/|\/\/.*$/gm, '$1');

/** Splits a file into top-level statements. */
const splitStatements = (text: string): string[] =>
  withoutComments(text)
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/^\n+/gm, '')
    .split(/\n(?=[\w@])/)
    .map((statement) => statement.trim());

function namesIn(list: string): { readonly inside: string; readonly outside: string }[] {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [inside = '', outside = inside] = item.split(' as ');
      return { inside, outside };
    });
}

const files = new Map<string, DeclarationFile>();

function readDeclarations(path: string): DeclarationFile {
  const known = files.get(path);
  if (known !== undefined) return known;
  const imports = new Map<string, Source>();
  const exports = new Map<string, Source>();
  const declarations = new Map<string, string>();
  const file = { imports, exports, declarations };
  files.set(path, file);
  for (const statement of splitStatements(readFileSync(path, 'utf8'))) {
    const [, verb, list = '', from] =
      /^(import|export) (?:type )?\{([^}]*)\}(?: from ["'](.*)["'])?;?$/s.exec(statement) ?? [];
    const [, name] =
      /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|let|namespace|enum) (\w+)/.exec(
        statement,
      ) ?? [];
    const source = from?.startsWith('.')
      ? join(dirname(path), from.replace(/\.js$/, '.d.ts'))
      : undefined;
    if (verb === 'import' && source !== undefined) {
      for (const { inside, outside } of namesIn(list)) {
        imports.set(outside, { name: inside, path: source });
      }
    } else if (verb === 'export') {
      for (const { inside, outside } of namesIn(list)) {
        exports.set(outside, imports.get(inside) ?? { name: inside, path: source ?? path });
      }
    } else if (name !== undefined) {
      // Overloads and merged interfaces have one name.
      const before = declarations.get(name);
      if (statement.startsWith('export ')) exports.set(name, { name, path });
      declarations.set(name, before === undefined ? statement : `${before}\n${statement}`);
    } else if (verb === undefined && !/^(?:import|export) /.test(statement)) {
      throw new Error(`It is not known what this declares: ${statement.slice(0, 200)}`);
    }
  }
  return file;
}

/** The declaration of an export, from whichever file it comes. */
function findDeclaration(
  name: string,
  path: string,
): { readonly text: string; readonly from: string } {
  const { exports, declarations } = readDeclarations(path);
  const text = declarations.get(name);
  if (text !== undefined) return { text, from: path };
  const source = exports.get(name);
  if (source === undefined || (source.path === path && source.name === name)) {
    throw new Error(`${name} is not declared in ${path}.`);
  }
  return findDeclaration(source.name, source.path);
}

const entries = Object.entries(packageJson.exports).flatMap(([entry, target]) => {
  if (typeof target === 'string') return [];
  const { types } = target.import;
  if (entry !== '.' && types === packageJson.exports['.'].import.types) return [];
  const names = entry.includes('*') ? ['mcp', 'standard-schema', 'zod'] : [''];
  return names.map(
    (name) => [entry.replace('*', name), join(root, types.replace('*', name))] as const,
  );
});

/** Words in lines of about a hundred characters. */
const wrapped = (words: readonly string[]): string =>
  `${words.join(', ')},`.replaceAll(/(.{1,98},)(?: |$)/g, '  $1\n');

const inOrder = (texts: Iterable<readonly [name: string, text: string]>): string =>
  [...texts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, text]) => `${text}\n`)
    .join('');

test('public declarations', async () => {
  expect(existsSync(join(root, 'dist/index.d.ts')), 'npm run build comes before').toBe(true);
  const exported = new Map<string, ReturnType<typeof findDeclaration>>();
  for (const [entry, path] of entries) {
    for (const [name, source] of readDeclarations(path).exports) {
      const found = findDeclaration(source.name, source.path);
      // In the main entry point the classes of resources are types, with the namespaces of `openai`.
      const isClass = entry === './core' && found.text.startsWith('declare class ');
      const key = isClass ? `${name} of model-gateway/core` : name;
      const { text } = exported.get(key) ?? found;
      expect(found.text, `${name} is something else in ${entry}`).toBe(text);
      exported.set(key, found);
    }
  }
  // Types that are not exported are declared where they are mentioned: members may come from them.
  const mentioned = new Map<string, string>();
  const queue = [...exported.values()];
  for (const { text, from } of queue) {
    const { declarations, imports } = readDeclarations(from);
    for (const [name] of text.matchAll(/\b[A-Za-z_$][\w$]*\b/g)) {
      if (exported.has(name) || mentioned.has(name)) continue;
      const source = imports.get(name) ?? { name, path: from };
      if (source.path === from && !declarations.has(name)) continue;
      const found = findDeclaration(source.name, source.path);
      mentioned.set(name, found.text);
      queue.push(found);
    }
  }

  const lists = entries.map(([entry, path]) => {
    const names = [...readDeclarations(path).exports.keys()].toSorted();
    return `${entry}\n${entry === '.' ? '  all that the others do not\n' : wrapped(names)}`;
  });
  const text = [
    ...lists,
    inOrder([...exported].map(([name, { text: declared }]) => [name, declared])),
    `Mentioned by these, and not exported\n\n${inOrder(mentioned)}`,
  ].join('\n');
  await expectGolden(
    'declarations.txt',
    'What the entry points export, and how the build declares it, without comments.',
    text.replaceAll(/^export /gm, ''),
  );
});
