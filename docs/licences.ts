/** Writes the licences of all packages that are bundled into `dist`, as their licences require. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundled } from '../tsup.config.ts';

const root = path.join(import.meta.dirname, '..');

/** The MIT licence, for a package that names it in `package.json` but has no file with its text. */
const mit = (author: string): string => `MIT License

Copyright (c) ${author}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;

/** Packages that are bundled into `dist`, without their dependencies. */
const direct = [
  ...bundled,
  '@modelcontextprotocol/server',
  // The MCP SDK has these bundled, content-type in version 1.
  'ajv',
  'ajv-formats',
  'content-type',
  'form-data',
  'highlight.js',
  'lowlight',
  'marked',
  'preact',
  '@preact/signals',
];

/** A package that is bundled, with the text of its licence. */
interface Bundled {
  readonly name: string;
  readonly isDirect: boolean;
  readonly licence: string;
}

/** Returns all packages that are bundled. */
export async function findBundled(): Promise<Bundled[]> {
  const names = new Set(direct);
  const found: Bundled[] = [];
  for (const name of names) {
    const folder = path.join(root, 'node_modules', name);
    const {
      dependencies = {},
      license,
      author,
    } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(dependencies)) names.add(dependency);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const isNamed = license === 'MIT' && typeof author === 'string';
    if (file === undefined && !isNamed) throw new Error(`${name} has no licence file.`);
    const licence =
      file === undefined ? mit(author) : await readFile(path.join(folder, file), 'utf8');
    found.push({ name, isDirect: direct.includes(name), licence });
  }
  return found;
}

if (import.meta.main) {
  const texts = (await findBundled()).map(({ name, licence }) => `# ${name}\n\n${licence}`);
  await writeFile(path.join(root, 'dist', 'THIRD-PARTY-LICENSES.md'), texts.join('\n'));
}
