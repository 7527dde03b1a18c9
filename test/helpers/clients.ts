import { Gateway } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import type { Drift } from '../../src/answers/reader.ts';
import { createEmulator, type EmulatorOptions } from '../../src/testing/index.ts';

const baseURL = 'https://gateway.test';

/** A client with its own emulator. */
export function emulated(options: GatewayOptions = {}, setup: EmulatorOptions = {}) {
  const emulator = createEmulator(setup);
  const { apiKey, fetch } = emulator;
  const client = new Gateway({
    apiKey,
    fetch,
    baseURL: emulator.baseURL,
    logLevel: 'off',
    ...options,
  });
  return { client, emulator };
}

/** A response, an error to throw, or a function that returns one of them. */
type Answer =
  | Response
  | Error
  | ((request: Request) => Response | Error | Promise<Response | Error>);

/** A client that receives the given responses, one after the other; the last one repeats. */
export function scripted(answers: readonly Answer[], options: GatewayOptions = {}) {
  const requests: Request[] = [];
  const drifts: Drift[] = [];
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL,
    logLevel: 'off',
    onDrift: (drift) => drifts.push(drift),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      requests.push(request.clone());
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      const made = typeof answer === 'function' ? await answer(request) : answer;
      if (made === undefined) throw new Error('Missing response for this request');
      if (made instanceof Error) throw made;
      return made;
    },
    ...options,
  });
  return { client, requests, drifts };
}

/** A JSON response to every request. */
export function json(body: unknown, status = 200): () => Response {
  return () => Response.json(body, { status });
}

/** An event stream in response to every request. Text, such as `[DONE]`, is sent unchanged. */
export function eventStream(...events: unknown[]): () => Response {
  const data = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
  const body = data.map((line) => `data: ${line}\n\n`).join('');
  return () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Returns all items of a stream. */
export async function collect<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The JSON body of a request. */
export async function bodyOf(request: Request | undefined): Promise<unknown> {
  return request === undefined ? undefined : request.clone().json();
}

/** Returns the rejection of a promise; throws if it is fulfilled. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('The call did not fail.');
}

/** Calls a method with parameters that its types forbid, as JavaScript can. */
export function misuse(
  target: object,
  method: string,
  ...params: readonly unknown[]
): Promise<unknown> {
  const found: unknown = Reflect.get(target, method);
  if (typeof found !== 'function') throw new Error(`Missing method ${method}`);
  const called: unknown = Reflect.apply(found, target, params);
  return Promise.resolve(called);
}
