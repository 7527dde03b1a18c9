import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growText } from '../../src/answers/pieces.ts';
import type { Stream } from '../../src/index.ts';
import type { ChatCompletionChunk } from '../../src/resources/chat/types.ts';
import { heldBytes } from '../helpers/flood.ts';
import { chunk, openChat } from '../helpers/sse.ts';

/** Events one by one, each created on demand. */
function respondWith(count: number, event: (position: number) => object): Response {
  const encoder = new TextEncoder();
  let position = 0;
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        for (const end = position + 1_000; position < end; position += 1) {
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(event(position))}\n\n`));
        }
        if (position >= count) controller.close();
      },
    }),
  );
}

const fourDigits = (at: number): string => String(at % 10_000).padStart(4, '0');

describe('a text that grows', () => {
  test('a growing text is the sum of its chunks', () => {
    const pieces = fc.array(fc.string({ maxLength: 200 }), { maxLength: 300 });
    fc.assert(
      fc.property(pieces, (list) => {
        const grown = list.reduce<string | undefined>(growText, undefined);
        expect(grown ?? '').toBe(list.join(''));
      }),
    );
  });

  test.each([
    { name: 'text', field: 'content', delta: (text: string) => ({ content: text }) },
    {
      name: 'arguments',
      field: 'tool_calls',
      delta: (text: string) => ({
        tool_calls: [{ index: 0, function: { name: 'f', arguments: text } }],
      }),
    },
  ])(
    'a growing text takes little more memory than its $name if its chunks are short',
    async ({ field, delta }) => {
      const count = 200_000;
      const read = async (chunks: number): Promise<Stream<ChatCompletionChunk>> => {
        const stream = openChat(respondWith(chunks, (at) => chunk(delta(fourDigits(at)))));
        const reading = async (): Promise<void> => {
          for await (const { id } of stream) if (id === '') break;
        };
        await expect(reading()).rejects.toThrow('ended without a finish reason');
        return stream;
      };
      // Code that is compiled once is not memory of the text.
      await read(2_000);
      const before = heldBytes();

      const stream = await read(count);

      const taken = heldBytes() - before;
      // A tree of the pieces would take more than 30 bytes for each.
      expect(taken / count).toBeLessThan(20);
      const message = stream.partial?.choices[0]?.message;
      expect(message).toHaveProperty(field);
      expect(JSON.stringify(message).length).toBeGreaterThan(4 * count);
    },
  );
});
