import { describe, expect, test } from 'vitest';
import { StreamTruncatedError } from '../../src/index.ts';
import { chatProtocolFor } from '../../src/resources/chat/protocol.ts';
import { collectStream, streamFromValues } from '../../src/streams/open-stream.ts';
import {
  chunk,
  encode,
  openChat,
  readStream,
  respond,
  usage,
  watchedContext,
  wholeAnswer,
  wholeText,
} from '../helpers/sse.ts';

const collectTwo = (text: string) =>
  collectStream(respond(text), watchedContext().context, chatProtocolFor(2));

describe('responses with the other content type', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hi',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  };

  test('a whole completion in place of a stream is one chunk', async () => {
    for (const stream of [
      openChat(JSON.stringify(completion)),
      openChat(JSON.stringify(completion, undefined, 2)),
      streamFromValues(
        chatProtocolFor(1).fromResponse(completion),
        watchedContext().context,
        chatProtocolFor(1),
      ),
    ]) {
      const result = await readStream(stream);

      expect(result.items).toHaveLength(1);
      expect(result.items[0]).toMatchObject({
        object: 'chat.completion.chunk',
        choices: [{ delta: { content: 'Hi', tool_calls: [{ index: 0, id: 'c1' }] } }],
        usage,
      });
      expect(result.verdict).toBe('complete');
      expect(result.partial).toMatchObject(completion);
    }
  });

  test('a whole completion after events is not added to them', async () => {
    const events = encode(chunk({ content: 'H' }));

    const result = await readStream(openChat(`${events}${JSON.stringify(completion)}\n`));

    expect(result.items).toHaveLength(1);
    expect(result.error).toBeDefined();
    expect(result.partial).toMatchObject({ choices: [{ message: { content: 'H' } }] });
  });

  test('a whole completion needs no finish reason', async () => {
    const answer = { ...completion, choices: [{ message: { content: 'Hi' } }] };
    const values = chatProtocolFor(1).fromResponse(answer);

    for (const stream of [
      openChat(JSON.stringify(answer)),
      streamFromValues(values, watchedContext().context, chatProtocolFor(1)),
    ]) {
      expect(await readStream(stream)).toMatchObject({ error: undefined, verdict: 'complete' });
    }
  });

  test('a value that is not a completion has no events', () => {
    expect(chatProtocolFor(1).fromResponse({ ok: true })).toEqual([]);
  });

  test('an event stream in place of a completion is assembled', async () => {
    const watched = watchedContext();

    const whole = await collectStream(respond(wholeAnswer), watched.context, chatProtocolFor(1));

    expect(whole).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: wholeText }, finish_reason: 'stop' }],
      usage,
    });
    expect(watched.releases).toBe(1);
  });

  test('a truncated event stream is an error', async () => {
    const cut = encode(chunk({ content: 'Hel' }), '[DONE]');

    await expect(
      collectStream(respond(cut), watchedContext().context, chatProtocolFor(1)),
    ).rejects.toMatchObject({ verdict: 'no_finish_reason' });
    await expect(
      collectStream(
        respond(''),
        watchedContext({ onTruncated: 'allow' }).context,
        chatProtocolFor(1),
      ),
    ).rejects.toBeInstanceOf(StreamTruncatedError);
  });

  test('an event stream truncated between two choices is an error', async () => {
    const first = encode(chunk({ content: 'one' }, 'stop'));
    const second = encode({
      ...chunk({}),
      choices: [{ index: 1, delta: { content: 'two' }, finish_reason: 'stop' }],
    });
    await expect(collectTwo(first)).rejects.toMatchObject({
      verdict: 'no_terminator',
      partial: { choices: [{ message: { content: 'one' } }] },
    });
    expect((await collectTwo(first + second)).choices).toHaveLength(2);
    expect((await collectTwo(`${first}data: [DONE]\n\n`)).choices).toHaveLength(1);
  });
});
