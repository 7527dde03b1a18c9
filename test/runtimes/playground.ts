/**
 * `npm run test:playground`: the built playground in Chromium, as a person uses it. Screenshots go to the
 * folder that PLAYGROUND_SHOTS names; `--picture` only takes the picture of the README anew.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium } from './runners/chromium.ts';
import { stagePackage } from './runners/stage.ts';
import { Checks } from './playground/check.ts';
import { checkLists } from './playground/lists.ts';
import { checkPanels } from './playground/panels.ts';
import { takePicture } from './playground/picture.ts';
import { serve } from './playground/served.ts';

stagePackage();
// Imported only now, because they import the package that was put in place.
const { checkLosses } = await import('./playground/losses.ts');
const { checkPresses } = await import('./playground/presses.ts');
const { checkEverything } = await import('./playground/everything.ts');
const { checkStates } = await import('./playground/states.ts');
const { checkSpeed } = await import('./playground/speed.ts');

const kept = process.env['PLAYGROUND_SHOTS'];
const shots = kept ?? mkdtempSync(join(tmpdir(), 'playground-shots-'));
mkdirSync(shots, { recursive: true });

const checks = new Checks();
const browser = await launchChromium('', [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
]);
try {
  if (process.argv.includes('--picture')) {
    const served = await serve(['--port', '0', '--emulator']);
    await takePicture(
      browser,
      served.url,
      fileURLToPath(new URL('../../docs/playground.png', import.meta.url)),
    );
    await served.end();
  } else {
    const served = await serve(['--port', '0', '--emulator']);
    await checkPanels(checks, browser, served.url, shots);
    await served.end();
    await checkLists(checks, browser, shots);
    await checkLosses(checks, browser, shots);
    await checkPresses(checks, browser, shots);
    await checkEverything(checks, browser, shots);
    await checkStates(checks, browser, shots);
    await checkSpeed(checks, browser, shots);
    console.log(`${checks.passed} passed, ${checks.failures.length} failed`);
    if (kept !== undefined) console.log(`Screenshots are in ${kept}`);
  }
} finally {
  await browser.close();
  if (kept === undefined) rmSync(shots, { recursive: true });
}
if (checks.failures.length > 0) process.exitCode = 1;
