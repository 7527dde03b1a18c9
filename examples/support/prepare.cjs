// Runs before `npm run demo` and `npm run example`, on whatever Node the machine has: installs the
// packages (among them a Node that can run TypeScript) and builds, if that has not been done since the
// source was changed.
const { execSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
// What goes well is not worth reading.
const run = (command) => {
  try {
    execSync(command, { cwd: root, stdio: 'pipe' });
  } catch (error) {
    process.stderr.write(`${error.stdout}${error.stderr}`);
    console.error(`"${command}" failed.`);
    process.exit(1);
  }
};

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
