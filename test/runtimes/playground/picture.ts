import type { Browser } from 'playwright-core';
import { Visit } from './visit.ts';

/** Takes the picture of the README: the charges, after some faults. */
export async function takePicture(browser: Browser, url: string, path: string): Promise<void> {
  const visit = await Visit.open(browser, url, '', {
    viewport: { width: 1120, height: 700 },
    colorScheme: 'light',
  });
  const { page } = visit;
  await page.getByLabel('every request').check();
  await visit.press('Cut after the charge');
  await page.waitForFunction(() =>
    document.querySelectorAll('.big')[1]?.textContent?.startsWith('3'),
  );
  await page.mouse.move(0, 0);
  await page.evaluate(() => scrollTo({ top: 0 }));
  await page.screenshot({ path });
  await visit.close();
}
