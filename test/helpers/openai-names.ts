// The names of types that the `openai` package declares, read from its declarations.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

type Statement = ReturnType<typeof parseAst>['body'][number];

/** The name of a type, and the number of its required type arguments. */
export interface TypeName {
  /** With the namespaces that it is in, for example `Chat.Completions.ChatCompletion`. */
  readonly name: string;
  readonly needed: number;
  /** The file that declares it, for example `resources/images`. */
  readonly file: string;
}

/** The target of a name: a declaration in a scope, with everything declared under it there. */
interface Target {
  readonly scope: Scope;
  readonly name: string;
}

/** A file or a namespace in it. */
interface Scope {
  readonly file: string;
  readonly outer: Scope | undefined;
  /** Types by name: how many arguments they need. */
  readonly types: Map<string, number>;
  readonly namespaces: Map<string, Scope>;
  /** Names in other files or scopes, by the local name. */
  readonly aliases: Map<string, () => Target | undefined>;
  /** Local names, by the exported name. */
  readonly exports: Map<string, string | (() => Target | undefined)>;
  /** Files that it exports completely. */
  readonly passed: string[];
}

const root = dirname(createRequire(import.meta.url).resolve('openai'));
const files = new Map<string, Scope>();

function newScope(file: string, outer?: Scope): Scope {
  const [types, namespaces, aliases, exports] = [new Map(), new Map(), new Map(), new Map()];
  return { file, outer, types, namespaces, aliases, exports, passed: [] };
}

function fileAt(path: string): Scope {
  const known = files.get(path);
  if (known !== undefined) return known;
  const scope = newScope(path);
  files.set(path, scope);
  const source = readFileSync(join(root, `${path}.d.mts`), 'utf8');
  for (const statement of parseAst(source, { lang: 'dts' }).body) read(scope, statement, false);
  return scope;
}

const pathFrom = (scope: Scope, specifier: string): string =>
  join(dirname(scope.file), specifier).replace(/\.mjs$/, '');

/** Adds what a statement declares. In a namespace everything is exported. */
function read(scope: Scope, statement: Statement, isExported: boolean): void {
  switch (statement.type) {
    case 'ImportDeclaration': {
      const { source, specifiers } = statement;
      if (!source.value.startsWith('.')) return;
      const path = pathFrom(scope, source.value);
      for (const specifier of specifiers) {
        const { local } = specifier;
        if (specifier.type === 'ImportNamespaceSpecifier') {
          scope.aliases.set(local.name, () => ({ scope: fileAt(path), name: '*' }));
        } else {
          const name =
            specifier.type === 'ImportSpecifier' ? getName(specifier.imported) : 'default';
          scope.aliases.set(local.name, () => exported(fileAt(path), name));
        }
      }
      return;
    }
    case 'ExportAllDeclaration':
      scope.passed.push(pathFrom(scope, statement.source.value));
      return;
    case 'ExportNamedDeclaration': {
      const { source, declaration, specifiers } = statement;
      if (declaration !== null) read(scope, declaration, true);
      for (const { local, exported: outside } of specifiers) {
        const name = getName(local);
        const path = source === null ? undefined : pathFrom(scope, source.value);
        scope.exports.set(
          getName(outside),
          path === undefined ? name : () => exported(fileAt(path), name),
        );
      }
      return;
    }
    case 'TSImportEqualsDeclaration': {
      const { id, moduleReference } = statement;
      if (
        moduleReference.type !== 'TSQualifiedName' ||
        moduleReference.left.type !== 'Identifier'
      ) {
        return;
      }
      const { left, right } = moduleReference;
      scope.aliases.set(id.name, () => {
        const module = found(scope, left.name);
        return module && exported(module.scope, right.name);
      });
      if (isExported) scope.exports.set(id.name, id.name);
      return;
    }
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'ClassDeclaration': {
      const { id, typeParameters } = statement;
      if (id === null) return;
      const needed = typeParameters?.params.filter(
        (parameter) => parameter.default === null,
      ).length;
      scope.types.set(id.name, needed ?? 0);
      if (isExported) scope.exports.set(id.name, id.name);
      return;
    }
    case 'TSModuleDeclaration': {
      const { id, body } = statement;
      if (id.type !== 'Identifier' || body?.type !== 'TSModuleBlock') return;
      const inner = scope.namespaces.get(id.name) ?? newScope(scope.file, scope);
      scope.namespaces.set(id.name, inner);
      for (const part of body.body) read(inner, part, true);
      if (isExported) scope.exports.set(id.name, id.name);
      return;
    }
    default:
  }
}

const getName = (node: { readonly name: string } | { readonly value: string }): string =>
  'name' in node ? node.name : node.value;

/** The declaration that a file or namespace exports under a name. */
function exported(scope: Scope, name: string): Target | undefined {
  const own = scope.exports.get(name);
  if (typeof own === 'string') return found(scope, own);
  if (own !== undefined) return own();
  for (const path of scope.passed) {
    const target = exported(fileAt(path), name);
    if (target !== undefined) return target;
  }
  return undefined;
}

/** The declaration behind a name inside a scope. */
function found(scope: Scope, name: string): Target | undefined {
  if (scope.types.has(name) || scope.namespaces.has(name)) return { scope, name };
  const alias = scope.aliases.get(name)?.();
  return alias ?? (scope.outer && found(scope.outer, name));
}

