import TheirOpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { Gateway, GatewayError } from '../../../src/index.ts';

const client = new Gateway({ apiKey: 'sk-1', baseURL: 'https://gateway.test' });

/** Reads a path such as `responses.create` off a client. */
const read = (path: string): unknown =>
  path.split('.').reduce<unknown>((owner, name) => Reflect.get(Object(owner), name), client);

function call(path: string): unknown {
  const method = read(path);
  if (typeof method !== 'function') throw new Error(`${path} is not a function.`);
  return Reflect.apply(method, undefined, [{ model: 'm' }]);
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
    ['beta.chat.completions.parse', /chat\.completions\.parse\(\)/],
    ['beta.assistants.create', /runTools\(\)/],
    ['vectorStores.create', /request\(\{ method, path, body \}\)/],
    ['fineTuning.jobs.create', /request\(\{ method, path, body \}\)/],
    ['webhooks.unwrap', /request\(\{ method, path, body \}\)/],
  ])('client.%s() throws an error that names the alternative', (path, advice) => {
    expect(() => call(path)).toThrow(GatewayError);
    expect(() => call(path)).toThrow(advice);
  });

  test('covers every resource of the openai package', () => {
    const theirs = new TheirOpenAI({ apiKey: 'sk-1' });
    const options = [
      'logger',
      '_options',
      'adminAPIKey',
      'organization',
      'project',
      'webhookSecret',
    ];
    const resources = Object.keys(theirs).filter(
      (name) => typeof Reflect.get(theirs, name) === 'object' && !options.includes(name),
    );

    for (const name of resources) expect(read(name), name).toBeTypeOf('object');
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
