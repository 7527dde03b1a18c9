import { expect, test } from 'vitest';
import { open, send } from './support.ts';

const page = { path: '/' };
const api = { path: '/api/hello' };

test('the page has a policy that allows only its own files', async () => {
  const playground = await open();

  const { status, headers, text } = await send(playground, '/');

  expect(status).toBe(200);
  expect(text).toContain('<title>Playground</title>');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
});

test.each([page, api])('$path is not served for another host name', async ({ path }) => {
  const playground = await open();
  const { token } = playground;

  for (const host of ['evil.example', 'evil.example:80', '127.0.0.1', '127.0.0.1:1', 'localhost']) {
    const answer = await send(playground, path, { host, 'x-playground-token': token });
    expect(answer, host).toMatchObject({ status: 421 });
    expect(answer.text).not.toContain('title');
  }
});

test('the playground is served for each name of this machine', async () => {
  const playground = await open();
  const { port } = new URL(playground.origin);

  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
    const headers = { host, origin: `http://${host}`, 'x-playground-token': playground.token };
    expect(await send(playground, '/api/hello', headers), host).toMatchObject({ status: 200 });
  }
});

test.each([page, api])('$path is not served to pages of other sites', async ({ path }) => {
  const playground = await open();
  const { port } = new URL(playground.origin);
  const { token } = playground;

  for (const origin of [
    'https://evil.example',
    'null',
    `https://127.0.0.1:${port}`,
    'http://127.0.0.1:1',
  ]) {
    const headers = { origin, 'x-playground-token': token };
    expect(await send(playground, path, headers), origin).toMatchObject({ status: 403 });
  }
});

test('a request that the browser marks as cross-site is rejected', async () => {
  const playground = await open();
  const headers = { 'x-playground-token': playground.token };

  const statuses = [];
  for (const site of ['cross-site', 'same-site', 'none', 'same-origin']) {
    const answer = await send(playground, '/api/hello', { ...headers, 'sec-fetch-site': site });
    statuses.push(answer.status);
  }

  expect(statuses).toEqual([403, 403, 403, 200]);
});

test('every route of the API requires the token of this start', async () => {
  const playground = await open();
  const other = await open();

  for (const token of ['', 'x', playground.token.slice(1), `${playground.token}x`, other.token]) {
    for (const [method, path] of [
      ['GET', '/api/hello'],
      ['GET', '/api/events'],
      ['PUT', '/api/calls/aaaaaaaa'],
      ['DELETE', '/api/calls'],
      ['POST', '/api/clock'],
    ] as const) {
      const answer = await send(playground, path, { 'x-playground-token': token }, method);
      expect(answer).toMatchObject({ status: 401 });
      expect(answer.text).toContain('Open the address shown in the terminal');
    }
  }
  // Not in the address either: addresses get into logs and histories.
  expect(await send(playground, `/api/hello?token=${playground.token}`)).toMatchObject({
    status: 401,
  });
});

test.each([
  '/../secret.html',
  '/assets/../../secret.html',
  '/%2e%2e/secret.html',
  '/..%2fsecret.html',
  '/assets/..%5c..%5csecret.html',
  '//secret.html',
  '/notes.txt',
  '/assets/',
  '/assets',
])('%s returns no file', async (path) => {
  const playground = await open();

  const answer = await send(playground, path);

  expect(answer.status).toBe(404);
  expect(answer.text).toBe('The file does not exist.');
});

test('files are read-only, with types that browsers do not sniff', async () => {
  const playground = await open();

  expect(await send(playground, '/assets/main.js')).toMatchObject({
    status: 200,
    text: 'export {};',
    headers: { 'content-type': 'text/javascript; charset=utf-8' },
  });
  expect(await send(playground, '/', {}, 'POST')).toMatchObject({ status: 405 });
});

test('preflights allow nothing for other sites', async () => {
  const playground = await open();

  const { headers, status } = await send(
    playground,
    '/api/calls/aaaaaaaa',
    {
      origin: 'https://evil.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'x-playground-token',
    },
    'OPTIONS',
  );

  expect(status).toBe(403);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});
