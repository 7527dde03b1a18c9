// Other implementations of `fetch`: they type-check as the option `fetch`, and calls over a real socket work.
import crossFetch from 'cross-fetch';
import nodeFetch from 'node-fetch';
import { Agent as Agent7, fetch as fetch7 } from 'undici7';
import { Agent as Agent8, fetch as fetch8 } from 'undici8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway, type GatewayOptions } from '../../dist/index.js';
import { createEmulator, type EmulatorServer } from '../../dist/testing/index.js';
import { ask } from './emulator.ts';

const emulator = createEmulator();
let server: EmulatorServer;
beforeAll(async () => {
  server = await emulator.listen();
});
afterAll(() => server.close());

const clientWith = (options: GatewayOptions): Gateway =>
  new Gateway({ ...options, apiKey: emulator.apiKey, baseURL: server.url, logLevel: 'off' });

const implementations: readonly {
  readonly name: string;
  readonly options: GatewayOptions;
  /** True if it can send a `Blob`, as forms require. */
  readonly sendsForms: boolean;
}[] = [
  {
    name: 'undici 7 with an agent',
    options: { fetch: fetch7, fetchOptions: { dispatcher: new Agent7() } },
    sendsForms: true,
  },
  {
    name: 'undici 8 with an agent',
    options: { fetch: fetch8, fetchOptions: { dispatcher: new Agent8() } },
    sendsForms: true,
  },
  { name: 'node-fetch 3', options: { fetch: nodeFetch }, sendsForms: true },
  { name: 'cross-fetch', options: { fetch: crossFetch }, sendsForms: false },
  {
    name: 'a function literal',
    options: { fetch: (...input) => fetch(...input) },
    sendsForms: true,
  },
];

describe.each(implementations)('$name', ({ options, sendsForms }) => {
  test('receives a whole response', async () => {
    const { choices } = await clientWith(options).chat.completions.create(ask);

    expect(choices[0]?.message.content).toContain('Lisbon');
  });

  test('receives a stream', async () => {
    const stream = await clientWith(options).chat.completions.create({ ...ask, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';

    expect(text).toContain('Lisbon');
    expect(stream.verdict).toBe('complete');
  });

  test('receives a file', async () => {
    const speech = { model: 'm-speech', voice: 'alloy', input: 'Hello' };
    const file = await clientWith(options).audio.speech.create(speech);

    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  });

  test.runIf(sendsForms)('sends a form', async () => {
    const { id } = await clientWith(options).videos.create({ model: 'm-video', prompt: 'A boat' });

    expect(id).toMatch(/^task_/);
  });
});
