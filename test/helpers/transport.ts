import { APIError, type Gateway } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { failureOf, json, scripted } from './clients.ts';
import { fetchFailure } from './failures.ts';
import { settle } from './fake-time.ts';

export const messages = [{ role: 'user', content: 'hi' }] as const;
export const chat = (client: Gateway) =>
  client.chat.completions.create({ model: 'm', messages: [...messages] });
export const draw = (client: Gateway) => client.images.generate({ model: 'm', prompt: 'a cat' });
export const film = (client: Gateway) => client.videos.create({ model: 'm', prompt: 'a cat' });
export const remix = (client: Gateway) => client.videos.remix('task_1', { prompt: 'a cat' });
export const speak = (client: Gateway) =>
  client.audio.speech.create({ model: 'm', input: 'hi', voice: 'v' });
export const translate = (client: Gateway) =>
  client.audio.translations.create({ model: 'm', file: new File(['x'], 'a.mp3') });
export const list = (client: Gateway) => client.models.list();

export const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
};
export const models = { object: 'list', data: [] };

export function error(code: string | null, status: number, type = 'new_api_error') {
  return json({ error: { message: 'no', type, code } }, status);
}

export function html(status: number) {
  return () =>
    new Response('<html><title>nginx</title></html>', {
      status,
      headers: { 'content-type': 'text/html' },
    });
}

export function text(body: string | null, init?: ResponseInit) {
  return () => new Response(body, init);
}

export async function apiErrorOf(promise: PromiseLike<unknown>): Promise<APIError> {
  const failure = await failureOf(promise);
  if (failure instanceof APIError) return failure;
  throw failure;
}

/** The times of requests, in milliseconds. */
export async function timesOf(
  answers: Parameters<typeof scripted>[0],
  options?: GatewayOptions,
  call: (client: Gateway) => PromiseLike<unknown> = list,
) {
  const start = performance.now();
  const times: number[] = [];
  const { client } = scripted(
    answers.map((answer) => (request: Request) => {
      times.push(performance.now() - start);
      return typeof answer === 'function' ? answer(request) : answer;
    }),
    options,
  );
  let elapsed = Number.NaN;
  const stop = () => {
    elapsed = performance.now() - start;
  };
  const promise = call(client);
  void promise.then(stop, stop);
  const { error: failure } = await settle(promise);
  return { times, failure, elapsed };
}

export function limited(headers: Record<string, string>) {
  return text('{"error":{"message":"slow"}}', { status: 429, headers });
}

export const slow = async () => {
  await new Promise((resolve) => setTimeout(resolve, 400));
  return error('x', 500)();
};

export const stuck = () =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
    }),
  );

export const named = (headers: Record<string, string>, body: unknown = completion, status = 200) =>
  text(JSON.stringify(body), { status, headers });

export const reset = () => fetchFailure('ECONNRESET', 'read');
export const refused = () => fetchFailure('ECONNREFUSED', 'connect');

export function logged(answers: Parameters<typeof scripted>[0], options: GatewayOptions) {
  const lines: { level: string; message: string; details: unknown }[] = [];
  const at = (level: string) => (message: string, details: unknown) => {
    lines.push({ level, message, details });
  };
  const logger = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
  return { ...scripted(answers, { logger, ...options }), lines };
}

export const fail = () => {
  throw new Error('disk full');
};
