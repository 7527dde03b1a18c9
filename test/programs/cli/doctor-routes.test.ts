import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { reportSchema } from '../../../src/programs/cli/doctor/report-schema.ts';
import { Machine } from './run.ts';

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

type Handler = (method: string, path: string, hasKey: boolean) => Reply | undefined;

const models: Reply = { status: 200, body: { object: 'list', data: [{ id: 'm-large' }] } };

/** Runs the report on a server with a list of models, and returns `status detail` of rows by their id. */
async function examine(handle: Handler, unknownRoute: Reply) {
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const listed = method === 'GET' && url === '/v1/models' ? models : undefined;
    const found = listed ?? handle(method, url, headers.authorization !== undefined);
    const { status, body } = found ?? unknownRoute;
    const text = JSON.stringify(body).replace('PATH', url);
    response.writeHead(status, { 'content-type': 'application/json' });
    request.resume().once('end', () => response.end(text));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const machine = new Machine({ url: `http://127.0.0.1:${port}`, key: 'a-key-of-this-test' });
  const { stdout } = await machine.run(['doctor', '--report', '--json'], '', {
    GATEWAY_PROFILE: 'openai',
  });
  const { rows } = reportSchema.parse(JSON.parse(stdout));
  return (id: string): string => {
    const row = rows.find((candidate) => candidate.id === id);
    return `${row?.status} ${row?.detail}`;
  };
}

const unknownRoutes: readonly (readonly [server: string, reply: Reply])[] = [
  ['GOModel', { status: 404, body: { message: 'Not Found' } }],
  ['FastAPI', { status: 404, body: { detail: 'Not Found' } }],
  [
    'llama.cpp',
    {
      status: 404,
      body: { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } },
    },
  ],
  ['Express', { status: 404, body: { error: 'Cannot GET PATH' } }],
];

test.each(unknownRoutes)('%s without videos has no video route', async (_, unknownRoute) => {
  const find = await examine(() => undefined, unknownRoute);

  expect(find('videos')).toBe('warn POST /v1/videos does not exist (404)');
  expect(find('route.videos.retrieve')).toMatch(/^no/);
  expect(find('content-key')).toMatch(/^unknown .* with the key: 404/);
});

test.each(unknownRoutes)('%s with videos has a video route', async (_server, unknownRoute) => {
  const missing: Reply = { status: 404, body: { error: { message: 'No task with this id' } } };
  const invalid: Reply = { status: 400, body: { error: { message: 'The body is not JSON' } } };
  const find = await examine((_, path) => {
    if (path.startsWith('/v1/videos/')) return missing;
    return path === '/v1/videos' ? invalid : undefined;
  }, unknownRoute);

  expect(find('videos')).toBe('ok the routes for videos exist');
  expect(find('content-key')).toMatch(/^no .* without a key: 404/);
});

test('a route that reads tasks does not prove one that creates them', async () => {
  const missing: Reply = { status: 404, body: { error: { message: 'No task with this id' } } };
  const find = await examine((_, path) => (path.startsWith('/v1/videos/') ? missing : undefined), {
    status: 404,
    body: { message: 'Not Found' },
  });

  expect(find('videos')).toBe('warn POST /v1/videos does not exist (404)');
  expect(find('route.videos.create')).toMatch(/^no/);
});

test('the parser of One API proves no route for edits, which it rejects before it looks for one', async () => {
  const message = 'common.UnmarshalBodyReusable failed: unexpected end of JSON input';
  const invalid: Reply = { status: 400, body: { error: { message, type: 'one_api_error' } } };
  const find = await examine(
    (_, path) => (/\/images\/(edits|generations)$/.test(path) ? invalid : undefined),
    { status: 404, body: { error: { message: 'Invalid URL (POST PATH)' } } },
  );

  expect(find('route.images.edit')).toBe(
    'unknown POST /v1/images/edits: 400, before the gateway looked for the route',
  );
  expect(find('route.images.generate')).toBe('yes POST /v1/images/generations: 400');
});

test("One Hub's Gemini format is found below /gemini", async () => {
  const invalid: Reply = { status: 400, body: { error: { message: 'The body is not JSON' } } };
  const find = await examine(
    (_, path) => (path.startsWith('/gemini/v1beta/models/') ? invalid : undefined),
    { status: 404, body: { error: { message: 'Invalid URL (POST PATH)' } } },
  );

  expect(find('route.generate.content')).toBe(
    'yes POST /gemini/v1beta/models/{model}:generateContent: 400, in place of /v1beta/models/{model}:generateContent',
  );
});

