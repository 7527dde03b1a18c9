import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { assert, equal } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh } from '../harness/emulator.ts';
import type { World } from '../harness/world.ts';

/** The answer of a server to a page, as the AI SDK reads it there. */
async function readAnswer({ control }: World): Promise<UIMessage | undefined> {
  const transport = new DefaultChatTransport({ api: `${control}/ai-sdk-chat` });
  const stream = await transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'chat-1',
    messageId: undefined,
    messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Weather in Rome?' }] }],
    abortSignal: undefined,
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, onError: () => {} })) last = message;
  return last;
}

/** Reads a server that streams with the AI SDK, as a page does. */
export const aiSDKChecks: readonly Check[] = [
  {
    name: 'a page reads toUIMessageStreamResponse, with the call of a tool and its result',
    async run(world) {
      const { remote } = await fresh(world);
      const message = await readAnswer(world);
      const parts = message?.parts ?? [];
      const tool = parts.find(({ type }) => type === 'tool-weather');
      assert(tool !== undefined && 'output' in tool, 'Missing result of a tool');
      equal(JSON.stringify(tool.output), '{"city":"Rome","sky":"clear"}', 'output');
      const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      equal(texts.join(''), 'weather says: {"city":"Rome","sky":"clear"}', 'text');
      equal(await remote.charges(), 2, 'charges');
    },
  },
  {
    name: 'a page sees that the stream behind its server was cut, and it is paid for once',
    async run(world) {
      const { remote } = await fresh(world);
      await remote.fail({ type: 'cut-events', after: 3 });
      const message = await readAnswer(world);
      const called = message?.parts.some(
        (part) => 'state' in part && part.state === 'output-available',
      );
      assert(called === false, 'A tool was called');
      equal(await remote.charges(), 1, 'charges');
    },
  },
];
