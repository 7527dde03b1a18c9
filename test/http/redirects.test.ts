import { describe, expect, test } from 'vitest';
import { type Gateway, UnexpectedRedirectError, VideoSubmitUnknownError } from '../../src/index.ts';
import { json, scripted } from '../helpers/clients.ts';
import { apiErrorOf } from '../helpers/transport.ts';

const models = { object: 'list', data: [{ id: 'm' }] };
const list = (client: Gateway) => client.models.list();
const draw = (client: Gateway) => client.images.generate({ model: 'm', prompt: 'x' });

const answer = (status: number, location?: string) => () =>
  new Response(null, { status, headers: location === undefined ? {} : { location } });
const to = (location: string) => answer(302, location);

/** A redirect, as browsers expose it. */
const hidden = () =>
  Object.defineProperties(new Response(), {
    type: { value: 'opaqueredirect' },
    status: { value: 0 },
    ok: { value: false },
  });

const listHeaders = (request: Request | undefined) =>
  Object.fromEntries(request?.headers.entries() ?? []);

const path = '/v1/images/generations';

describe('a redirect of a POST', () => {
  test.each([
    {
      status: 307,
      location: '/other',
      name: 'asks for the same request elsewhere',
      outcome: 'rejected',
    },
    {
      status: 308,
      location: 'https://elsewhere.test/',
      name: 'asks for the same request elsewhere',
      outcome: 'rejected',
    },
    {
      status: 301,
      location: `http://gateway.test${path}`,
      name: 'names the same resource at another origin',
      outcome: 'rejected',
    },
    {
      status: 302,
      location: `https://www.gateway.test${path}`,
      name: 'names the same resource elsewhere',
      outcome: 'rejected',
    },
    { status: 301, location: '/other', name: 'may lead to the result', outcome: 'unknown' },
    { status: 302, location: '/other', name: 'may lead to the result', outcome: 'unknown' },
    {
      status: 302,
      location: 'https://elsewhere.test/login',
      name: 'may lead to the result',
      outcome: 'unknown',
    },
    { status: 302, location: path, name: 'may lead to the result', outcome: 'unknown' },
    {
      status: 303,
      location: `https://www.gateway.test${path}`,
      name: 'leads to the result',
      outcome: 'unknown',
    },
    { status: 303, location: '/v1/images/1', name: 'leads to the result', outcome: 'unknown' },
    { status: 300, location: '/other', name: 'offers a choice', outcome: 'unknown' },
    { status: 304, location: undefined, name: 'makes no sense', outcome: 'unknown' },
    { status: 302, location: undefined, name: 'leads nowhere', outcome: 'unknown' },
    { status: 302, location: 'http://', name: 'leads nowhere', outcome: 'unknown' },
  ])(
    'a redirect of a POST with status $status to $location $name: $outcome, and never followed',
    async ({ status, location, outcome }) => {
      const { client, requests } = scripted([answer(status, location)]);

      const failure = await apiErrorOf(draw(client));

      expect(requests).toHaveLength(1);
      expect(requests[0]?.redirect).toBe('manual');
      expect(failure).toBeInstanceOf(UnexpectedRedirectError);
      expect(failure).toMatchObject({ outcome, status, evidence: { phase: 'headers', status } });
      expect(failure.message).toContain('check baseURL');
    },
  );

  test('a redirect of a POST that a browser hides has the outcome unknown', async () => {
    const { client, requests } = scripted([hidden]);

    const failure = await apiErrorOf(draw(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(UnexpectedRedirectError);
    expect(failure.status).toBeUndefined();
    expect(failure.outcome).toBe('unknown');
  });

  test('a redirect of a POST is never followed by a call that may be retried either', async () => {
    for (const options of [
      { retryUnknownOutcome: true },
      { idempotency: { header: 'Idempotency-Key' } },
    ]) {
      const { client, requests } = scripted([answer(303, '/v1/images/1')], options);

      expect(await apiErrorOf(draw(client))).toBeInstanceOf(UnexpectedRedirectError);
      expect(requests).toHaveLength(1);
    }
  });

  test('a redirect of a POST leaves the outcome of a video submission unknown', async () => {
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
  ])(
    'a redirect of a POST to the signed URL %s keeps its query out of the error',
    async (location, shown) => {
      const { client } = scripted([answer(303, location)]);

      const failure = await apiErrorOf(draw(client));

      expect(failure.headers?.get('location')).toBe(shown);
    },
  );
});

describe('a redirect of a read', () => {
  test('a redirect of a read that a browser hides is followed by the browser', async () => {
    const { client, requests } = scripted([hidden, json(models)]);

    await list(client);

    expect(requests.map(({ redirect }) => redirect)).toEqual(['manual', 'follow']);
  });

  test('a redirect of a read at the same origin is followed with its headers', async () => {
    const { client, requests } = scripted([to('/v1/other?x=1'), json(models)], {
      defaultHeaders: { 'x-tenant': 'a' },
    });

    await list(client);

    expect(requests[1]?.url).toBe('https://gateway.test/v1/other?x=1');
    expect(listHeaders(requests[1])).toMatchObject({
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
  ])('a redirect of a read sends neither key nor headers to %s', async (location) => {
    const { client, requests } = scripted([to(location), json(models)], {
      defaultHeaders: { 'x-tenant': 'a', cookie: 'b=c' },
    });

    await list(client);

    expect(requests).toHaveLength(2);
    expect(listHeaders(requests[1])).toEqual({ accept: '*/*' });
  });

  test('a redirect of a read that returns to its origin does not send the key again', async () => {
    const { client, requests } = scripted([
      to('https://storage.test/'),
      to('https://gateway.test/v1/back'),
      json(models),
    ]);

    await list(client);

    expect(requests[2]?.url).toBe('https://gateway.test/v1/back');
    expect(listHeaders(requests[2])).toEqual({ accept: '*/*' });
  });

  test('a redirect of a read that loops ends after 6 requests', async () => {
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
  ])('a redirect of a read is not followed to %s', async (location) => {
    const { client, requests } = scripted([to(location)]);

    const failure = await apiErrorOf(list(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(UnexpectedRedirectError);
  });

  test('a redirect of a read without a location is an error', async () => {
    const { client, requests } = scripted([answer(304)]);

    expect(await apiErrorOf(list(client))).toBeInstanceOf(UnexpectedRedirectError);
    expect(requests).toHaveLength(1);
  });
});
