import { test } from 'vitest';
import {
  Gateway,
  toFile,
  toStreamingFile,
  type Fetch,
  type GatewayOptions,
} from '../../src/index.ts';
import { baseURL, expectGolden, inSequence, sectionsOf, toJSON } from './support.ts';

const model = 'm';
const messages = [{ role: 'user' as const, content: 'Hi' }];
const picture = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47])], 'a.png');
const sound = new File(['sound'], 'talk.MP3');
const order = { model, prompt: 'A boat' };

type Call = (client: Gateway) => unknown;

const calls: Readonly<Record<string, Call>> = {
  'models.list()': ({ models }) => models.list(),
  'models.retrieve()': ({ models }) => models.retrieve('meta/llama'),
  'chat.completions.create()': ({ chat }) =>
    chat.completions.create({ model, messages, temperature: 0, stop: ['a'], seed: undefined }),
  'chat.completions.create(), streamed': ({ chat }) =>
    chat.completions.create({ model, messages, stream: true }),
  'chat.completions.create(), streamed without usage': ({ chat }) =>
    chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: false },
    }),
  'chat.completions.stream()': ({ chat }) => chat.completions.stream({ model, messages }).done(),
  'chat.completions.create(), a conversation': ({ chat }) =>
    chat.completions.create({
      model,
      messages: [
        { role: 'system', content: 'Be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'https://cdn.test/a.png', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '7' },
      ],
    }),
  'generate.content(), text': ({ generate }) => generate.content({ model, contents: 'Hi' }),
  'generate.content(), a turn': ({ generate }) =>
    generate.content({
      model: 'publishers/g/models/m',
      contents: { role: 'user', parts: [{ text: 'Hi' }] },
      systemInstruction: 'Be kind',
      generationConfig: { maxOutputTokens: 5 },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    }),
  'generate.contentStream()': ({ generate }) =>
    generate.contentStream({ model, contents: [{ text: 'Hi' }] }),
  'embeddings.create()': ({ embeddings }) => embeddings.create({ model, input: ['a', 'b'] }),
  'embeddings.create(), base64': ({ embeddings }) =>
    embeddings.create({ model, input: 'a', encoding_format: 'base64', dimensions: 3 }),
  'embeddings.createForEngine()': ({ embeddings }) =>
    embeddings.createForEngine({ model: 'a/b c', input: 'a' }),
  'images.generate()': ({ images }) => images.generate({ ...order, n: 2, size: '1024x1024' }),
  'images.generate(), streamed': ({ images }) => images.generate({ ...order, stream: true }),
  'images.edit()': ({ images }) => images.edit({ ...order, image: picture, mask: picture, n: 1 }),
  'images.edit(), two images': ({ images }) => images.edit({ ...order, image: [picture, picture] }),
  'images.edit(), a URL': ({ images }) =>
    images.edit({ ...order, images: [{ image_url: 'https://cdn.test/a.png' }] }),
  'audio.speech.create()': ({ audio }) =>
    audio.speech.create({ model, input: 'Hi', voice: 'alloy', speed: 1.5 }),
  'audio.speech.create(), streamed': ({ audio }) =>
    audio.speech.create({ model, input: 'Hi', voice: 'alloy', stream_format: 'sse' }),
  'audio.transcriptions.create()': ({ audio }) =>
    audio.transcriptions.create({ model, file: sound, timestamp_granularities: ['word'] }),
  'audio.transcriptions.create(), streamed': ({ audio }) =>
    audio.transcriptions.create({ model, file: sound, stream: true }),
  'audio.translations.create()': ({ audio }) =>
    audio.translations.create({ model, file: sound, temperature: 0, response_format: 'srt' }),
  'audio.translations.create(), made bytes': async ({ audio }) =>
    audio.translations.create({ model, file: await toFile(new Uint8Array(4), 'a.wav') }),
  'audio.translations.create(), a stream': ({ audio }) => {
    const { body } = new Response('sound');
    if (body === null) throw new Error('It has a body.');
    return audio.translations.create({ model, file: toStreamingFile(body, 'a.wav') });
  },
  'videos.create()': ({ videos }) =>
    videos.create({ ...order, seconds: 8, size: '1280x720', metadata: { seed: 1 } }),
  'videos.create(), as JSON': ({ videos }) =>
    videos.create({ ...order, seconds: 8, metadata: { seed: 1 } }, { bodyFormat: 'json' }),
  'videos.create(), a file': ({ videos }) => videos.create({ ...order, input_reference: picture }),
  'videos.create(), a reference': ({ videos }) =>
    videos.create({ ...order, input_reference: { image_url: 'https://cdn.test/a.png' } }),
  'videos.create(), images': ({ videos }) =>
    videos.create({ ...order, images: ['https://cdn.test/a.png', 'https://cdn.test/b.png'] }),
  'videos.remix()': ({ videos }) => videos.remix('task/1', { prompt: 'At night' }),
  'videos.retrieve()': ({ videos }) => videos.retrieve('task 1?'),
  'videos.retrieveFromVendor()': ({ videos }) =>
    videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: 'task_1' }),
  'videos.downloadContent()': ({ videos }) => videos.downloadContent('task_1'),
  'get()': (client) => client.get('/things', { query: { a: [1, 2], b: null, c: 'x y' } }),
  'post(), events': (client) =>
    client.post('/v1/responses', { body: { stream: true }, stream: true }),
  'request()': (client) => client.request({ method: 'put', path: '/v1/things/1', body: [] }),
  'post()': (client) => client.post('/v1/things', { body: { a: 1 } }),
  "request('DELETE')": (client) => client.request('DELETE', '/v1beta/things/1'),
};

