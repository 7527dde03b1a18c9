import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CallInput, CallView } from '../../../src/programs/playground/protocol.ts';
import {
  startPlayground,
  type Playground,
  type PlaygroundOptions,
} from '../../../src/programs/playground/start.ts';

/** The page as far as the server minds it, and a file beside it that is not of the page. */
function somePages(): string {
  const folder = mkdtempSync(join(tmpdir(), 'playground-pages-'));
  mkdirSync(join(folder, 'page/assets'), { recursive: true });
  writeFileSync(join(folder, 'page/index.html'), '<!doctype html><title>Playground</title>');
  writeFileSync(join(folder, 'page/assets/main.js'), 'export {};');
  writeFileSync(join(folder, 'page/notes.txt'), 'not of the page');
  writeFileSync(join(folder, 'secret.html'), 'secret');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'page');
}

/** A playground for one test. */
export async function open(options: Partial<PlaygroundOptions> = {}): Promise<Playground> {
  const playground = await startPlayground({
    version: '0.0.0-test',
    port: 0,
    pages: somePages(),
    interval: 250,
    ...options,
  });
  onTestFinished(() => playground[Symbol.asyncDispose]());
  return playground;
}

/** Lines received over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request with any `Host`, `Origin` and path, which `fetch` would not. */
export function send(
  { origin }: Playground,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (text += piece));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    })
      .on('error', reject)
      .end();
  });
}

/** Asks as the page does. */
export function ask(playground: Playground, path: string, init: RequestInit = {}) {
  return fetch(`${playground.origin}/api/${path}`, {
    ...init,
    headers: { 'x-playground-token': playground.token },
  });
}

/** Orders a call as the page does. */
export function order(
  playground: Playground,
  id: string,
  input: CallInput,
  files: Readonly<Record<string, File>> = {},
): Promise<Response> {
  const form = new FormData();
  form.set('input', JSON.stringify(input));
  for (const [field, file] of Object.entries(files)) form.set(field, file);
  return ask(playground, `calls/${id}`, { method: 'PUT', body: form });
}

export async function call(playground: Playground, id: string): Promise<CallView> {
  return (await ask(playground, `calls/${id}`)).json();
}

/** The calls as the stream of events tells them, until they are as wanted. */
export async function watch(
  playground: Playground,
  isWanted: (calls: ReadonlyMap<string, CallView>) => boolean,
): Promise<ReadonlyMap<string, CallView>> {
  const { body } = await ask(playground, 'events');
  const calls = new Map<string, CallView>();
  let rest = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.type === 'all') for (const one of event.calls) calls.set(one.id, one);
      if (event.type === 'call') calls.set(event.call.id, event.call);
      if (event.type === 'gone') calls.delete(event.id);
      const known = calls.get(event.id);
      if (event.type === 'change' && known !== undefined) {
        const next = { ...known, ...event.changes };
        next.text += event.text;
        next.reasoning += event.reasoning;
        calls.set(event.id, next);
      }
    }
    if (isWanted(calls)) return calls;
  }
  throw new Error('The stream of events ended early.');
}

/** A call when it has ended, as the stream of events tells it. */
export async function ended(playground: Playground, id: string): Promise<CallView> {
  const calls = await watch(playground, (all) => {
    const one = all.get(id);
    return (
      one !== undefined &&
      one.status !== 'running' &&
      (one.fault === undefined || one.rivals !== undefined || one.sent.length > 0)
    );
  });
  const found = calls.get(id);
  if (found === undefined) throw new Error('Missing such call');
  return found;
}
