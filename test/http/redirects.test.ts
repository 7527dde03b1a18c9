import { describe, expect, test } from 'vitest';
import { APIError, UnexpectedRedirectError } from '../../src/errors/api-errors.ts';
import { VideoSubmitUnknownError } from '../../src/errors/operation-errors.ts';
import type { Gateway } from '../../src/gateway.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';

const models = { object: 'list', data: [{ id: 'm' }] };
const list = (client: Gateway) => client.models.list();
const draw = (client: Gateway) => client.images.generate({ model: 'm', prompt: 'x' });

const answer = (status: number, location?: string) => () =>
  new Response(null, { status, headers: location === undefined ? {} : { location } });
const to = (location: string) => answer(302, location);

/** What browsers show of a redirect. */
const hidden = () =>
  Object.defineProperties(new Response(), {
    type: { value: 'opaqueredirect' },
    status: { value: 0 },
    ok: { value: false },
  });

const headersOf = (request: Request | undefined) =>
  Object.fromEntries(request?.headers.entries() ?? []);

async function apiErrorOf(promise: PromiseLike<unknown>): Promise<APIError> {
  const error = await failureOf(promise);
  if (APIError.isInstance(error)) return error;
  throw error;
}

const path = '/v1/images/generations';

describe('a redirect of a POST', () => {
  test.each([
    [307, '/other', 'asks for the same request elsewhere', 'rejected'],
    [308, 'https://elsewhere.test/', 'asks for the same request elsewhere', 'rejected'],
    [301, `http://gateway.test${path}`, 'names the same resource at another origin', 'rejected'],
    [302, `https://www.gateway.test${path}`, 'names the same resource elsewhere', 'rejected'],
    [301, '/other', 'may lead to the result', 'unknown'],
    [302, '/other', 'may lead to the result', 'unknown'],
    [302, 'https://elsewhere.test/login', 'may lead to the result', 'unknown'],
    [302, path, 'may lead to the result', 'unknown'],
    [303, `https://www.gateway.test${path}`, 'leads to the result', 'unknown'],
    [303, '/v1/images/1', 'leads to the result', 'unknown'],
    [300, '/other', 'offers a choice', 'unknown'],
    [304, undefined, 'makes no sense', 'unknown'],
    [302, undefined, 'leads nowhere', 'unknown'],
    [302, 'http://', 'leads nowhere', 'unknown'],
  ])('with status %i to %s %s: %s, and never followed', async (status, location, _, outcome) => {
    const { client, requests } = scripted([answer(status, location)]);

    const failure = await apiErrorOf(draw(client));

    expect(requests).toHaveLength(1);
    expect(requests[0]?.redirect).toBe('manual');
    expect(failure).toBeInstanceOf(UnexpectedRedirectError);
    expect(failure).toMatchObject({ outcome, status, evidence: { phase: 'headers', status } });
    expect(failure.message).toContain('check baseURL');
  });

  test('that a browser hides may be any of them', async () => {
    const { client, requests } = scripted([hidden]);

    const failure = await apiErrorOf(draw(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(UnexpectedRedirectError);
    expect(failure.status).toBeUndefined();
    expect(failure.outcome).toBe('unknown');
  });

  test('is never followed by a call that may be repeated, either', async () => {
    for (const options of [
      { retryUnknownOutcome: true },
      { idempotency: { header: 'Idempotency-Key' } },
    ]) {
      const { client, requests } = scripted([answer(303, '/v1/images/1')], options);

      expect(await apiErrorOf(draw(client))).toBeInstanceOf(UnexpectedRedirectError);
      expect(requests).toHaveLength(1);
    }
  });

  test('leaves it open whether a video was submitted', async () => {
    const { client, requests } = scripted([answer(303, '/v1/videos/1')]);

    const failure = await apiErrorOf(client.videos.create({ model: 'm', prompt: 'x' }));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
    expect(failure.cause).toBeInstanceOf(UnexpectedRedirectError);
  });

  test.each([
    ['https://files.test/a.png?sig=canary#x', 'https://files.test/a.png?[query]'],
    ['/a.png?sig=canary&x=1', '/a.png?[query]'],
    ['/a.png', '/a.png'],
  ])('to the signed URL %s does not get its query into the error', async (location, shown) => {
    const { client } = scripted([answer(303, location)]);

    const failure = await apiErrorOf(draw(client));

    expect(failure.headers?.get('location')).toBe(shown);
  });
});

describe('a redirect of a read', () => {
  test('that a browser hides is followed by the browser', async () => {
    const { client, requests } = scripted([hidden, json(models)]);

    await list(client);

    expect(requests.map(({ redirect }) => redirect)).toEqual(['manual', 'follow']);
  });

  test('at the same origin is followed with its headers', async () => {
    const { client, requests } = scripted([to('/v1/other?x=1'), json(models)], {
      defaultHeaders: { 'x-tenant': 'a' },
    });

    await list(client);

    expect(requests[1]?.url).toBe('https://gateway.test/v1/other?x=1');
    expect(headersOf(requests[1])).toMatchObject({
      authorization: 'Bearer sk-test',
      'x-tenant': 'a',
    });
  });

  test.each([
    'https://storage.test/file',
    'http://gateway.test/v1/models',
    'https://gateway.test:8443/v1/models',
    'https://sub.gateway.test/v1/models',
    'https://gateway.test.evil.test/v1/models',
    '//storage.test/file',
  ])('takes neither key nor headers to %s', async (location) => {
    const { client, requests } = scripted([to(location), json(models)], {
      defaultHeaders: { 'x-tenant': 'a', cookie: 'b=c' },
    });

    await list(client);

    expect(requests).toHaveLength(2);
    expect(headersOf(requests[1])).toEqual({ accept: '*/*' });
  });

  test('that comes back to its origin has lost its key', async () => {
    const { client, requests } = scripted([
      to('https://storage.test/'),
      to('https://gateway.test/v1/back'),
      json(models),
    ]);

    await list(client);

    expect(requests[2]?.url).toBe('https://gateway.test/v1/back');
    expect(headersOf(requests[2])).toEqual({ accept: '*/*' });
  });

  test('that leads to itself ends after 6 requests', async () => {
    const cancelled: string[] = [];
    const { client, requests } = scripted([
      ({ url }) =>
        new Response(new ReadableStream({ cancel: () => void cancelled.push(url) }), {
          status: 302,
          headers: { location: '/v1/models' },
        }),
    ]);

    const failure = await apiErrorOf(list(client));

    expect(failure).toBeInstanceOf(UnexpectedRedirectError);
    expect(requests).toHaveLength(6);
    expect(cancelled).toHaveLength(6);
  });

  test.each([
    'http://',
    'data:application/json,{}',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://gateway.test@elsewhere.test/',
    'https://user:pass@gateway.test/v1/models',
  ])('is not followed to %s', async (location) => {
    const { client, requests } = scripted([to(location)]);

    const failure = await apiErrorOf(list(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(UnexpectedRedirectError);
  });

  test('with no place to go is an error', async () => {
    const { client, requests } = scripted([answer(304)]);

    expect(await apiErrorOf(list(client))).toBeInstanceOf(UnexpectedRedirectError);
    expect(requests).toHaveLength(1);
  });
});
