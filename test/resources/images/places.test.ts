import { describe, expect, test } from 'vitest';
import { readBase64 } from '../../../src/answers/bytes.ts';
import { UnexpectedResponseError } from '../../../src/index.ts';
import { collect, eventStream, failureOf, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, resolved } from '../../helpers/fake-time.ts';
import { mediaHeads } from '../../helpers/media.ts';

const order = { model: 'm-image', prompt: 'A paper boat' };
const url = 'https://cdn.example/boat.png';
const other = 'https://cdn.example/boat-2.png';
const bytes = Buffer.concat([mediaHeads.png, Buffer.alloc(300, 7)]);
const base64 = bytes.toString('base64');

/** By the place, a response with an image there. */
const places: readonly (readonly [place: string, body: unknown])[] = [
  ['data[].url', { data: [{ url }] }],
  [
    "Anthropic's source",
    { content: [{ type: 'image', source: { media_type: 'image/png', data: base64 } }] },
  ],
  [
    'inlineData, beside a draft',
    {
      candidates: [
        {
          content: {
            parts: [
              { thought: true, inlineData: { mimeType: 'image/png', data: 'iVBO'.repeat(80) } },
              { inlineData: { mimeType: 'image/png', data: base64 } },
            ],
          },
        },
      ],
    },
  ],
  ['images[].url', { images: [{ url, width: 1024, content_type: 'image/png' }], seed: 7 }],
  ['images[] of texts', { images: [url] }],
  [
    'output.results[]',
    { request_id: 'r', output: { task_status: 'SUCCEEDED', results: [{ url }] } },
  ],
  [
    'output.choices[].message.content[].image',
    { output: { choices: [{ message: { role: 'assistant', content: [{ image: url }] } }] } },
  ],
  ['result.image', { result: { image: url }, success: true, errors: [], messages: [] }],
  ['artifacts[].base64', { artifacts: [{ base64, seed: 1, finishReason: 'SUCCESS' }] }],
  ['data[] of texts', { data: [url] }],
  [
    'message.images[]',
    {
      choices: [
        {
          message: {
            content: 'Here it is.',
            images: [{ type: 'image_url', image_url: { url } }],
          },
        },
      ],
    },
  ],
  [
    'inlineData',
    {
      candidates: [
        {
          content: {
            parts: [{ text: 'A boat' }, { inlineData: { mimeType: 'image/png', data: base64 } }],
          },
        },
      ],
    },
  ],
  [
    'inline_data',
    {
      candidates: [
        { content: { parts: [{ inline_data: { mime_type: 'image/png', data: base64 } }] } },
      ],
    },
  ],
  [
    'predictions[].bytesBase64Encoded',
    { predictions: [{ bytesBase64Encoded: base64, mimeType: 'image/png' }] },
  ],
  [
    'inlineData, beside audio',
    {
      candidates: [
        {
          content: {
            parts: [
              { inlineData: { mimeType: 'audio/mpeg', data: 'SUQz'.repeat(80) } },
              { inlineData: { mimeType: 'image/png', data: base64 } },
            ],
          },
        },
      ],
    },
  ],
  ['two places', { data: { image_url: url }, output: { url } }],
  ['data.data[]', { code: 'success', message: '', data: { data: [{ url }] } }],
  ['data.image_urls[]', { code: 0, data: { image_urls: [url] } }],
  ['data.images[]', { data: { images: [{ url }] } }],
  ['data[].image_url', { data: [{ image_url: url }] }],
  ['data[].image_url.url', { data: [{ image_url: { url } }] }],
  ['data[].image', { data: [{ image: base64 }] }],
  ['a bare list of texts', [url]],
  ['a bare list of objects', [{ url }]],
  ['Markdown in a message', { choices: [{ message: { content: `Here: ![a boat](${url})` } }] }],
  [
    'Markdown, beside a link',
    { choices: [{ message: { content: `[Source](https://cdn.example/page) ![a boat](${url})` } }] },
  ],
  ['a URL in a message', { choices: [{ message: { content: `Here it is: ${url} (PNG)` } }] }],
  ['b64_json as a data URL', { data: [{ b64_json: `data:image/png;base64,${base64}` }] }],
  ['b64_json as a URL', { data: [{ b64_json: url }] }],
  ['url as base64', { data: [{ url: base64 }] }],
];

