import type { Browser, Page } from 'playwright-core';
import type { app, Told } from './page.ts';

type Call = Parameters<typeof app.call>[0];

/** A machine of the tests may be slow. */
const patience = 60_000;

/** Waits until something holds that happens elsewhere. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + patience;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`It is still not so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** One person with the page open. What it receives is kept, and what its policy stops. */
export class Visit {
  readonly page: Page;
  /** The paths of what its client has sent. */
  readonly asked: string[] = [];
  readonly violations: string[] = [];
  readonly #received: Promise<string>[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(browser: Browser, url: string): Promise<Visit> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(patience);
    const visit = new Visit(page);
    page.on('request', (request) => {
      if (request.method() === 'POST') visit.asked.push(new URL(request.url()).pathname);
    });
    page.on('response', (response) => {
      const headers = JSON.stringify(response.headers());
      visit.#received.push(
        response.text().then(
          (text) => headers + text,
          () => headers,
        ),
      );
    });
    page.on('console', (message) => {
      const text = message.text();
      if (text.startsWith('violation')) visit.violations.push(text);
    });
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.log(`violation of ${event.violatedDirective}: ${event.blockedURI}`);
      });
    });
    await page.goto(url);
    await page.waitForFunction(() => document.title === 'Ready');
    return visit;
  }

  use(apiKey: string | null, baseURL: string): Promise<void> {
    return this.page.evaluate(([key, url]) => Reflect.get(globalThis, 'app').use(key, url), [
      apiKey,
      baseURL,
    ] as const);
  }

  call(name: Call, words = 'Say hello'): Promise<Told> {
    return this.page.evaluate(
      ([called, said]) => Reflect.get(globalThis, 'app').call(called, said),
      [name, words] as const,
    );
  }

  stop(): Promise<void> {
    return this.page.evaluate(() => Reflect.get(globalThis, 'app').stop());
  }

  /** The last chat on the page. */
  shown(): Promise<string> {
    return this.page.locator('output').last().innerText();
  }

  /** All that came, and all that is shown. */
  async received(): Promise<string> {
    return [await this.page.content(), ...(await Promise.all(this.#received))].join('\n');
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
