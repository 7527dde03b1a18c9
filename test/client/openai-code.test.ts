// Code as it stands in the README and the examples of the `openai` package, for the operations that
// the gateway has. Only the import and the constructor differ.
// oxlint-disable import/no-named-as-default-member -- its code names the errors so
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import OpenAI, { ParsingToolFunction, toFile, toStreamingFile } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function setUp(options: OpenAI.ClientOptions = {}) {
  const emulator = createEmulator();
  const client = new OpenAI({
    apiKey: emulator.apiKey,
    baseURL: `${emulator.baseURL}/v1`,
    fetch: emulator.fetch,
    ...options,
  });
  return { client, emulator };
}

const hello: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello!' }];

describe('chat', () => {
  test('a completion with a developer message', async () => {
    const { client } = setUp();

    const completion = await client.chat.completions.create({
      model: 'gpt-5.5',
      messages: [
        { role: 'developer', content: 'Talk like a pirate.' },
        { role: 'user', content: 'Are semicolons optional in JavaScript?' },
      ],
    });

    expect(completion.choices[0]?.message.content).toContain('semicolons');
  });

  test('parameters under the names of the namespace', async () => {
    const { client } = setUp();
    const params: OpenAI.Chat.ChatCompletionCreateParams = {
      messages: [{ role: 'user', content: 'Say this is a test' }],
      model: 'gpt-5.5',
    };

    const completion: OpenAI.Chat.ChatCompletion = await client.chat.completions.create(params);

    expect(completion.object).toBe('chat.completion');
  });

  test('a stream', async () => {
    const { client } = setUp();
    let text = '';

    const stream = await client.chat.completions.create({
      model: 'gpt-5.5',
      messages: [{ role: 'user', content: 'Say this is a test' }],
      stream: true,
    });
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content || '';

    expect(text).toContain('Say this is a test');
  });

  test('tools whose arguments have types', async () => {
    const { client } = setUp();
    const weather = new ParsingToolFunction<{ city: string }>({
      name: 'get_weather',
      description: 'The weather of a place',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      parse: (text) => JSON.parse(text),
      function: ({ city }) => `Sunny in ${city.toUpperCase()}`,
    });
    const params: OpenAI.Chat.ChatCompletionCreateParams = { model: 'gpt-5.5', messages: hello };

    const runner = client.chat.completions.runTools({ ...params, stream: false, tools: [weather] });
    await runner.finalContent();

    const result = runner.messages.find(({ role }) => role === 'tool');
    expect(result?.content).toMatch(/^Sunny in [^a-z]+$/);
  });

  test('a stream that is not read to its end', async () => {
    const { client } = setUp();
    let count = 0;

    const stream = await client.chat.completions.create({
      model: 'gpt-5.5',
      messages: hello,
      stream: true,
    });
    for await (const _ of stream) {
      count += 1;
      stream.controller.abort();
    }

    expect(count).toBe(1);
  });

  test('the helper, with its events and its final completion', async () => {
    const { client } = setUp();
    const deltas: string[] = [];

    const stream = client.chat.completions
      .stream({ model: 'gpt-5.5', messages: hello })
      .on('content', (delta, snapshot) => {
        expect(snapshot.endsWith(delta)).toBe(true);
        deltas.push(delta);
      });
    const chatCompletion = await stream.finalChatCompletion();

    expect(deltas.join('')).toBe(chatCompletion.choices[0]?.message.content);
  });

  test('vision input', async () => {
    const { client } = setUp();

    const completion = await client.chat.completions.create({
      model: 'gpt-5.5',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in this image?' },
            {
              type: 'image_url',
              image_url: { url: 'https://images.test/boat.jpg', detail: 'auto' },
            },
          ],
        },
      ],
    });

    expect(completion.choices[0]?.message.content).toContain('image');
  });
});

describe('embeddings, images and audio', () => {
  test('embeddings', async () => {
    const { client } = setUp();

    const embedding = await client.embeddings.create({
      model: 'text-embedding-3-small',
      input: 'Your text string goes here',
      encoding_format: 'float',
    });

    expect(embedding.data[0]?.embedding.length).toBeGreaterThan(0);
  });

  test('images are generated and edited', async () => {
    const { client } = setUp();

    const image = await client.images.generate({
      model: 'gpt-image-1',
      prompt: 'A cute baby sea otter',
      response_format: 'b64_json',
      size: '64x64',
    });
    const bytes = Buffer.from(image.data?.[0]?.b64_json ?? '', 'base64');
    const edited = await client.images.edit({
      model: 'gpt-image-1',
      image: await toFile(bytes, 'otter.png', { type: 'image/png' }),
      prompt: 'Add a hat',
    });

    expect(edited.data?.length).toBe(1);
  });

  test('speech to a buffer, and every kind of file', async () => {
    const { client } = setUp();
    const folder = await temporaryFolder();
    const path = join(folder, 'speech.mp3');

    const mp3 = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: 'the quick brown chicken jumped over the lazy dogs',
    });
    const buffer = Buffer.from(await mp3.arrayBuffer());
    await writeFile(path, buffer);
    const files = [
      createReadStream(path),
      new File([buffer], 'speech.mp3'),
      new Response(buffer, { headers: { 'content-type': 'audio/mpeg' } }),
      await toFile(buffer, 'speech.mp3'),
      await toFile(new Uint8Array(buffer), 'speech.mp3'),
      toStreamingFile(createReadStream(path), 'speech.mp3', { type: 'audio/mpeg' }),
    ];
    const texts: string[] = [];
    for (const file of files) {
      const translation = await client.audio.translations.create({ file, model: 'whisper-1' });
      texts.push(translation.text);
    }

    expect(texts).toEqual(files.map(() => 'the quick brown chicken jumped over the lazy dogs'));
  });
});

