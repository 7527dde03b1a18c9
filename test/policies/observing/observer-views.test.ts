// Observers can read everything, and change nothing of what the caller gets.
import { expect, test } from 'vitest';
import { tracingChannel } from 'node:diagnostics_channel';
import type { Gateway, ObservedEnd, ObservedResponse, Observer } from '../../../src/index.ts';
import { collect, emulated, eventStream, failureOf, scripted } from '../../helpers/clients.ts';

const nothing = (): void => {};

/** Empties a value as far as it can be reached and changed. */
function vandalize(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  // The error is the one that the caller gets.
  if (value instanceof Error) return;
  seen.add(value);
  if (ArrayBuffer.isView(value)) {
    new Uint8Array(value.buffer).fill(0xff);
    return;
  }
  for (const name of Reflect.ownKeys(value)) vandalize(Reflect.get(value, name), seen);
  if (Array.isArray(value)) value.splice(0);
  for (const name of Object.keys(value)) {
    Reflect.set(value, name, 'changed by an observer');
    Reflect.deleteProperty(value, name);
  }
}

const vandal: Observer = {
  start(call) {
    vandalize(call);
    return {
      attempt(request) {
        vandalize(request);
        return (response) => vandalize(response);
      },
      end: (end) => vandalize(end),
    };
  },
};

const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hello' }] };

const calls: Record<string, (client: Gateway) => PromiseLike<unknown>> = {
  chat: ({ chat }) => chat.completions.create(ask),
  parse: ({ chat }) => chat.completions.parse(ask),
  'a stream': async ({ chat }) => {
    const stream = await chat.completions.create({ ...ask, stream: true });
    const chunks = await collect(stream);
    return [chunks.length, stream.partial, stream.usage];
  },
  'a helper': ({ chat }) => chat.completions.stream(ask).finalChatCompletion(),
  generation: async ({ generate }) => {
    const answer = await generate.content({ model: 'gemini-2.5-flash', contents: 'Hello' });
    return [answer, answer.text];
  },
  embeddings: ({ embeddings }) => embeddings.create({ model: 'm-embedding', input: ['a', 'b'] }),
  'many embeddings': ({ embeddings }) =>
    embeddings.createMany({ model: 'm-embedding', input: ['a', 'b'] }),
  images: ({ images }) => images.generate({ model: 'm-image', prompt: 'A cat' }),
  'a video': ({ videos }) => videos.create({ model: 'm-video', prompt: 'A boat' }),
  models: async ({ models }) => [await models.list(), await collect(models.list())],
  'a route': (client) => client.get('/v1/models'),
};

/** Fields that differ from run to run. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, item: unknown) =>
      /^(id|task_id|responseId|created|created_at|createTime|url)$/.test(name) ? name : item,
    ),
  );

test.each(Object.entries(calls))(
  '%s: the caller receives the same response',
  async (_name, call) => {
    const plain = await call(emulated().client);
    const observed = await call(emulated({ observer: vandal }).client);

    expect(withoutIds(observed)).toEqual(withoutIds(plain));
  },
);

test('errors and usage are unchanged too', async () => {
  const usage = { prompt_tokens: 7, prompt_tokens_details: { cached_tokens: 3 } };
  const body = { error: { message: 'no', type: 'x', code: 'y', details: { usage } } };
  const answer = Response.json(body, { status: 400 });
  const { client } = scripted([answer], { observer: vandal });

  const error = await failureOf(client.chat.completions.create(ask));

  expect(error).toMatchObject({ status: 400, code: 'y', error: body.error });
});

test('the view has the fields of the response, with getters and methods', async () => {
  const ends: ObservedEnd[] = [];
  const observer: Observer = { start: () => ({ end: (end) => void ends.push(end) }) };
  const { client } = emulated({ observer });

  const completion = await client.chat.completions.create(ask);
  const generated = await client.generate.content({ model: 'gemini-2.5-flash', contents: 'Hi' });
  const page = await client.models.list();
  const many = await client.embeddings.createMany({ model: 'm-embedding', input: ['a'] });
  const [chat, gemini, models, vectors] = ends.map(({ answer }) => answer);

  expect(chat).toEqual(completion);
  expect(chat).not.toBe(completion);
  expect(Reflect.get(Object(chat), '_request_id')).toBe(completion._request_id);
  expect(Reflect.get(Object(gemini), 'text')).toBe(generated.text);
  expect(gemini).toEqual(generated);
  expect(models).toEqual(page);
  expect(Reflect.apply(Reflect.get(Object(models), 'getPaginatedItems'), models, [])).toEqual(
    page.data,
  );
  expect(Reflect.get(Object(vectors), 'data')[0].embedding).toEqual(many.vectors[0]);
  expect(Reflect.get(Object(vectors), 'data')[0].embedding).not.toBe(many.vectors[0]);
});

test('the response is copied once, when it is first read', async () => {
  const ends: ObservedEnd[] = [];
  const observer: Observer = { start: () => ({ end: (end) => void ends.push(end) }) };
  const { client } = emulated({ observer: [observer, observer] });

  const completion = await client.chat.completions.create(ask);
  completion.model = 'renamed by the caller';

  // Nothing had been copied before.
  expect(ends[0]?.answer).toMatchObject({ model: 'renamed by the caller' });
  completion.model = 'renamed again';
  expect(ends[0]?.answer).toMatchObject({ model: 'renamed by the caller' });
  expect(ends[1]?.answer).toBe(ends[0]?.answer);
});

test('hooks and the tracing channel receive copies too', async () => {
  const messages: unknown[] = [];
  const channel = tracingChannel<object>('model-gateway:call');
  const asyncEnd = (message: unknown) => {
    messages.push(structuredClone(Reflect.get(Object(message), 'result')));
    vandalize(message);
  };
  const subscriber = {
    start: nothing,
    end: nothing,
    asyncStart: nothing,
    asyncEnd,
    error: nothing,
  };
  channel.subscribe(subscriber);
  const onResponse = (response: ObservedResponse) => vandalize(response);
  const { client } = emulated({ onRequest: vandalize, onResponse });
  try {
    const completion = await client.chat.completions.create(ask);
    const expected = structuredClone(completion);
    await expect.poll(() => messages).toHaveLength(1);

    expect(completion).toEqual(expected);
    expect(completion.choices).toHaveLength(1);
    expect(messages[0]).toEqual(completion);
  } finally {
    channel.unsubscribe(subscriber);
  }
});

test('a failed stream leaves its partial response unchanged', async () => {
  const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'Hi' } }] };
  const { client } = scripted([eventStream(chunk)], { observer: vandal });
  const stream = await client.chat.completions.create({ ...ask, stream: true });

  const error = await failureOf(collect(stream));

  expect(error).toMatchObject({ partial: { choices: [{ message: { content: 'Hi' } }] } });
});
