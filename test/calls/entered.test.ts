import { expect, test } from 'vitest';
import { Chat, createGateway } from '../../src/core.ts';
import { Gateway } from '../../src/index.ts';
import { coverSource } from '../helpers/entered.ts';
import { completion } from '../helpers/transport.ts';

/*
 * The functions and files of this package between `chat.completions.create()` and `fetch`, and back. A number is there
 * to notice that a call has become longer.
 */

const takeEntries = coverSource();

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

const options = {
  apiKey: 'sk-test',
  baseURL: 'https://gateway.test',
  fetch: async () => Promise.resolve(Response.json({ ...completion, usage })),
};

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello' }] };

test.each([
  [
    'createGateway() with chat',
    () => createGateway(options, { chat: Chat }),
    160,
    /^policies\/observing\/(log|channel)\.ts /,
  ],
  // Spending is always counted, and the policies look whether a call asks for them.
  [
    'Gateway',
    () => new Gateway(options),
    192,
    /^(policies\/(observing\/(log|channel)|fallback\/fallback|modes\/output-modes)\.ts|resources\/account\/)/,
  ],
])(
  'a chat call of %s enters nothing of a feature that is not asked for',
  async (_, create, most, known) => {
    const client = create();
    for (let call = 0; call < 3; call += 1) {
      await takeEntries();
      await client.chat.completions.create(params);
    }
    const entries = [...(await takeEntries()).keys()].toSorted();
    const idle =
      /^(adapters|client\/openai|policies|programs|structured|tasks|uploads|resources\/(?!chat\/(chat|create|normalize|operations|protocol|schema)\.))/;

    expect(entries.filter((entry) => idle.test(entry) && !known.test(entry))).toEqual([]);
    expect(entries.length).toBeLessThanOrEqual(most);
  },
);
