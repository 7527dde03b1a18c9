import { createEmulator, type Emulator, type EmulatorOptions } from '../../src/testing/index.ts';

/** Calls the emulator with `fetch` alone. */
export interface PlainClient {
  readonly emulator: Emulator;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  /** Sends an object as JSON, and a form unchanged. */
  readonly post: (path: string, body: object, init?: RequestInit) => Promise<Response>;
  /** Like `post`, but returns the JSON of the response. */
  readonly ask: (path: string, body: object) => Promise<unknown>;
  /** Requests a chat completion for one user message. */
  readonly chat: (prompt: string, fields?: object) => Promise<Response>;
}

/** Functions that call an emulator, by its `fetch` or at its URL. */
export function plainClient(emulator: Emulator, address?: string): PlainClient {
  // Read for each call, because tests replace the global one.
  const send: Emulator['fetch'] = (input, init) =>
    address === undefined ? emulator.fetch(input, init) : fetch(input, init);
  const root = address ?? emulator.baseURL;
  const authorization = `Bearer ${emulator.apiKey}`;
  const get: PlainClient['get'] = (path, headers = {}) =>
    send(root + path, { headers: { authorization, ...headers } });
  const post: PlainClient['post'] = (path, body, init = {}) => {
    const isForm = body instanceof FormData;
    return send(root + path, {
      method: 'POST',
      headers: { authorization, ...(isForm ? {} : { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
      ...init,
    });
  };
  const ask: PlainClient['ask'] = async (path, body) => (await post(path, body)).json();
  const chat: PlainClient['chat'] = (prompt, fields = {}) => {
    const messages = [{ role: 'user', content: prompt }];
    return post('/v1/chat/completions', { model: 'm-large', messages, ...fields });
  };
  return { emulator, get, post, ask, chat };
}

/** An emulator and functions that call it. */
export function newClient(options?: EmulatorOptions): PlainClient {
  return plainClient(createEmulator(options));
}

/** The data of every event of a stream, as text. */
export async function eventData(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
}

/** The data of every event of a stream, parsed; without `[DONE]`. */
export async function eventObjects(response: Response): Promise<unknown[]> {
  const data = await eventData(response);
  return data.filter((text) => text !== '[DONE]').map((text): unknown => JSON.parse(text));
}
