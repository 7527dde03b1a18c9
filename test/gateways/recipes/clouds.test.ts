// The recipes for clouds in the guide "Gateways", each against a server that checks what they send.
import { createHash, createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { APIError } from '../../../src/index.ts';
import { failureOf } from '../../helpers/clients.ts';
import { completion } from '../../helpers/transport.ts';
import { azure, bedrock, deployment, signing, vertex } from './clouds.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const ask = { model: 'm', messages };

let requests: Request[] = [];
let respond: (request: Request) => Response = () => Response.json(completion);

/** Replaces the network of the clients, which read `fetch` when they send. */
const network = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init);
  requests.push(request.clone());
  return respond(request);
};

beforeEach(() => {
  requests = [];
  respond = () => Response.json(completion);
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  vi.stubGlobal('fetch', network);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('the guide has the code of the recipes', async () => {
  const guide = await readFile(
    new URL('../../../docs/guides/gateways.md', import.meta.url),
    'utf8',
  );
  const file = await readFile(new URL('clouds.ts', import.meta.url), 'utf8');
  const code = file.replaceAll('export ', '').split('\n').slice(1).join('\n').trim();

  expect(guide.replaceAll('export ', '')).toContain(code);
});

/** A cloud whose metadata server issues tokens, and whose API accepts the newest. */
function cloud(metadata: RegExp, header: string): { issued: () => number } {
  let issued = 0;
  respond = (request) => {
    if (metadata.test(request.url)) {
      if (!request.headers.has(header)) return new Response('no header', { status: 400 });
      issued += 1;
      return Response.json({ access_token: `token-${issued}`, expires_in: 3_600 });
    }
    const isKnown = request.headers.get('authorization') === `Bearer token-${issued}`;
    const refused = { error: { message: 'Invalid token' } };
    return isKnown ? Response.json(completion) : Response.json(refused, { status: 401 });
  };
  return { issued: () => issued };
}

test.each([
  { name: 'Azure', client: azure, metadata: /^http:\/\/169\.254\.169\.254\//, header: 'metadata' },
  {
    name: 'Vertex AI',
    client: vertex,
    metadata: /^http:\/\/metadata\.google\.internal\//,
    header: 'metadata-flavor',
  },
])('$name: a token serves calls until it is about to expire', async (row) => {
  const { issued } = cloud(row.metadata, row.header);
  const call = () => row.client.withOptions({ fetch: network }).chat.completions.create(ask);

  await call();
  await call();
  expect(issued()).toBe(1);
  vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 56));
  await call();

  expect(issued()).toBe(2);
  expect(requests).toHaveLength(5);
  expect(requests.filter(({ url }) => url.endsWith('/chat/completions'))).toHaveLength(3);
});

test('Azure: each deployment has its address, version and key', async () => {
  const client = deployment('gpt', 'azure-key').withOptions({ fetch: network });

  await client.chat.completions.create(ask);

  expect(requests[0]?.url).toBe(
    'https://name.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21',
  );
  expect(requests[0]?.headers.get('api-key')).toBe('azure-key');
  expect(requests[0]?.headers.has('authorization')).toBe(false);
});

const sha = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

/** Computes a signature as AWS documents it, with another library than the recipe. */
async function signatureOf(request: Request, secret: string): Promise<string> {
  const { host, pathname } = new URL(request.url);
  const body = sha(Buffer.from(await request.clone().arrayBuffer()));
  const date = request.headers.get('x-amz-date') ?? '';
  const day = date.slice(0, 8);
  const canonical = `${request.method}\n${pathname}\n\nhost:${host}\nx-amz-content-sha256:${body}\nx-amz-date:${date}\n\nhost;x-amz-content-sha256;x-amz-date\n${body}`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${day}/us-west-2/bedrock/aws4_request\n${sha(canonical)}`;
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), 'us-west-2'), 'bedrock'), 'aws4_request');
  return hmac(key, text).toString('hex');
}

test('Bedrock: each attempt is signed, and a wrong signature is an error of the key', async () => {
  const secret = 'a secret of forty letters';
  let status = 429;
  const check = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    requests.push(request.clone());
    const expected = await signatureOf(request, secret);
    const sent = request.headers.get('authorization') ?? '';
    if (!sent.endsWith(`Signature=${expected}`)) {
      return Response.json({ message: 'The signature does not match.' }, { status: 403 });
    }
    if (status === 200) return Response.json(completion);
    status = 200;
    return new Response('{"message":"Too many requests"}', {
      status: 429,
      headers: { 'retry-after': '0' },
    });
  };
  const credentials = { id: 'AKIA', secret, region: 'us-west-2' };
  vi.useRealTimers();

  const client = bedrock.withOptions({ fetch: signing(credentials, check) });
  expect(await client.chat.completions.create(ask)).toMatchObject({ id: completion.id });
  expect(requests).toHaveLength(2);

  const wrong = bedrock.withOptions({ fetch: signing({ ...credentials, secret: 'x' }, check) });
  const error = await failureOf(wrong.chat.completions.create(ask));
  expect(APIError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ status: 403, outcome: 'rejected' });
  expect(requests).toHaveLength(3);
});
