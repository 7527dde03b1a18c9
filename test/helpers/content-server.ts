import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { Gateway } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';

/** Behaviour of a content server, which tests may change at any time. */
export interface ContentSetup {
  content: Buffer;
  /** Honours `Range`. */
  ranges: boolean;
  /** Headers of every response with content. */
  headers: Record<string, string>;
  /** Bytes before the connection is cut, one number for each response. */
  cuts: (number | undefined)[];
  /** Responds in place of the server, and returns whether it did. */
  answer?: ((request: SeenRequest, response: ServerResponse) => boolean) | undefined;
}

/** A request that arrived. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Bytes that differ everywhere, so that a misplaced part is noticed. */
export function someBytes(length: number, seed = 1): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 16;
  }
  return bytes;
}

/** The header that numbers a response whose connection will be cut. */
const cutHeader = 'x-cut';

/** Planned cuts of all servers, by the value of that header. */
const cuts = new Map<string, { readonly after: number; readonly run: () => void }>();

/** Cuts a connection once the client has read what was sent: bytes that it has not read would be lost. */
async function fetchCut(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const cut = cuts.get(response.headers.get(cutHeader) ?? '');
  if (cut === undefined || response.body === null) return response;
  const reader = response.body.getReader();
  let left = cut.after;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (left === 0) cut.run();
        const { value, done } = await reader.read();
        left -= value?.byteLength ?? 0;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Pulls only when the client reads, so it has the bytes of the pull before.
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url } = response;
  const copy = new Response(body, { status, statusText, headers });
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}

function serveContent(setup: ContentSetup, request: SeenRequest, response: ServerResponse): void {
  const { content, ranges, headers } = setup;
  const { range, 'if-range': ifRange } = request.headers;
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? Number.NaN);
  const isCurrent = ifRange === undefined || ifRange === headers['etag'];
  const isPart = ranges && !Number.isNaN(start) && isCurrent;
  if (isPart && start >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const body = isPart ? content.subarray(start) : content;
  const rest = isPart
    ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }
    : {};
  const cut = setup.cuts.shift();
  const id = String(cuts.size);
  if (cut !== undefined) {
    cuts.set(id, { after: Math.min(cut, body.length), run: () => response.destroy() });
  }
  response.writeHead(isPart ? 206 : 200, {
    'content-type': 'video/mp4',
    'content-length': body.length,
    ...headers,
    ...rest,
    ...(cut !== undefined && { [cutHeader]: id }),
  });
  if (cut === undefined) response.end(body);
  else response.write(body.subarray(0, cut));
}

/** A server that returns the content of a task at every path, and its client. */
export async function contentServer(
  change: Partial<ContentSetup> = {},
  options: GatewayOptions = {},
) {
  const setup: ContentSetup = {
    content: someBytes(300_000),
    ranges: true,
    headers: { etag: '"v1"' },
    cuts: [],
    ...change,
  };
  const requests: SeenRequest[] = [];
  const server = createServer((message, response) => {
    const { method = '', url = '', headers } = message;
    const request = { method, path: url, headers };
    requests.push(request);
    if (setup.answer?.(request, response) !== true) serveContent(setup, request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: url,
    logLevel: 'off',
    fetch: fetchCut,
    ...options,
  });
  return { setup, requests, url, client };
}
