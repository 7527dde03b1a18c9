// Runs before `npm run demo:fleet`: installs BullMQ, the drivers and a PostgreSQL, once, in the package
// that tests on them too. They are not installed with the project.
const { execSync } = require('node:child_process');
const { existsSync, mkdirSync, rmSync, statSync, symlinkSync } = require('node:fs');
const path = require('node:path');

const servers = path.join(__dirname, '..', '..', 'test', 'servers');
const installed = path.join(servers, 'node_modules', '.package-lock.json');
const isNew =
  existsSync(installed) &&
  statSync(installed).mtime >= statSync(path.join(servers, 'package-lock.json')).mtime;
if (!isNew) {
  console.log('Installing BullMQ and PostgreSQL, once (some 150 MB)…');
  execSync('npm ci --no-audit --no-fund --loglevel=error', { cwd: servers, stdio: 'inherit' });
}

// Where Node looks for what the files of this folder import.
const links = path.join(__dirname, 'node_modules');
mkdirSync(links, { recursive: true });
for (const name of ['bullmq', 'ioredis', 'pg']) {
  const link = path.join(links, name);
  if (existsSync(link)) continue;
  rmSync(link, { force: true });
  symlinkSync(path.join(servers, 'node_modules', name), link, 'junction');
}
