// Runs before `npm run demo` and `npm run example` on the installed Node: installs the packages (including a
// Node that runs TypeScript) and builds, unless both are up to date. With the argument `demo`, first prints a
// description of the demo.
const { spawn } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');

/** Shows elapsed seconds on a terminal; elsewhere, prints a line every 15 seconds. */
function showTime(title) {
  const start = Date.now();
  const { isTTY } = process.stdout;
  const seconds = () => Math.round((Date.now() - start) / 1_000);
  if (!isTTY) console.log(title);
  const show = () =>
    isTTY
      ? process.stdout.write(`\r\u001B[K${title} ${seconds()} s`)
      : console.log(`  still at it after ${seconds()} s`);
  if (isTTY) show();
  const timer = setInterval(show, isTTY ? 1_000 : 15_000);
  return () => {
    clearInterval(timer);
    if (isTTY) process.stdout.write('\n');
  };
}

/** Runs a command, whose output is printed only if it fails. */
function run(title, command) {
  const stop = showTime(title);
  return new Promise((resolve) => {
    const child = spawn(command, { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      stop();
      if (code === 0) return resolve();
      process.stderr.write(output);
      console.error(`"${command}" failed.`);
      process.exit(1);
    });
  });
}

function isBuilt() {
  const built = path.join(root, 'dist', 'index.js');
  if (!existsSync(built)) return false;
  const source = path.join(root, 'src');
  const { mtime } = statSync(built);
  return readdirSync(source, { recursive: true }).every(
    (name) => statSync(path.join(source, name)).mtime <= mtime,
  );
}

async function prepare() {
  if (process.argv[2] === 'demo') {
    console.log(
      'The demo starts an emulator of a gateway, makes every kind of call to it (chat, a stream, images, speech, a video) and shows what each cost. It needs no key, and nothing is charged. (To use the gateway of GATEWAY_BASE_URL: npm run demo -- --real)',
    );
  }
  if (!existsSync(path.join(root, 'node_modules', '.bin', 'tsup'))) {
    await run(
      'Installing packages, once (half a minute to three minutes)…',
      'npm ci --no-audit --no-fund --loglevel=error',
    );
  }
  if (!isBuilt()) await run('Building…', 'npm run --silent build');
}

void prepare();
