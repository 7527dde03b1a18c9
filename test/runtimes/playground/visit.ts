import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** One person with the playground open: everything that a page must not do is written down. */
export class Visit {
  readonly page: Page;
  readonly problems: string[] = [];
  readonly #shots: string;

  private constructor(page: Page, shots: string) {
    this.page = page;
    this.#shots = shots;
  }

  /** @param shots - The folder for screenshots. */
  static async open(browser: Browser, url: string, shots: string, options = {}): Promise<Visit> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write', 'microphone'],
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const visit = new Visit(page, shots);
    page.on('pageerror', (error) => visit.problems.push(`error: ${error.message}`));
    page.on('console', (message) => {
      const isProblem = message.type() === 'error' || message.type() === 'warning';
      if (isProblem) visit.problems.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const address = new URL(request.url());
      const isOwn = address.origin === new URL(url).origin || address.protocol === 'blob:';
      if (!isOwn) visit.problems.push(`request: ${request.url()}`);
      if (address.search !== '' || address.href.includes('token=')) {
        if (!request.isNavigationRequest()) visit.problems.push(`address: ${request.url()}`);
      }
    });
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
      const shifts: number[] = [];
      Reflect.set(globalThis, 'shifts', shifts);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const { value, hadRecentInput } = Object(entry);
          if (hadRecentInput !== true) shifts.push(Number(value));
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    // The policy of the page runs no foreign code; what the debugger brings is there before it.
    await page.addInitScript({ content: axe });
    await page.goto(url);
    await page.waitForSelector('main h1');
    return visit;
  }

  /** Goes to a panel by the menu, and waits until it is the one that is shown. */
  async go(panel: string): Promise<void> {
    await this.page.getByRole('link', { name: panel, exact: true }).click();
    // The panel before has fields of the same names.
    await this.page.locator('nav [aria-current=page]', { hasText: panel }).waitFor();
  }

  press(name: string): Promise<void> {
    // A fault has its explanation in its name.
    const isWhole = /^(Send|Stop|Remix|Speak|Record|Clear)$/.test(name);
    return this.page.getByRole('button', { name, exact: isWhole }).first().click();
  }

  /** The parts of the page that move without being touched, since the last question. */
  async shifted(): Promise<number> {
    return this.page.evaluate(() => {
      const shifts: number[] = Reflect.get(globalThis, 'shifts');
      return shifts.splice(0).reduce((sum, value) => sum + value, 0);
    });
  }

  /** Findings of the accessibility checker, in words. */
  async findings(): Promise<string[]> {
    const { violations } = await this.page.evaluate(() =>
      Reflect.get(globalThis, 'axe').run(document, { resultTypes: ['violations'] }),
    );
    return violations.flatMap(({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`),
    );
  }

  /** Waits until a live region has a text. */
  readonly announced = (text: RegExp, role = 'status'): Promise<void> =>
    this.page.locator(`p.hidden[role=${role}]`).filter({ hasText: text }).waitFor();

  /** Keeps a picture for people. */
  async shot(name: string, fullPage = false): Promise<void> {
    await this.page.screenshot({ path: join(this.#shots, `${name}.png`), fullPage });
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
