import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';
import type { RunningWorld, ServedFile } from './world-server.ts';

/** The page's policy: run its own files and make requests. No `unsafe-eval`, no inline code. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self' http: https:",
  // Firefox requests an icon.
  "img-src 'self'",
].join('; ');

/**
 * Records what the policy forbids and what the checks print, from before the first line of the package. A page that
 * its browser cannot stop keeps itself busy: time goes on, but no line runs.
 */
const recorder = `globalThis.violations = [];
document.addEventListener('securitypolicyviolation', (event) => {
  violations.push(event.violatedDirective + ' ' + event.blockedURI);
});
globalThis.lines = [];
const { log } = console;
let hasBegun = false;
console.log = (...values) => {
  hasBegun = true;
  lines.push(values.join(' '));
  log(...values);
};
addEventListener('error', ({ message }) => lines.push('Bail out! ' + message));
addEventListener('unhandledrejection', ({ reason }) => {
  // Some checks reject on purpose.
  if (!hasBegun) lines.push('Bail out! ' + reason);
});
globalThis.standStill ??= (milliseconds) => {
  const end = Date.now() + milliseconds;
  while (Date.now() < end);
};`;

const javascript = (content: string): ServedFile => ({ type: 'text/javascript', content });

/** @param allowed - What other packages do that pages forbid, and do well without. */
async function bundleForPages(entry: string, allowed?: RegExp): Promise<ServedFile> {
  const { code, problems: found } = await bundle(entry);
  const problems = found.filter((problem) => allowed?.test(problem) !== true);
  if (problems.length > 0) throw new Error(`The bundle of ${entry} ${problems.join(', ')}`);
  return javascript(code);
}

function html(script: string): ServedFile {
  return {
    type: 'text/html',
    content: `<!doctype html>
<title>Checks</title>
<script src="/recorder.js"></script>
<script type="module" src="${script}"></script>`,
    headers: { 'content-security-policy': contentSecurityPolicy },
  };
}

/** Serves the pages whose checks run by themselves, and returns their addresses. */
export async function servePages({ files, page }: RunningWorld): Promise<readonly string[]> {
  files.set('/recorder.js', javascript(recorder));
  files.set('/', html('/page.js'));
  files.set('/page.js', await bundleForPages('page.ts'));
  files.set('/msw', html('/msw-page.js'));
  files.set('/msw-page.js', await bundleForPages('msw-page.ts'));
  files.set('/ai-sdk', html('/ai-sdk-page.js'));
  // The zod of the AI SDK tries whether it may make code.
  files.set('/ai-sdk-page.js', await bundleForPages('ai-sdk-page.ts', /Function/));
  const worker = fileURLToPath(import.meta.resolve('msw/mockServiceWorker.js'));
  files.set('/mockServiceWorker.js', javascript(readFileSync(worker, 'utf8')));
  return [page, `${page}/msw`, `${page}/ai-sdk`];
}
