// Runs before `npm run demo` and `npm run example` on the installed Node: installs the packages (including a
// Node that runs TypeScript) and builds, unless both are up to date. With the argument `demo`, first prints a
// description of the demo.
const { execSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
// The output is printed only if a command fails.
const run = (command) => {
  try {
    execSync(command, { cwd: root, stdio: 'pipe' });
  } catch (error) {
    process.stderr.write(`${error.stdout}${error.stderr}`);
    console.error(`"${command}" failed.`);
    process.exit(1);
  }
};

if (process.argv[2] === 'demo') {
  const gateway = process.env.GATEWAY_BASE_URL;
  console.log(
    gateway === undefined
      ? 'The demo starts an emulator of a gateway, makes every kind of call to it (chat, a stream, images, speech, a video) and shows what each cost. It needs no key, and nothing is charged.'
      : `The demo makes every kind of call (chat, a stream, images, speech, a video) to ${gateway}, which charges for them.`,
  );
}

if (!existsSync(path.join(root, 'node_modules', '.bin', 'tsup'))) {
  console.log('Installing packages, once (about half a minute)…');
  run('npm ci --no-audit --no-fund --loglevel=error');
}

const built = path.join(root, 'dist', 'index.js');
const source = path.join(root, 'src');
const changed = readdirSync(source, { recursive: true }).some(
  (name) => !existsSync(built) || statSync(path.join(source, name)).mtime > statSync(built).mtime,
);
if (changed) {
  console.log('Building…');
  run('npm run --silent build');
}
