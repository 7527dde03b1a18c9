// Runs before `npm run demo` and `npm run example`, on whatever Node the machine has: installs the
// packages (among them a Node that can run TypeScript) and builds, if that has not been done yet.
const { execSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
const run = (command) => execSync(command, { cwd: root, stdio: 'inherit' });

if (!existsSync(path.join(root, 'node_modules', '.bin', 'tsup'))) {
  console.log('Installing packages, once…');
  run('npm ci --no-audit --no-fund --loglevel=error');
}
if (!existsSync(path.join(root, 'dist', 'index.js'))) run('npm run --silent build');
