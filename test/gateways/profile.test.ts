import { describe, expect, test } from 'vitest';
import { Chat, createGateway, defineGateway, openRouter } from '../../src/core.ts';
import {
  Gateway,
  type GatewayOptions,
  type GatewayProfile,
  InvalidInputError,
  type JsonObject,
  UnsupportedByGatewayError,
} from '../../src/index.ts';
import { bodyOf, failureOf, json, scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const image = { created: 1, data: [{ url: 'https://files.test/1.png' }] };
const params = { model: 'm-image', prompt: 'A fox', size: '1024x1024' };

/** A gateway that the package does not know. */
const other: GatewayProfile = {
  name: 'other',
  paths: { 'images.generate': '/v1/pictures', 'videos.retrieve': '/jobs/{task_id}' },
  requests: {
    'images.generate': {
      names: { prompt: 'text', quality: null },
      write: (body) => ({ ...body, kind: 'picture' }),
    },
  },
  answers: { 'images.generate': ({ pictures }) => ({ created: 1, data: pictures }) },
};

function getProblem(gateway: unknown): string {
  const options = untyped<GatewayOptions>({ gateway });
  try {
    return `nothing, ${new Gateway(options).baseURL}`;
  } catch (error) {
    if (InvalidInputError.isInstance(error)) return error.message;
    throw error;
  }
}

describe('a profile', () => {
  test('defines path, field names, body and reading of an operation', async () => {
    const { client, requests } = scripted([json({ pictures: image.data })], { gateway: other });

    const answer = await client.images.generate(params);

    expect(answer.data).toEqual(image.data);
    expect(requests[0]?.url).toBe('https://gateway.test/v1/pictures');
    expect(await bodyOf(requests[0])).toEqual({
      model: 'm-image',
      text: 'A fox',
      size: '1024x1024',
      kind: 'picture',
    });
  });

  test('leaves other operations unchanged', async () => {
    const { client, requests } = scripted([json({ data: [] })], { gateway: other });

    await client.models.list();

    expect(requests[0]?.url).toBe('https://gateway.test/v1/models');
  });

  test('rejects an unsupported parameter before anything is sent', async () => {
    const { client, requests } = scripted([json(image)], { gateway: other });

    const error = await failureOf(client.images.generate({ ...params, quality: 'high' }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field: 'quality', outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });

  test('sends such a parameter as extraBody', async () => {
    const { client, requests } = scripted([json({ pictures: image.data })], { gateway: other });

    await client.images.generate(params, { extraBody: { quality: 'high' } });

    expect(await bodyOf(requests[0])).toMatchObject({ quality: 'high', text: 'A fox' });
  });

  test('a profile that cannot read a paid response keeps it on the error', async () => {
    const answers = { 'images.generate': ({ missing }: JsonObject) => JSON.parse(String(missing)) };
    const { client, requests } = scripted([json(image)], { gateway: { name: 'other', answers } });

    const answer = await client.images.generate(params);

    expect(answer.data).toEqual(image.data);
    expect(requests).toHaveLength(1);
  });

  test('names the headers that hold the request id', async () => {
    const headers = { 'x-request-id': 'proxy', 'x-trace': 'own' };
    const gateway = { ...other, requestIdHeaders: ['x-trace'] };
    const { client } = scripted([Response.json({ data: [] }, { headers })], { gateway });

    const { request_id: requestId } = await client.models.list().withResponse();

    expect(requestId).toBe('own');
  });

  test('counts a route at its path as charged', async () => {
    const { client, requests } = scripted([json({}, 502)], { gateway: other });

    await failureOf(client.post('/v1/pictures', { body: params }));

    expect(requests).toHaveLength(1);
  });

  test('rejects unsupported operations before anything is sent', async () => {
    const { client, requests } = scripted([json(image)], { gateway: 'openai' });
    const question = { vendorPrefix: 'kling', taskId: 'task_1' };

    const error = await failureOf(client.videos.retrieveFromVendor(question));

    expect(error).toBeInstanceOf(UnsupportedByGatewayError);
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });

  test.each([
    ['open-router', '"new-api", "openrouter", "litellm", "openai"'],
    [{ hosts: [] }, 'gateway.name: must be text'],
    [{ name: 'x', host: 'y' }, 'gateway.host: is an unknown field'],
    [{ name: 'x', hosts: 'y' }, 'gateway.hosts: must be a list'],
    [{ name: 'x', paths: { 'images.make': '/x' } }, 'gateway.paths.images.make: is an unknown'],
    [{ name: 'x', paths: { 'images.generate': 'images' } }, 'gateway.paths.images.generate: must'],
    [{ name: 'x', paths: { 'videos.retrieve': '/jobs' } }, 'must contain {task_id}'],
    [
      { name: 'x', requests: { 'videos.create': { body: 'xml' } } },
      'gateway.requests.videos.create.body: must be one of',
    ],
    [
      { name: 'x', requests: { 'videos.create': { names: { seconds: 5 } } } },
      'gateway.requests.videos.create.names.seconds: must be text or null',
    ],
    [{ name: 'x', answers: { 'videos.create': {} } }, 'gateway.answers.videos.create: must be a f'],
    [{ name: 'x', readCost: 1 }, 'gateway.readCost: must be a function'],
    [
      { name: 'x', account: { prices: { path: '/prices' } } },
      'gateway.account.prices.read: must be a function',
    ],
    [{ name: 'x', account: { balance: [{ paths: [] }] } }, 'gateway.account.balance[0].read'],
    [
      { name: 'x', account: { charge: { path: '/a b?id={id}', read: String } } },
      'gateway.account.charge.path: must be a path such as "/v1/images" or "/api/usage?id={id}"',
    ],
    [
      { name: 'x', account: { isUnsupported: true } },
      'gateway.account.isUnsupported: must be a function',
    ],
    [{ name: 'x', sentIdHeader: 'a b' }, 'gateway.sentIdHeader: must be the name of a header'],
  ])('%j is rejected by the constructor', (gateway, problem) => {
    expect(getProblem(gateway)).toContain(problem);
  });
});

describe('createGateway()', () => {
  const options = { apiKey: 'sk-test', baseURL: 'https://gateway.test' } as const;

  test('accepts a profile', () => {
    const client = createGateway(
      { ...options, gateway: defineGateway(openRouter) },
      { chat: Chat },
    );

    expect(client.toJSON()).toEqual({ baseURL: 'https://gateway.test/api' });
  });

  test('rejects names of profiles', () => {
    expect(() => createGateway({ ...options, gateway: 'openrouter' }, { chat: Chat })).toThrow(
      'must be "auto" or defineGateway(profile), not "openrouter"',
    );
  });
});
