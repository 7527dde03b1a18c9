import { Console } from 'node:console';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Readable, Writable } from 'node:stream';
import { createMcpHandler, serveStdio, StdioServerTransport } from '#mcp-sdk';
import type { Gateway } from '../../index.ts';
import type { ReportedCosts } from '../reported-costs.ts';
import { listen } from '../../testing/server/server.ts';
import { type Budgets, Estimator, type FixedPrices, Spending } from './tools/cost.ts';
import type { Kind } from './jobs/job.ts';
import { Jobs, type JobsOptions } from './jobs/jobs.ts';
import { ModelList } from './tools/models.ts';
import type { ServerParts } from './tools/parts.ts';
import type { Inline } from './tools/results.ts';
import { createServerFactory } from './server.ts';
import { jobsFolder, JobStore, spareFolder } from './jobs/store.ts';
import type { WorkspaceSettings } from './tools/workspace.ts';

/** Options of the server. */
export interface McpOptions {
  readonly version: string;
  /** The folder for the records of jobs and for results that cannot be saved elsewhere. */
  readonly state: string;
  readonly openClient: (costs?: ReportedCosts) => Promise<Gateway>;
  readonly runWorker: JobsOptions['runWorker'];
  readonly settings: object;
  readonly concurrency: number;
  readonly workspace: WorkspaceSettings;
  readonly allowed: ReadonlySet<Kind>;
  readonly defaultModels: Readonly<Partial<Record<Kind, string>>>;
  readonly anyModel: boolean;
  readonly prices: FixedPrices;
  readonly budgets: Budgets;
  readonly confirmAbove: number | undefined;
  readonly inline: Inline;
  readonly wait: number;
}

async function openParts(options: McpOptions): Promise<ServerParts> {
  const { state, openClient, runWorker, settings, concurrency, prices, budgets } = options;
  const client = await openClient();
  const store = await JobStore.open(jobsFolder(state));
  const jobs = new Jobs({
    store,
    spareFolder: spareFolder(state),
    runWorker,
    settings,
    concurrency,
    openClient,
  });
  return {
    ...options,
    client,
    jobs,
    store,
    models: new ModelList(client),
    estimator: new Estimator(client, prices),
    spending: new Spending(store, budgets),
  };
}

/** Keeps everything but the protocol from standard output: clients end a connection after any other line. */
function reserveOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const protocol = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      write(chunk, (error) => done(error));
    },
  });
  stdout.on('error', (error) => protocol.destroy(error));
  stdout.write = stderr.write.bind(stderr);
  globalThis.console = new Console(stderr, stderr);
  return protocol;
}

/**
 * Serves one client on two streams, until the input ends or the signal is aborted. Running calls are finished,
 * saved and recorded first.
 */
export async function serveOnStreams(
  options: McpOptions,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const parts = await openParts(options);
  const transport = new StdioServerTransport(input, output);
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
    output.once('error', () => resolve());
    output.once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const handle = serveStdio(createServerFactory(parts, true), { transport });
  await ended;
  await parts.jobs.close();
  await handle.close();
}

/** Serves one client on standard input and output. */
export function serveOnStdio(options: McpOptions, signal: AbortSignal): Promise<void> {
  return serveOnStreams(options, process.stdin, reserveOutput(), signal);
}

/** A server on a local port. */
export interface HttpServer {
  readonly url: string;
  readonly token: string;
  /** Stops after running calls are finished, saved and recorded. */
  close(): Promise<void>;
}

function isToken(header: string | null, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const reject = (status: number, message: string): Response =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_000, message } },
    { status, headers: status === 401 ? { 'www-authenticate': 'Bearer' } : {} },
  );

/**
 * Returns why a request is rejected. Pages of other sites can send requests to a local port; they are
 * recognized by their `Origin`, by their `Host` after DNS rebinding, or by the missing token.
 */
function checkHttpRequest(request: Request, port: number, token: string): Response | undefined {
  const { pathname, host } = new URL(request.url);
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!hosts.includes(host)) return reject(421, 'This is not the address of the server.');
  const origin = request.headers.get('origin');
  if (origin !== null && !hosts.includes(origin.replace(/^https?:\/\//, ''))) {
    return reject(403, 'Pages of other sites cannot use this server.');
  }
  if (!isToken(request.headers.get('authorization'), token)) {
    return reject(401, 'Send the token that the server printed: Authorization: Bearer <token>.');
  }
  return pathname === '/mcp' ? undefined : reject(404, 'The path of this server is /mcp.');
}

/** Serves any number of clients on a loopback port. Every request needs the token. */
export async function serveOnHttp(
  options: McpOptions,
  port: number,
  token = randomBytes(24).toString('base64url'),
): Promise<HttpServer> {
  const parts = await openParts(options);
  const handler = createMcpHandler(createServerFactory(parts, false));
  const server = await listen(
    async (request) => checkHttpRequest(request, server.port, token) ?? handler.fetch(request),
    port,
    '127.0.0.1',
  );
  return {
    url: `${server.url}/mcp`,
    token,
    async close() {
      await parts.jobs.close();
      await handler.close();
      await server.close();
    },
  };
}
