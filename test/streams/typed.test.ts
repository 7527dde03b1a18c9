import { describe, expect, test } from 'vitest';
import { StreamError, StreamTruncatedError } from '../../src/index.ts';
import { isObject } from '../../src/answers/objects.ts';
import { streamFromValues } from '../../src/streams/open-stream.ts';
import { typedProtocol } from '../../src/streams/protocol.ts';
import type { ImageGenStreamEvent } from '../../src/resources/images/types.ts';
import { createStream, encode, readStream, respond, watchedContext } from '../helpers/sse.ts';

const completed = {
  type: 'image_generation.completed',
  b64_json: 'AA==',
  usage: { total_tokens: 9 },
};
const preview = { type: 'image_generation.partial_image', b64_json: 'A', partial_image_index: 0 };

function protocolFor(expected?: number) {
  return typedProtocol<ImageGenStreamEvent>({
    schema: { fields: {} },
    endType: completed.type,
    expected,
    fromResponse: (response) => (isObject(response) && 'data' in response ? [completed] : []),
  });
}

function read(text: string, expected?: number) {
  return readStream(createStream(respond(text), watchedContext().context, protocolFor(expected)));
}

describe('a stream of images', () => {
  test.each([
    ['at the end of the connection', encode(preview, completed)],
    ['with a terminator', encode(preview, completed, '[DONE]')],
    ['with heartbeats and event names', `: PING\n\nevent: image\n${encode(completed)}`],
  ])('a stream of images is complete %s', async (_, text) => {
    const result = await read(text);

    expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
    expect(result.usage).toEqual(completed.usage);
    expect(result.partial).toEqual([completed]);
  });

  test('a stream of images throws if it is truncated, with the finished images', async () => {
    const cut = await read(encode(completed, preview), 2);
    const empty = await read(encode(preview, '[DONE]'));

    expect(cut.error).toBeInstanceOf(StreamTruncatedError);
    expect(cut.error).toMatchObject({ partial: [completed] });
    expect(empty.verdict).toBe('no_finish_reason');
  });

  test('a stream of images with a terminator may have fewer images than requested', async () => {
    expect((await read(encode(completed, '[DONE]'), 2)).verdict).toBe('complete');
  });

  test('a stream of images throws a typed error', async () => {
    const { error } = await read(
      encode(preview, { type: 'error', error: { type: 'x', message: 'Refused' } }, '[DONE]'),
    );

    expect(error).toBeInstanceOf(StreamError);
    expect(String(error)).toContain('Refused');
  });

  test('a stream of images may arrive as one response', async () => {
    const protocol = protocolFor();
    const values = protocol.fromResponse({ data: [] });

    const whole = await readStream(streamFromValues(values, watchedContext().context, protocol));
    const bare = await read('{"created":1,"data":[{"b64_json":"AA=="}]}');

    for (const { items, verdict } of [whole, bare]) {
      expect(items).toEqual([completed]);
      expect(verdict).toBe('complete');
    }
  });
});
