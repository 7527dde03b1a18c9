import { type Fetch, Gateway } from '../../../src/index.ts';

interface Token {
  readonly value: string;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Keeps a token until five minutes before it expires. Calls at the same time share one request. */
export function cached(read: () => Promise<Token>): () => Promise<string> {
  let current: Promise<Token> | undefined;
  return async () => {
    const known = await current?.catch(() => undefined);
    if (known === undefined || Date.now() > known.expiresAt - 300_000) current = read();
    return (await current)?.value ?? '';
  };
}

/** Reads the tokens of a server's own identity from the metadata server of its cloud. */
async function readToken(url: string, headers: Record<string, string>): Promise<Token> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`No token: ${response.status} ${await response.text()}`);
  const { access_token: value, expires_in: seconds } = Object(await response.json());
  return { value: String(value), expiresAt: Date.now() + Number(seconds) * 1_000 };
}

/** Azure with a managed identity. Outside of Azure, use `@azure/identity` in the function. */
export const azure = new Gateway({
  baseURL: 'https://name.openai.azure.com/openai/v1',
  gateway: 'openai',
  apiKey: cached(() =>
    readToken(
      'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://cognitiveservices.azure.com',
      { Metadata: 'true' },
    ),
  ),
});

/** One client for each deployment of Azure, with the version of the API and a key. */
export const deployment = (name: string, key: string): Gateway =>
  new Gateway({
    baseURL: `https://name.openai.azure.com/openai/deployments/${name}?api-version=2024-10-21`,
    gateway: 'openai',
    apiKey: null,
    defaultHeaders: { 'api-key': key },
  });

/** Vertex AI with the credentials of the server. Outside of Google Cloud, use `google-auth-library`. */
export const vertex = new Gateway({
  baseURL:
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi',
  gateway: 'openai',
  apiKey: cached(() =>
    readToken(
      'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token',
      { 'Metadata-Flavor': 'Google' },
    ),
  ),
});

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

async function hmac(key: BufferSource, text: string): Promise<ArrayBuffer> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return crypto.subtle.sign('HMAC', imported, encode(text));
}

/** A `fetch` that signs requests with AWS Signature Version 4. Each attempt is signed anew. */
export function signing(
  { id, secret, region }: { id: string; secret: string; region: string },
  send: Fetch = fetch,
): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { host, pathname } = new URL(request.url);
    const body = await request.arrayBuffer();
    const time = new Date().toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
    const digest = hex(await crypto.subtle.digest('SHA-256', body));
    const signed = { host, 'x-amz-content-sha256': digest, 'x-amz-date': time };
    const names = Object.keys(signed).join(';');
    const lines = Object.entries(signed).map((pair) => pair.join(':'));
    const canonical = [request.method, pathname, '', ...lines, '', names, digest].join('\n');
    const scope = [time.slice(0, 8), region, 'bedrock', 'aws4_request'];
    const hash = hex(await crypto.subtle.digest('SHA-256', encode(canonical)));
    const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash].join('\n');
    let key: BufferSource = encode(`AWS4${secret}`);
    for (const part of scope) key = await hmac(key, part);
    const signature = hex(await hmac(key, text));
    const headers = new Headers(request.headers);
    const credential = `Credential=${id}/${scope.join('/')}`;
    headers.set('x-amz-content-sha256', digest);
    headers.set('x-amz-date', time);
    headers.set(
      'authorization',
      `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`,
    );
    const { signal, method, redirect } = request;
    return send(request.url, {
      method,
      headers,
      redirect,
      signal,
      ...(body.byteLength > 0 && { body }),
    });
  };
}

/** Bedrock, whose routes of OpenAI accept signed requests. */
export const bedrock = new Gateway({
  baseURL: 'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1',
  gateway: 'openai',
  apiKey: null,
  fetch: signing({ id: 'AKIA…', secret: '…', region: 'us-west-2' }),
});