test('a server that answers every path alike proves nothing', async () => {
  const find = await examine(() => undefined, {
    status: 400,
    body: { error: { message: 'The request is invalid', type: 'invalid_request_error' } },
  });

  expect(find('videos')).toBe(
    'skip the response to a probe (POST /v1/videos: 400) proves no video route',
  );
  expect(find('route.videos.create')).toMatch(/^unknown/);
  expect(find('content-key')).toMatch(/^unknown/);
});

describe('the need of a key for downloads', () => {
  test.each([
    { status: 401, result: 'yes' },
    { status: 403, result: 'yes' },
    { status: 404, result: 'no' },
    { status: 200, result: 'no' },
    { status: 400, result: 'unknown' },
    { status: 429, result: 'unknown' },
    { status: 500, result: 'unknown' },
    { status: 502, result: 'unknown' },
  ])(
    'the need of a key for downloads is $result after $status without a key',
    async ({ status, result }) => {
      const find = await examine(
        (_, path, hasKey) =>
          path.startsWith('/v1/videos/')
            ? { status: hasKey ? 404 : status, body: { error: { message: 'No such task' } } }
            : undefined,
        { status: 404, body: { message: 'Not Found' } },
      );

      expect(find('content-key')).toMatch(new RegExp(`^${result} .*: ${status}`));
    },
  );
});

const failure: Reply = { status: 500, body: { error: { message: 'runtime error: nil pointer' } } };
const notFound: Reply = { status: 404, body: { message: 'Not Found' } };

describe('a route that fails', () => {
  test('a route that fails at every request is unknown', async () => {
    const find = await examine(
      (_, path) => (/videos|chat/.test(path) ? failure : undefined),
      notFound,
    );

    expect(find('route.videos.retrieve')).toMatch(/^unknown .*500/);
    expect(find('route.chat.completions.create')).toMatch(/^unknown .*500/);
    expect(find('videos')).toMatch(/^skip .*500/);
    expect(find('content-key')).toMatch(/^unknown .*500/);
  });

  test('a route that fails only for an unknown id, or with the code of an invalid request, exists', async () => {
    const invalid: Reply = {
      status: 500,
      body: { error: { message: 'unexpected end of JSON input', code: 'invalid_request' } },
    };
    const list: Reply = { status: 200, body: { object: 'list', data: [] } };
    const find = await examine((_, path) => {
      if (path.startsWith('/v1/videos/')) return failure;
      if (path === '/v1/videos') return list;
      return path === '/v1/chat/completions' ? invalid : undefined;
    }, notFound);

    expect(find('route.videos.retrieve')).toMatch(/^yes/);
    expect(find('route.chat.completions.create')).toMatch(/^yes .*500/);
  });
});

test('a probe that is served is named', async () => {
  const find = await examine(
    (_, path) => (path === '/v1/embeddings' ? { status: 200, body: { data: [] } } : undefined),
    notFound,
  );

  expect(find('route.embeddings.create')).toBe(
    'yes POST /v1/embeddings: 200, served although the body is not JSON',
  );
});

describe('an address at Azure', () => {
  const azure = 'https://name.openai.azure.com/openai';
  const noResource = { error: { code: '404', message: 'Resource not found' } };

  /** Azure: every route is missing without its version, and a deployment has no list of models. */
  const serve: typeof fetch = (input) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
    const isVersioned = pathname.startsWith('/openai/v1/') || searchParams.has('api-version');
    if (!isVersioned) return Promise.resolve(Response.json(noResource, { status: 404 }));
    if (pathname === '/openai/v1/models') return Promise.resolve(Response.json(models.body));
    const isChat = pathname.endsWith('/deployments/x/chat/completions');
    const invalid = { error: { code: 'invalid_request', message: 'messages is required' } };
    const answer = isChat ? invalid : noResource;
    return Promise.resolve(Response.json(answer, { status: isChat ? 400 : 404 }));
  };

  const advice = 'Azure needs the parameter api-version: add ?api-version=… to the base URL.';

  test.each([
    [`${azure}/deployments/x`, advice, 'without a version'],
    [`${azure}/deployments/x/chat/completions`, advice, 'of a route, without a version'],
    [`${azure}/deployments/x?api-version=2024-10-21`, undefined, 'with a version'],
    [`${azure}/v1`, undefined, 'that needs none'],
    ['https://name.openai.azure.com', expect.stringContaining(`${azure}/v1`), 'without a path'],
  ])('%s has the fix %s', async (url, fix) => {
    vi.stubGlobal('fetch', serve);
    const machine = new Machine({ url, key: 'a-key-of-this-test' });

    const { stdout } = await machine.run(['doctor', '--json']);

    const findings: { id: string; fix?: string }[] = JSON.parse(stdout);
    expect(findings.find(({ id }) => id === 'base-url')?.fix).toEqual(fix);
  });
});
