import { describe, expect, test, vi } from 'vitest';
import { ChatCompletionStream } from '../../../src/index.ts';
import type { ChatCompletionMessageParam } from '../../../src/resources/chat/params.ts';
import { json, scripted } from '../../helpers/clients.ts';

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];
const params = { model: 'm', messages };

const ignore = (): void => {};

type Helper = ChatCompletionStream<unknown>;

/** Fails a helper, and returns the warnings that it logs. */
async function collectWarnings(
  use: (helper: Helper) => unknown,
  body: unknown = { error: { message: 'Bad request', code: 'bad' } },
): Promise<unknown[][]> {
  const warn = vi.fn<(...line: unknown[]) => void>();
  const logger = { error: warn, warn, info: warn, debug: () => {} };
  const { client } = scripted([json(body, 400)], { maxRetries: 0, logLevel: 'warn', logger });
  const helper = client.chat.completions.stream(params);
  void use(helper);
  await expect.poll(() => helper.ended).toBe(true);
  return warn.mock.calls;
}

const warning = [
  expect.stringMatching(/failed, and no listener or awaited promise received its error/),
  expect.objectContaining({ error: expect.stringContaining('400 Bad request') }),
];

describe('a failure of stream() is logged', () => {
  test.each<[string, (helper: Helper) => unknown]>([
    ['nothing is attached', () => {}],
    ['there is a listener for content only', (helper) => helper.on('content', () => {})],
    ['a final promise is not awaited', (helper) => helper.finalContent()],
    ['a promise for an event is not awaited', (helper) => helper.emitted('content')],
    [
      'the listener was removed',
      (helper) => {
        helper.on('error', ignore).off('error', ignore);
      },
    ],
  ])('a failure of stream() is logged if %s', async (_, use) => {
    expect(await collectWarnings(use)).toEqual([warning]);
  });

  test('a failure of stream() is logged if a run of tools has no listener', async () => {
    const warn = vi.fn<(...line: unknown[]) => void>();
    const logger = { error: warn, warn, info: warn, debug: () => {} };
    const options = { maxRetries: 0, logLevel: 'warn', logger } as const;
    const { client } = scripted([json({ error: { message: 'Bad request' } }, 400)], options);

    const runner = client.chat.completions.runTools({ ...params, tools: [] });
    await expect.poll(() => runner.ended).toBe(true);

    expect(warn.mock.calls).toEqual([warning]);
  });

  test('a failure of stream() is logged on the console without a client', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const lines = new Blob(['{"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n']).stream();

    const helper = ChatCompletionStream.fromReadableStream(lines);
    await expect.poll(() => helper.ended).toBe(true);

    expect(warn.mock.calls).toEqual([
      [warning[0], { error: expect.stringContaining('may have been cut') }],
    ]);
  });
});

describe('a failure of stream() is not logged', () => {
  test.each<[string, (helper: Helper) => unknown]>([
    ['there is a listener for it', (helper) => helper.on('error', ignore)],
    ['a final promise is awaited', (helper) => helper.finalContent().catch(ignore)],
    [
      'a promise is awaited with others',
      (helper) => Promise.all([helper.done(), helper.finalMessage()]).catch(ignore),
    ],
    ['a promise for an event is awaited', (helper) => helper.emitted('content').catch(ignore)],
    [
      'its chunks are read',
      async (helper) => {
        try {
          for await (const _ of helper);
        } catch {}
      },
    ],
    ['its events are read', (helper) => helper.events('chunk').next().catch(ignore)],
    ['its chunks go on as lines', (helper) => helper.toReadableStream()],
    ['it was aborted', (helper) => helper.abort()],
  ])('a failure of stream() is not logged if %s', async (_, use) => {
    expect(await collectWarnings(use)).toEqual([]);
  });
});
