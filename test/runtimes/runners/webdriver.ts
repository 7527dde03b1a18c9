import type { Tab } from './tab.ts';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** A tab of a browser that is controlled by WebDriver (https://www.w3.org/TR/webdriver2/). */
export class WebDriverTab implements Tab, AsyncDisposable {
  readonly #session: string;

  private constructor(session: string) {
    this.#session = session;
  }

  /** Starts a session. @param capabilities - Those that the browser must have. */
  static async connect(driver: string, capabilities: object): Promise<WebDriverTab> {
    const body = { capabilities: { alwaysMatch: capabilities } };
    const value = await send(`${driver}/session`, 'POST', body);
    const id = isRecord(value) ? value['sessionId'] : undefined;
    if (typeof id !== 'string') throw new TypeError(`No session in ${JSON.stringify(value)}`);
    return new WebDriverTab(`${driver}/session/${id}`);
  }

  async open(url: string): Promise<void> {
    await send(`${this.#session}/url`, 'POST', { url });
  }

  async evaluate(expression: string): Promise<string> {
    const body = { script: `return ${expression};`, args: [] };
    return String(await send(`${this.#session}/execute/sync`, 'POST', body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await send(this.#session, 'DELETE').catch(() => {});
  }
}

/** Sends a command. @returns the `value` of the response */
async function send(url: string, method: 'POST' | 'DELETE', body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  const answer: unknown = await response.json();
  const value = isRecord(answer) ? answer['value'] : undefined;
  if (response.ok) return value;
  throw new Error(`${method} ${new URL(url).pathname}: ${JSON.stringify(value)}`);
}
