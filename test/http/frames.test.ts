import inspector from 'node:inspector';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from '../../src/index.ts';
import type { Fetch } from '../../src/options/options.ts';

/*
 * The functions of this package between a call and its `fetch`: the stack that a reader sees who stops
 * there with a debugger, and has to read to follow the path of a call.
 */

const session = new inspector.Session();
let trace: inspector.Runtime.StackTrace | undefined;

beforeAll(() => {
  session.connect();
  session.on('Runtime.consoleAPICalled', ({ params }) => {
    trace = params.stackTrace;
  });
  session.post('Runtime.enable');
  session.post('Debugger.enable');
  session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 64 });
});

afterAll(() => session.disconnect());

/** The functions of `src` on the stack, also across every `await`, the innermost first. */
function ownFrames(): string[] {
  inspector.console.trace();
  const names: string[] = [];
  for (let part = trace; part !== undefined; part = part.parent) {
    const own = part.callFrames.filter(({ url }) => url.includes('/src/'));
    names.push(...own.map(({ functionName }) => functionName));
  }
  return names;
}

/** A client, and the frames of each request by its method and path. */
function watched(answer: () => Response) {
  const frames = new Map<string, string[]>();
  const fetch: Fetch = (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    frames.set(`${init?.method} ${pathname}`, ownFrames());
    return Promise.resolve(answer());
  };
  return { frames, client: new Gateway({ apiKey: 'sk-test', baseURL: 'https://gw.test', fetch }) };
}

const messages = [{ role: 'user' as const, content: 'Hi' }];

test('from create() to fetch there are at most 7 frames', async () => {
  const { client, frames } = watched(() =>
    Response.json({ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }),
  );
  await client.chat.completions.create({ model: 'm', messages });
  const names = frames.get('POST /v1/chat/completions') ?? [];
  expect(names.at(-1)).toBe('create');
  expect(names.length).toBeLessThanOrEqual(7);
});

test('from create() of a stream to fetch there are at most 7 frames', async () => {
  const { client, frames } = watched(() => new Response('data: [DONE]\n\n'));
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true });
  stream.close();
  const names = frames.get('POST /v1/chat/completions') ?? [];
  expect(names.at(-1)).toBe('create');
  expect(names.length).toBeLessThanOrEqual(7);
});

test('from createAndWait() to the fetch of a poll there are at most 13 frames', async () => {
  const { client, frames } = watched(() => Response.json({ id: 'task_1', status: 'completed' }));
  await client.videos.createAndWait({ model: 'm', prompt: 'A paper boat' });
  const names = frames.get('GET /v1/videos/task_1') ?? [];
  expect(names.at(-1)).toBe('createAndWait');
  expect(names.length).toBeLessThanOrEqual(13);
});
