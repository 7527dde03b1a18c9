/**
 * A gateway for measurements, in a separate process so that neither its memory nor its CPU time is measured:
 * content and streams of any size, a completion, uploads that are counted and discarded, and tasks that end on
 * request.
 *
 * Prints its address; `GET /stats` returns counters of received data.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openaiCompletion } from '../lib/answers.ts';

const stats = { polls: 0 };
let isDone = false;
const block = Buffer.alloc(1 << 20, 'model-gateway');

const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };

function formatEvent(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}

const events = Buffer.from(formatEvent({ content: 'word '.repeat(200) }, null).repeat(64));
const end = `${formatEvent({}, 'stop')}data: [DONE]\n\n`;

/** Writes a block until there are so many bytes, as fast as they are taken. */
async function send(response: ServerResponse, size: number, whole: Buffer): Promise<void> {
  const gone = once(response, 'close');
  for (let left = size; left > 0; left -= whole.length) {
    const piece = left < whole.length ? whole.subarray(0, left) : whole;
    if (response.write(piece)) continue;
    await Promise.race([once(response, 'drain'), gone]);
    if (response.destroyed) return;
  }
}

async function sendContent(size: number, type: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': type, 'content-length': size, etag: '"v1"' });
  await send(response, size, block);
  response.end();
}

async function sendEvents(size: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await send(response, Math.ceil(size / events.length) * events.length, events);
  response.end(end);
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function drain(message: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of message) bytes += chunk.length;
  return bytes;
}

async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(message.url ?? '/', 'http://localhost');
  if (pathname === '/stats') return answer(response, stats);
  if (pathname === '/finish') {
    isDone = true;
    return answer(response, stats);
  }
  if (pathname.endsWith('/content')) {
    return sendContent(Number(searchParams.get('bytes')), 'video/mp4', response);
  }
  if (pathname.endsWith('/speech')) {
    await drain(message);
    return sendContent(Number(searchParams.get('bytes')), 'audio/mpeg', response);
  }
  if (pathname === '/whole/chat/completions') {
    await drain(message);
    return answer(response, openaiCompletion);
  }
  if (pathname.endsWith('/completions')) {
    await drain(message);
    return sendEvents(Number(searchParams.get('bytes')), response);
  }
  if (message.method === 'POST') {
    const text = String(await drain(message));
    return answer(response, { id: 'task_1', status: 'queued', text });
  }
  stats.polls += 1;
  const id = pathname.split('/').at(-1);
  return answer(response, { id, status: isDone ? 'completed' : 'in_progress', progress: 50 });
}

const server = createServer(
  { keepAliveTimeout: 60_000, requestTimeout: 0 },
  (message, response) => {
    serve(message, response).catch(() => response.destroy());
  },
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : 0);
});
