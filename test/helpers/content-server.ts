import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { Gateway } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options.ts';

/** Behaviour of a server of content. Change it at any time. */
export interface ContentSetup {
  content: Buffer;
  /** Honours `Range`. */
  ranges: boolean;
  /** Headers of every answer with content. */
  headers: Record<string, string>;
  /** Bytes before the connection is cut, one number for each answer. */
  cuts: (number | undefined)[];
  /** Answers by hand, in place of what follows from the rest. `undefined` leaves it to that. */
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

/**
 * Does something when this process has had the time to do everything else: the client, which is in
 * it too, would lose what it has not read yet.
 */
function whenCalm(run: () => void, left = 5): void {
  const begun = performance.now();
  setTimeout(() => {
    const isCalm = performance.now() - begun < 20;
    if (isCalm && left <= 1) run();
    else whenCalm(run, isCalm ? left - 1 : 5);
  }, 10);
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
  response.writeHead(isPart ? 206 : 200, {
    'content-type': 'video/mp4',
    'content-length': body.length,
    ...headers,
    ...rest,
  });
  const cut = setup.cuts.shift();
  if (cut === undefined) response.end(body);
  else response.write(body.subarray(0, cut), () => whenCalm(() => response.destroy()));
}

/** A server whose every path is the content of a task, and a client of it. */
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
  const client = new Gateway({ apiKey: 'sk-test', baseURL: url, logLevel: 'off', ...options });
  return { setup, requests, url, client };
}