function listNames(scope: Scope): string[] {
  return [
    ...new Set([
      ...scope.exports.keys(),
      ...scope.passed.flatMap((path) => listNames(fileAt(path))),
    ]),
  ];
}

/** All names that a scope exports, with those below them. */
function typeNames(scope: Scope, prefix = '', depth = 0): TypeName[] {
  return listNames(scope).flatMap((outside) => {
    const target = exported(scope, outside);
    if (target === undefined) return [];
    const name = prefix + outside;
    const needed = target.scope.types.get(target.name);
    const own = needed === undefined ? [] : [{ name, needed, file: target.scope.file }];
    const inner = target.scope.namespaces.get(target.name);
    // A namespace may contain itself under another name.
    return inner === undefined || depth > 8
      ? own
      : [...own, ...typeNames(inner, `${name}.`, depth + 1)];
  });
}

/** The names in `OpenAI.…`. */
function clientNames(): TypeName[] {
  const client = exported(fileAt('index'), 'OpenAI');
  const inner = client?.scope.namespaces.get(client.name);
  if (inner === undefined) throw new Error('The namespace OpenAI was not found.');
  return typeNames(inner);
}

/** The names that one of its files exports, without those below them. */
function fileNames(path: string): TypeName[] {
  return typeNames(fileAt(path)).filter(({ name }) => !name.includes('.'));
}

/**
 * Names that this client does not support. All other names of `openai` must exist here, so that a new
 * version with new names fails the test.
 */
const unserved: readonly (readonly [why: string, names: RegExp])[] = [
  [
    'other APIs',
    /^(Admin|Batch|Beta|Container|ContentProvenance|Conversation|Decision|DeletedSkill|Eval|File|FineTuning|Grader|Live|Moderation|Realtime|Response(?!Format)|Safety|Skill|Upload(?!able)|VectorStore|Webhook|AutoFileChunking|OtherFileChunking|StaticFileChunking)/,
  ],
  ['parts of other APIs', /^(ComparisonFilter|CompoundFilter|CustomToolInputFormat|Reasoning$)/],
  ['grammars of other APIs', /^ResponseFormatText(Grammar|Python)$/],
  ['the completions before chat', /^Completion(s|Choice|CreateParams.*)?(\.|$)/],
  [
    'completions that are stored',
    /^(Chat\.(Completions\.)?)?ChatCompletion(s?Page|Deleted|List|Store|Update)/,
  ],
  ['messages that are stored', /^(Chat\.Completions\.)?Message(s|ListParams)/],
  ['variations of images', /^(Images\.)?ImageCreateVariationParams$/],
  ['voices of your own', /^(Audio\.)?Voice/],
  ['models that are deleted', /^(Models\.)?ModelDeleted$/],
  [
    'lists, edits and characters of videos',
    /^(Videos\.)?(VideosPage|Video(Delete|List|Edit|Extend|\w+Character))/,
  ],
  ['pages of other lists', /^(Conversation|Next)?(Cursor|Token)Page/],
  ['other ways to sign in', /^(OAuth|SubjectToken|DataResidency|InvalidWebhook)/],
  ['events as text', /^ServerSentEvent$/],
];

const isServed = ({ name }: TypeName): boolean => !unserved.some(([, names]) => names.test(name));

/** The files that code imports from, below the name of the package. */
const paths = [
  'error',
  'resources/audio/audio',
  'resources/audio/index',
  'resources/audio/speech',
  'resources/audio/transcriptions',
  'resources/audio/translations',
  'resources/chat/chat',
  'resources/chat/completions',
  'resources/chat/completions/completions',
  'resources/chat/completions/index',
  'resources/chat/index',
  'resources/completions',
  'resources/embeddings',
  'resources/images',
  'resources/index',
  'resources/models',
  'resources/shared',
  'resources/videos',
  'streaming',
  'uploads',
];

/** The names of the namespace that this client has too. */
export const servedNames = (): TypeName[] => clientNames().filter(isServed);

const withArguments = ({ name, needed }: TypeName): string =>
  needed > 0 ? `${name}<${Array(needed).fill('any').join()}>` : name;

/** A program that uses every supported name, in each place where `openai` has it. */
export function programOfNames(): string {
  const lines = ["import OpenAI from 'model-gateway';"];
  for (const [at, type] of servedNames().entries()) {
    lines.push(`export type T${at} = OpenAI.${withArguments(type)};`);
  }
  for (const [at, path] of paths.entries()) {
    const names = fileNames(path).filter(isServed);
    const list = names.map(({ name }) => `${name} as ${name}${at}`).join(', ');
    lines.push(`import type { ${list} } from 'model-gateway/${path}';`);
    for (const suffix of path.includes('/') ? ['mjs', 'js'] : []) {
      lines.push(`import type {} from 'model-gateway/${path}.${suffix}';`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** A program that compiles if values of `openai`'s types have this client's types. */
export function programOfFits(): string {
  const lines = [
    "import type Theirs from 'openai';",
    "import type Ours from 'model-gateway';",
    'declare function fits<Answer extends true>(): Answer;',
    'type Fit<One, Other> = [One] extends [Other] ? true : false;',
  ];
  for (const type of servedNames()) {
    const name = withArguments(type);
    lines.push(`fits<Fit<Theirs.${name}, Ours.${name}>>(); // ${type.name}`);
  }
  return `${lines.join('\n')}\n`;
}
