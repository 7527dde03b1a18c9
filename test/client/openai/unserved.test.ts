import TheirOpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { Gateway, GatewayError } from '../../../src/index.ts';

const client = new Gateway({ apiKey: 'sk-1', baseURL: 'https://gateway.test' });

/** Reads a path such as `responses.create` off a client. */
const read = (path: string): unknown =>
  path
    .split('.')
    .filter(Boolean)
    .reduce<unknown>((owner, name) => Reflect.get(Object(owner), name), client);

function call(path: string): unknown {
  const method = read(path);
  if (typeof method !== 'function') throw new Error(`${path} is not a function.`);
  const owner = read(path.split('.').slice(0, -1).join('.'));
  return Reflect.apply(method, owner, [{ model: 'm' }]);
}

/** Public methods of the client of `openai` that are not for its own code. */
const isInternal = (name: string): boolean =>
  name.startsWith('_') || name === 'constructor' || protectedMethods.has(name);

/** Methods of the client of `openai` that its declarations mark as private or protected. */
const protectedMethods = new Set(
  `bearerAuth adminAPIKeyAuth authHeaders buildBody buildHeaders calculateDefaultRetryTimeoutMillis
  defaultIdempotencyKey defaultQuery fetch fetchWithAuth getUserAgent makeRequest makeStatusError
  methodRequest parseResponseWithTimeout prepareOptions prepareRequest readX509ResponseError
  responsePromise retryRequest shouldRetry stringifyQuery validateHeaders`.split(/\s+/),
);

/** The methods of `openai` that this client has. */
const served = new Set(
  `get post put patch delete request withOptions
  chat.completions.create chat.completions.parse chat.completions.stream chat.completions.runTools
  embeddings.create images.generate images.edit models.list models.retrieve
  responses.create responses.parse
  audio.speech.create audio.transcriptions.create audio.translations.create
  videos.create videos.retrieve videos.remix videos.downloadContent`.split(/\s+/),
);

/** Yields the paths of all methods of a client of `openai`, such as `chat.completions.create`. */
function* listMethods(owner: object, path = ''): Generator<string> {
  const prototypes = [owner];
  for (let one = owner; (one = Object(Object.getPrototypeOf(one))) !== Object.prototype;) {
    if (Object.getPrototypeOf(one) === null) break;
    prototypes.push(one);
  }
  const names = new Set(prototypes.flatMap((one) => Object.getOwnPropertyNames(one)));
  for (const name of names) {
    if (isInternal(name)) continue;
    const value: unknown = Reflect.get(owner, name);
    if (typeof value === 'function') yield path + name;
    else if (typeof value === 'object' && value !== null && '_client' in value) {
      yield* listMethods(value, `${path}${name}.`);
    }
  }
}

describe('unsupported APIs of openai', () => {
  test.each([
    ['responses.stream', /create\(\{ …, stream: true \}\)/],
    ['responses.retrieve', /get\('\/v1\/responses\/<id>'\)/],
    ['responses.cancel', /post\('\/v1\/responses\/<id>\/cancel'\)/],
    ['responses.delete', /delete\('\/v1\/responses\/<id>'\)/],
    ['responses.compact', /post\('\/v1\/responses\/compact', \{ body \}\)/],
    ['responses.connect', /stream: true/],
    ['responses.inputItems.list', /client\.responses\.inputItems\.list\(\) .*input_items/],
    ['conversations.create', /request\(/],
    ['files.create', /post\('\/v1\/files', \{ body: form \}\)/],
    ['uploads.create', /FormData/],
    ['batches.create', /createMany\(\)/],
    ['beta.assistants.create', /runTools\(\)/],
    ['vectorStores.create', /request\(\{ method, path, body \}\)/],
    ['fineTuning.jobs.create', /request\(\{ method, path, body \}\)/],
    ['realtime.clientSecrets.create', /a WebSocket of your own, or openai/],
    ['webhooks.unwrap', /webhooks\.unwrap\(\) of openai/],
  ])('client.%s() throws an error that names the alternative', (path, advice) => {
    expect(() => call(path)).toThrow(GatewayError);
    expect(() => call(path)).toThrow(advice);
  });

  test('every method of the openai package is served, or throws an error that says what to use', async () => {
    const methods = [...listMethods(new TheirOpenAI({ apiKey: 'sk-1' }))];
    const missing = methods.filter((path) => !served.has(path));

    expect(methods.length).toBeGreaterThan(200);
    expect([...served].filter((path) => !methods.includes(path))).toEqual([]);
    for (const path of served) expect(read(path), path).toBeTypeOf('function');
    for (const path of missing) {
      const failure: unknown = await (async () => call(path))().catch((error: unknown) => error);

      expect(failure, path).toBeInstanceOf(GatewayError);
      expect(failure, path).toMatchObject({
        outcome: 'not_sent',
        message: expect.stringMatching(`${path.split('.').at(-1)}\\(\\) .*\\. Use `),
      });
    }
  });

  test.each(['chat', 'chat.completions', 'videos', 'audio', 'images', 'models', 'responses'])(
    'client.%s has no other names',
    async (path) => {
      const resource = Object(read(path));

      for (const name of ['then', 'toJSON', 'lst', 'constructor.then', 'creat']) {
        expect(read(`${path}.${name}`), name).toBeUndefined();
      }
      expect(await resource).toBe(resource);
      expect('list' in resource).toBe(path === 'models');
      expect(() => JSON.stringify(resource)).not.toThrow();
    },
  );

  test('client.beta.chat.completions is client.chat.completions', () => {
    expect(read('beta.chat.completions')).toBe(client.chat.completions);
    expect(read('beta')).toBe(read('beta'));
    for (const method of ['create', 'parse', 'stream', 'runTools']) {
      expect(read(`beta.chat.completions.${method}`)).toBeTypeOf('function');
    }
  });

  test.each(['conversations', 'files', 'beta'])('%s is not in the client', async (name) => {
    expect(name in client).toBe(false);
    expect(Object.keys(client)).not.toContain(name);
    expect(Object.assign({}, client)).not.toHaveProperty(name);
    expect(JSON.stringify(client)).toBe('{"baseURL":"https://gateway.test"}');
    // Awaiting one is not a call.
    expect(await Promise.resolve(read(name))).toBe(read(name));
  });

  test('other names stay missing', () => {
    expect(read('then')).toBeUndefined();
    expect(read('response')).toBeUndefined();
    expect(client).toBeInstanceOf(Object);
    expect(Object.prototype.toString.call(client)).toBe('[object Object]');
  });
});