describe.each(places)('an image at %s', (_, body) => {
  fakeWaitingTime();

  const isURL = !JSON.stringify(body).includes(base64);
  const image = isURL ? { url } : { b64_json: base64 };

  test('an image is in data of the response', async () => {
    const { client, drifts, requests } = scripted([json(body)]);

    const { data } = await client.images.generate(order);

    expect(data).toEqual([expect.objectContaining(image)]);
    expect(requests).toHaveLength(1);
    expect(drifts).toEqual([]);
  });

  test('an image is in data of an edit', async () => {
    const { client } = scripted([json(body)]);

    expect((await client.images.edit({ ...order, image: other })).data).toMatchObject([image]);
  });

  test('an image is an event', async () => {
    const { client } = scripted([json(body)]);

    const events = await collect(await client.images.generate({ ...order, stream: true }));

    expect(events).toMatchObject([{ type: 'image_generation.completed', ...image }]);
  });

  test('an image is the result of a task', async () => {
    const { client } = scripted([
      json({ task_id: 'task_1', status: 'queued' }),
      json({ task_id: 'task_1', status: 'completed', result: body }),
    ]);

    const { data } = await resolved(client.images.wait('task_1', {}));

    expect(data).toMatchObject([image]);
  });
});

test.each([
  ['generation', 'image/png', bytes],
  ['generation', 'application/octet-stream', bytes],
  ['generation', 'image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
])('a file instead of JSON is an image: %s of %s', async (_, type, content) => {
  const answer = () => new Response(content, { headers: { 'content-type': type } });
  const media_type = type === 'application/octet-stream' ? 'image/png' : type;
  const image = { b64_json: content.toString('base64'), media_type };
  const { client } = scripted([answer]);

  const { data } = await client.images.generate(order);
  const events = await collect(await client.images.generate({ ...order, stream: true }));

  expect(data).toEqual([image]);
  expect(events).toMatchObject([{ type: 'image_generation.completed', ...image }]);
});

test.each([{ message: 'One was withheld' }, 'One was withheld'])(
  'an error beside images is kept, and the images too: %j',
  async (error) => {
    const { client, requests } = scripted([json({ images: [{ url }], error })]);

    const images = await client.images.generate(order);

    expect(images.data).toEqual([{ url }]);
    expect(images.error).toEqual({ message: 'One was withheld' });
    expect(requests).toHaveLength(1);
  },
);

test.each([
  { error: { message: 'No', url: 'https://docs.example/errors/a.png' } },
  { error: { message: 'No' }, url: 'https://docs.example/errors/a.png' },
  { error: { message: 'No' }, images: [] },
  { error: { message: 'No' }, input: { image: url } },
])('an error without an image is an error: %j', async (body) => {
  const { client } = scripted([json(body)], { maxRetries: 0 });

  expect(await failureOf(client.images.generate(order))).toMatchObject({
    message: expect.stringContaining('No'),
  });
});

test('several images stay in order, and copies are removed', async () => {
  const { client } = scripted([json({ images: [{ url }, { url: other }], output: [url, other] })]);

  expect((await client.images.generate(order)).data).toEqual([{ url }, { url: other }]);
});

test('other fields of the response stay', async () => {
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  const { client } = scripted([json({ created: 5, images: [{ url }], seed: 7, usage })]);

  expect(await client.images.generate(order)).toMatchObject({ created: 5, seed: 7, usage });
});

test.each([
  { data: [{ finish_reason: 'stop' }] },
  { data: { note: 'no image' } },
  { images: [{ id: 'img_1' }] },
  { input_image: url, prompt: url, callback_url: url, thumbnail: url },
])('a response without an image is an error with the whole body: %j', async (body) => {
  const { client } = scripted([json(body)]);

  const error = await failureOf(client.images.generate(order));

  expect(UnexpectedResponseError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ body: JSON.stringify(body), outcome: 'unknown' });
});