describe('errors, retries and time-outs', () => {
  test('an error has its status, its headers and its request id', async () => {
    const { client } = setUp();

    const caught = await client.chat.completions
      .create({ model: 'gpt-5.5', messages: [] })
      .catch((err) => err);
    const refused = await client.images
      .generate({ model: 'missing-model', prompt: 'x' })
      .catch(async (err) => {
        if (!(err instanceof OpenAI.APIError)) throw err;
        return [err.requestID, err.status, err.headers?.get('content-type'), err.code];
      });

    expect(caught).toBeInstanceOf(OpenAI.GatewayError);
    expect(refused).toEqual([
      expect.any(String),
      503,
      expect.stringContaining('json'),
      'model_not_found',
    ]);
  });

  test.each([
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [403, 'PermissionDeniedError'],
    [404, 'NotFoundError'],
    [409, 'ConflictError'],
    [422, 'UnprocessableEntityError'],
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
  ] as const)('status %i is a %s', async (status, name) => {
    const { client, emulator } = setUp({ maxRetries: 0 });
    emulator.fail({ fault: { type: 'error', status, code: 'some_code', message: 'Some message' } });

    const error = await client.chat.completions
      .create({ model: 'gpt-5.5', messages: hello })
      .catch((err) => err);

    expect(error).toBeInstanceOf(OpenAI[name]);
    expect(error.name).toBe(name);
  });

  test('retries and time-outs are options of the client and of the call', async () => {
    vi.useFakeTimers();
    const { client, emulator } = setUp({ maxRetries: 0, timeout: 20 * 1000 });
    emulator.fail({ fault: { type: 'hang' } });

    const pending = client.chat.completions
      .create({ model: 'gpt-5.5', messages: hello }, { timeout: 5 * 1000, maxRetries: 0 })
      .catch((err) => err);
    await vi.advanceTimersByTimeAsync(5_000);

    expect(await pending).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
    vi.useRealTimers();
  });

  test('an aborted call throws APIUserAbortError', async () => {
    const { client } = setUp();
    const controller = new AbortController();

    const pending = client.chat.completions
      .create({ model: 'gpt-5.5', messages: hello }, { signal: controller.signal })
      .catch((err) => err);
    controller.abort();

    expect(await pending).toBeInstanceOf(OpenAI.APIUserAbortError);
  });
});

describe('advanced use', () => {
  test('raw responses', async () => {
    const { client } = setUp();

    const httpResponse = await client.chat.completions
      .create({ model: 'gpt-5.5', messages: hello })
      .asResponse();
    const { data, response: raw } = await client.chat.completions
      .create({ model: 'gpt-5.5', messages: hello })
      .withResponse();

    expect(httpResponse.headers.get('content-type')).toContain('application/json');
    expect(httpResponse.statusText).toBe('');
    expect(raw.headers.get('X-Oneapi-Request-Id')).toBe(data._request_id);
  });

  test('lists are iterable', async () => {
    const { client } = setUp();
    const ids: string[] = [];

    for await (const model of client.models.list()) ids.push(model.id);

    expect(ids).toContain('m-large');
  });

  test('a custom logger receives the lines of the level', async () => {
    const lines: unknown[][] = [];
    const write = (...line: unknown[]): void => void lines.push(line);
    const { client } = setUp({
      logger: { debug: write, info: write, warn: write, error: write },
      logLevel: 'debug',
    });

    await client.chat.completions.create({ model: 'gpt-5.5', messages: hello });

    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain('Hello!');
  });

  test('undocumented routes below /v1, and undocumented parameters', async () => {
    const { client, emulator } = setUp();

    await client.post('/chat/completions', {
      body: { model: 'gpt-5.5', messages: hello, some_prop: 'foo' },
      query: { some_query_arg: 'bar' },
    });
    await client.chat.completions.create({
      model: 'gpt-5.5',
      messages: hello,
      // @ts-expect-error baz is not yet public
      baz: 'undocumented option',
    });

    expect(emulator.requests.map(({ path }) => path)).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
    ]);
    expect(JSON.stringify(emulator.requests)).toContain('undocumented option');
  });

  test('withOptions, default headers and fetch options', async () => {
    const { client, emulator } = setUp({ defaultHeaders: { 'x-team': 'a' } });
    const other = client.withOptions({ maxRetries: 5, fetchOptions: { keepalive: false } });

    await other.chat.completions.create({ model: 'gpt-5.5', messages: hello });

    expect(emulator.requests[0]?.headers).toMatchObject({ 'x-team': 'a' });
  });
});
