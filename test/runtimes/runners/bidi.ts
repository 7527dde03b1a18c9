import type { Tab } from './tab.ts';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Returns a field of a response that must be text. */
function readText(value: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value);
  if (typeof found !== 'string') {
    throw new TypeError(`No text at ${path.join('.')} of ${JSON.stringify(value)}`);
  }
  return found;
}

/** Requests that wait for their response. */
interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A tab of a browser that is controlled by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). */
export class BidiTab implements Tab, AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #context = '';

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The browser has gone'));
      this.#waiting.clear();
    });
  }

  /** Connects to a browser, and opens a tab. */
  static async connect(address: string): Promise<BidiTab> {
    const socket = new WebSocket(`${address}/session`);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('error', () => reject(new Error(`No browser at ${address}`)), {
        once: true,
      });
    });
    const tab = new BidiTab(socket);
    await tab.#send('session.new', { capabilities: {} });
    const created = await tab.#send('browsingContext.create', { type: 'tab' });
    tab.#context = readText(created, 'context');
    return tab;
  }

  async open(url: string): Promise<void> {
    const context = this.#context;
    await this.#send('browsingContext.navigate', { context, url, wait: 'complete' });
  }

  async evaluate(expression: string): Promise<string> {
    const target = { context: this.#context };
    const params = { expression, target, awaitPromise: false };
    return readText(await this.#send('script.evaluate', params), 'result', 'value');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#send('session.end', {}).catch(() => {});
    this.#socket.close();
  }

  #send(method: string, params: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState !== WebSocket.OPEN) {
        reject(new Error(`${method}: the browser has gone`));
        return;
      }
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #receive(text: string): void {
    const message: unknown = JSON.parse(text);
    // Events have no id.
    if (!isRecord(message) || typeof message['id'] !== 'number') return;
    const waiting = this.#waiting.get(message['id']);
    this.#waiting.delete(message['id']);
    if (message['type'] === 'success') waiting?.resolve(message['result']);
    else waiting?.reject(new Error(`${String(message['error'])}: ${String(message['message'])}`));
  }
}
