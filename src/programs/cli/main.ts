#!/usr/bin/env node
declare const __VERSION__: string;

// Printing the version does not need the program, which takes 50 ms to load.
const [first] = process.argv.slice(2);
if (first === '--version' || first === '-V') {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  const { run } = await import('./program.ts');
  await run(process.argv.slice(2));
}
