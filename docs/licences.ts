/** Writes the licences of all packages that are bundled into `dist`, as their licences require. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { bundled } from '../tsup.config.ts';

const names = new Set([
  ...bundled,
  '@modelcontextprotocol/server',
  // The MCP SDK has these bundled.
  'ajv',
  'ajv-formats',
  'content-type',
  'form-data',
  'marked',
  'preact',
  '@preact/signals',
]);
const texts: string[] = [];
for (const name of names) {
  const folder = `node_modules/${name}`;
  const { dependencies = {} } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
  for (const dependency of Object.keys(dependencies)) names.add(dependency);
  const file = (await readdir(folder)).find((path) => /^licen[cs]e/i.test(path));
  if (file === undefined) throw new Error(`${name} has no licence file.`);
  texts.push(`# ${name}\n\n${await readFile(`${folder}/${file}`, 'utf8')}`);
}
await writeFile('dist/THIRD-PARTY-LICENSES.md', texts.join('\n'));