describe('base64', () => {
  const odd = Buffer.from([0xfb, 0xff, 0xfe, 0x01]);
  const plain = odd.toString('base64');

  test.each([
    ['plain', plain],
    ['URL-safe', plain.replaceAll('+', '-').replaceAll('/', '_')],
    ['without padding', plain.replaceAll('=', '')],
    ['with line breaks', `${plain.slice(0, 3)}\r\n${plain.slice(3)}\n`],
    ['in a data URL', `data:image/jpeg;base64,${plain}`],
    ['in a data URL with parameters', `DATA:image/jpeg;charset=utf-8; base64,${plain}`],
    ['escaped in a data URL', `data:image/jpeg;base64,${encodeURIComponent(plain)}`],
  ])('%s is plain in responses and events', async (_, text) => {
    const { client } = scripted([json({ data: [{ b64_json: text }] })]);
    const streamed = scripted([
      eventStream({ type: 'image_generation.completed', b64_json: text }, '[DONE]'),
    ]);

    const { data } = await client.images.generate(order);
    const events = await collect(await streamed.client.images.generate({ ...order, stream: true }));

    expect(data[0]?.b64_json).toBe(plain);
    expect(events[0]?.b64_json).toBe(plain);
    expect(data[0]?.media_type).toBe(/^data/i.test(text) ? 'image/jpeg' : undefined);
  });

  test.each(['not base64!', '', 'A', 'data:image/png;base64,', '===='])('%j is not', (text) => {
    expect(readBase64(text)).toBe(undefined);
  });

  test('a data URL with text is encoded', () => {
    expect(readBase64('data:image/svg+xml,%3Csvg%2F%3E')).toEqual({
      base64: btoa('<svg/>'),
      type: 'image/svg+xml',
    });
  });
});

describe('a stream of image.generation.result', () => {
  const result = {
    object: 'image.generation.result',
    created: 9,
    data: [{ b64_json: base64 }, { url }],
  };

  test('a stream of image.generation.result is a completed event for each image', async () => {
    const { client } = scripted([
      eventStream({ object: 'image.generation.chunk' }, result, '[DONE]'),
    ]);

    const events = await collect(await client.images.generate({ ...order, n: 2, stream: true }));

    expect(events.filter(({ type }) => type === 'image_generation.completed')).toMatchObject([
      { b64_json: base64, created_at: 9 },
      { url, b64_json: '' },
    ]);
  });

  test('a stream of image.generation.result is a whole response if no stream was requested', async () => {
    const { client } = scripted([eventStream(result, '[DONE]')]);

    const response = await client.images.generate(order);

    expect(response).toMatchObject({ created: 9, data: [{ b64_json: base64 }, { url }] });
  });

  test('a stream of image.generation.result fails if its last event has no image', async () => {
    const { client } = scripted([
      eventStream({ type: 'image_generation.completed', b64_json: '' }, '[DONE]'),
    ]);

    const error = await failureOf(client.images.generate({ ...order, stream: true }).then(collect));

    expect(error).toMatchObject({ name: 'StreamTruncatedError', outcome: 'unknown' });
    expect(String(error)).toContain('without an image');
  });

  test('a stream of image.generation.result is truncated if it is cut, in words that fit images', async () => {
    const partial = { type: 'image_generation.partial_image', b64_json: base64 };
    const { client } = scripted([eventStream(partial)]);

    const error = await failureOf(client.images.generate({ ...order, stream: true }).then(collect));

    expect(error).toMatchObject({ name: 'StreamTruncatedError' });
    expect(String(error)).not.toContain('finish reason');
  });
});