/** Clients whose options change the request. */
const clients: Readonly<Record<string, readonly [options: GatewayOptions, call: Call]>> = {
  'a base URL with a path': [{ baseURL: 'https://gateway.test/api/v1/' }, (c) => c.models.list()],
  'headers and query of the client': [
    { defaultHeaders: { 'x-a': '1', accept: null }, defaultQuery: { tenant: 't', n: [1, 2] } },
    (c) => c.models.list({ headers: { 'x-b': '2', 'content-type': 'text/plain' } }),
  ],
  'fields of the caller': [
    {},
    (c) => c.chat.completions.create({ model, messages }, { extraBody: { top_k: 3, model: 'n' } }),
  ],
  'a key from a function': [{ apiKey: async () => 'sk-other' }, (c) => c.models.list()],
  'a key of idempotency': [
    { idempotency: { header: 'Idempotency-Key' } },
    (c) => c.images.generate(order, { idempotencyKey: 'k-1' }),
  ],
  'options of fetch': [{ fetchOptions: { keepalive: true } }, (c) => c.models.list()],
};

/** The body of a request; of a form its fields. */
async function bodyInWords(request: Request): Promise<string[]> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.startsWith('multipart/')) {
    const text = await request.text();
    return text === '' ? [] : [text.startsWith('{') ? toJSON(JSON.parse(text)) : text];
  }
  const form = await request.formData();
  return [...form].map(([name, value]) => {
    if (typeof value === 'string') return `${name}: ${value}`;
    return `${name}: ${value.name}, ${value.type}, ${value.size} bytes`;
  });
}

async function describeRequest(call: Call, options: GatewayOptions): Promise<string> {
  const lines: string[] = [];
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const headers = [...request.headers].map(([name, value]) => `${name}: ${value}`);
    const { redirect, duplex = '', keepalive } = Object(init);
    lines.push(
      `${request.method} ${request.url}`,
      headers.join('; ').replaceAll(/(boundary=|content-length: )[\w-]+/g, '$1…'),
      `redirect ${redirect}${duplex && `, duplex ${duplex}`}${keepalive ? ', keepalive' : ''}`,
      ...(await bodyInWords(request)),
    );
    return new Response('{"error":{"message":"No"}}', { status: 400 });
  };
  const client = new Gateway({ apiKey: 'sk-test', baseURL, logLevel: 'off', fetch, ...options });
  await Promise.resolve(call(client)).catch((error: unknown) => {
    if (lines.length === 0) lines.push(String(error));
  });
  return lines.map((line) => `  ${line}\n`).join('');
}

test('every request', async () => {
  const own = Object.entries(calls).map(([name, call]) => [name, [{}, call]] as const);
  const rows = await inSequence(
    [...own, ...Object.entries(clients)],
    async ([name, [options, call]]) => [name, await describeRequest(call, options)] as const,
  );

  const about = 'What is sent: address, headers, how fetch is called, and the body or its fields.';
  await expectGolden('requests.txt', about, sectionsOf(rows));
});
