/** The options of all commands, from the program itself. */
import type { Command, Option } from 'commander';
import { createProgram } from '../../src/programs/cli/program.ts';
import { toTable } from './section.ts';

type Named = readonly [words: string, command: Command];

/** Returns the commands for people, with the words that call them. */
export function listCommands(parent: Command, words: readonly string[] = []): Named[] {
  return parent.commands.flatMap((command): Named[] => {
    const name = command.name();
    if (/^(help$|mcp-)/.test(name)) return [];
    const own = [...words, name];
    return command.commands.length > 0 ? listCommands(command, own) : [[own.join(' '), command]];
  });
}

function describe({
  description,
  defaultValue,
  defaultValueDescription,
  argChoices,
}: Option): string {
  const isShown = defaultValue !== undefined && typeof defaultValue !== 'boolean';
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(isShown ? [`default: ${defaultValueDescription ?? String(defaultValue)}`] : []),
  ];
  return [description, notes.length > 0 ? `(${notes.join('; ')})` : ''].filter(Boolean).join(' ');
}

const has = ({ options }: Command, { flags, description }: Option): boolean =>
  options.some((other) => other.flags === flags && other.description === description);

const table = (options: readonly Option[]): string =>
  toTable(
    ['Option', 'Meaning'],
    options.map((option) => [`\`${option.flags}\``, describe(option).replaceAll('<', '&lt;')]),
  );

/** The options that every command has that calls a gateway, then those of each command. */
export function flagTables(): string {
  const all = listCommands(createProgram());
  const calling = all.filter(([, { options }]) => options.some(({ long }) => long === '--timeout'));
  const [first, ...others] = calling.map(([, command]) => command);
  const shared = (first?.options ?? []).filter((option) =>
    others.every((command) => has(command, option)),
  );
  const sharedFlags = new Set(shared.map(({ flags }) => flags));
  const parts = all.map(([name, command]) => {
    const isCalling = calling.some(([other]) => other === name);
    const own = command.options.filter(({ flags }) => !isCalling || !sharedFlags.has(flags));
    return { name, own };
  });
  return [
    '## Every command that calls a gateway',
    `${calling.map(([name]) => `\`${name}\``).join(', ')}:`,
    table(shared),
    ...parts.flatMap(({ name, own }) => (own.length === 0 ? [] : [`## \`${name}\``, table(own)])),
  ].join('\n\n');
}
