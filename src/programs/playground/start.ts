import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { GatewayOptions, VideoTaskRef } from '../../index.ts';
import { listen } from '../../testing/server/server.ts';
import { answerApi, uploadLimit } from './api.ts';
import { emulatorBackend, realBackend } from './backend.ts';
import { Board } from './board.ts';
import { checkRequest, securityHeaders } from './guard.ts';
import { readPages, servePage } from './pages.ts';
import { describeRivals } from './rival.ts';
import { describeScenarios } from './scenarios.ts';
import { folderStore, memoryStore } from './store.ts';

/** Options of the playground. */
export interface PlaygroundOptions {
  readonly version: string;
  /** The gateway; the default is the emulator. */
  readonly gateway?: GatewayOptions | undefined;
  /** Time between polls of a video, in milliseconds. Defaults to the client's interval, or 1.5 seconds on the emulator. */
  readonly interval?: number | undefined;
  /** The port; 0 selects a free one. */
  readonly port: number;
  /** The folder for results; the default is memory. */
  readonly folder?: string | undefined;
  /** Called with each submitted video task, before its first poll. */
  readonly onSubmitted?: ((ref: VideoTaskRef) => Promise<void>) | undefined;
  /** The folder of the built page. */
  readonly pages?: string | undefined;
}

/** A running playground. */
export interface Playground extends AsyncDisposable {
  /** The address to open, with the token. */
  readonly url: string;
  readonly origin: string;
  readonly token: string;
  /** The gateway that calls go to. */
  readonly baseURL: string;
  readonly isEmulator: boolean;
}

/** Starts the playground on the loopback address. All requests require the token. */
export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  // The build writes the page to a folder next to this file.
  const pages = await readPages(
    options.pages ?? fileURLToPath(new URL('./playground', import.meta.url)),
  );
  const { version, gateway, interval, folder, onSubmitted } = options;
  const store = folder === undefined ? memoryStore() : await folderStore(folder);
  const backend =
    gateway === undefined ? await emulatorBackend(interval) : realBackend(gateway, interval);
  const board = await Board.open({ backend, store, onSubmitted });
  const close = async (): Promise<void> => {
    await board[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
  };
  const token = randomBytes(24).toString('base64url');
  const { isEmulator, baseURL } = backend;
  const hello = {
    version,
    isEmulator,
    baseURL,
    gateway: backend.gateway,
    unitsPerDollar: backend.unitsPerDollar,
    scenarios: isEmulator ? describeScenarios() : [],
    rivals: isEmulator ? describeRivals() : [],
    uploadLimit,
    keeps: store.keeps,
  };
  const handle = async (request: Request): Promise<Response> => {
    const refusal = checkRequest(request, port, token);
    const { pathname } = new URL(request.url);
    const isApi = pathname.startsWith('/api/');
    let answer: Response;
    if (refusal !== undefined) answer = Response.json(refusal, { status: refusal.status });
    else if (isApi) answer = await answerApi(request, { board, backend, hello });
    else answer = servePage(pages, pathname);
    for (const [name, value] of Object.entries(securityHeaders)) answer.headers.set(name, value);
    if (isApi || refusal !== undefined) answer.headers.set('cache-control', 'no-store');
    return answer;
  };
  const server = await listen(handle, options.port, '127.0.0.1').catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const { port } = server;
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/#token=${token}`,
    origin,
    token,
    baseURL,
    isEmulator,
    async [Symbol.asyncDispose]() {
      await close();
      await server.close();
    },
  };
}
