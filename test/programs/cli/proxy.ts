import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Emulator } from '../../../src/testing/index.ts';

/** A request that a proxy passes on. */
interface Passed {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** Starts a server for the length of a test. @returns its URL */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

/** Starts a server that passes requests on to an emulator, and changes the responses. */
export function startProxy(
  emulator: Emulator,
  change: (response: Response, request: Passed) => Response | Promise<Response>,
  toPath: (path: string) => string = (path) => path,
): Promise<string> {
  return serve((request, outgoing) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const answer = async (): Promise<void> => {
      const path = toPath(request.url ?? '/');
      const { method = 'GET' } = request;
      const body = Buffer.concat(chunks);
      const names = ['authorization', 'content-type', 'origin', 'x-litellm-call-id'];
      const headers = names.flatMap((name): [string, string][] => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      });
      const response = await emulator.fetch(`${emulator.baseURL}${path}`, {
        method,
        headers,
        ...(body.length === 0 ? {} : { body }),
      });
      const changed = await change(response, { method, path, body });
      outgoing.writeHead(changed.status, Object.fromEntries(changed.headers));
      outgoing.end(Buffer.from(await changed.arrayBuffer()));
    };
    request.on('end', () => void answer());
  });
}
