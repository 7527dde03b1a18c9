#!/usr/bin/env node
declare const __VERSION__: string;

// Neither needs the program, which is loaded in 50 ms.
const [first] = process.argv.slice(2);
if (first === '--version' || first === '-V') {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  const { run } = await import('./program.ts');
  await run(process.argv.slice(2));
}
