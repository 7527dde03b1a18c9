import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { createEmulator, type Emulator } from '../../dist/testing/index.js';
import type { Place } from './places.ts';

/** The emulator behind a server that can kill a worker while its requests travel. */
export interface KillingGateway extends AsyncDisposable {
  readonly url: string;
  readonly emulator: Emulator;
  /** The models of all received submissions. */
  readonly submissions: readonly (string | undefined)[];
  /** Runs `kill` once a request for the model has reached the place. */
  killAt(place: Place, model: string, kill: () => Promise<void>): void;
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Starts a gateway whose videos are completed once they were polled. */
export async function startGateway(): Promise<KillingGateway> {
  const emulator = createEmulator({ videoDuration: 3_600_000, quirks: { contentLimit: 0 } });
  const submissions: (string | undefined)[] = [];
  let wanted: { place: Place; model: string; kill: () => Promise<void> } | undefined;
  const reach = async (place: Place, model: string | undefined): Promise<void> => {
    if (wanted?.place !== place || wanted.model !== model) return;
    const { kill } = wanted;
    wanted = undefined;
    await kill();
  };

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = message;
    const body = await readBody(message);
    const [, id, content] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(url) ?? [];
    const submitted = /name="model"\r\n\r\n(.*)\r\n/.exec(body.toString('latin1'))?.[1];
    const model = id === undefined ? submitted : emulator.videos.get(id)?.model;
    const isPoll = id !== undefined && content === undefined;
    if (isPoll) await reach('the poll travels', model);
    else if (id === undefined) {
      submissions.push(model);
      await reach('the request travels', model);
    }
    const answer = await emulator.fetch(`${emulator.baseURL}${url}`, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        name === 'host' || name === 'connection' ? [] : [[name, String(value)]],
      ),
      ...(method === 'POST' ? { body: new Uint8Array(body) } : {}),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (id === undefined) await reach('charged, and the response travels', model);
    if (isPoll) emulator.videos.complete(id);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (content !== undefined) {
      const half = Math.floor(bytes.length / 2);
      response.write(bytes.subarray(0, half));
      await reach('during the download', model);
      response.end(bytes.subarray(half));
    } else response.end(bytes);
  }

  const server = createServer((message, response) => {
    // The worker may be gone.
    serve(message, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('Missing port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    emulator,
    submissions,
    killAt(place, model, kill) {
      wanted = { place, model, kill };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
