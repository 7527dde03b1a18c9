// Runs before `npm run demo` and `npm run example`, on whatever Node the machine has: installs the
// packages (among them a Node that can run TypeScript) and builds, if that has not been done since the
// source was changed.
const { execSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
const run = (command) => execSync(command, { cwd: root, stdio: 'inherit' });

if (!existsSync(path.join(root, 'node_modules', '.bin', 'tsup'))) {
  console.log('Installing packages, once…');
  run('npm ci --no-audit --no-fund --loglevel=error');
}

const built = path.join(root, 'dist', 'index.js');
const source = path.join(root, 'src');
const changed = readdirSync(source, { recursive: true }).some(
  (name) => !existsSync(built) || statSync(path.join(source, name)).mtime > statSync(built).mtime,
);
if (changed) run('npm run --silent build');
