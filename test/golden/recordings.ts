import { readdirSync, readFileSync } from 'node:fs';
import type { SentStream } from './streams.ts';

/** A request to a real gateway, and its response. */
export interface Recording {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly json?: { readonly stream?: boolean; readonly stream_format?: string };
  };
  readonly answer: {
    readonly status: number;
    readonly type?: string;
    readonly body?: unknown;
    readonly events?: readonly unknown[];
    readonly text?: string;
    readonly bytes?: number;
  };
}

const folder = new URL('../fixtures/gateway/', import.meta.url);

/** Replaces ids, times and names, so that equal recordings do not differ. */
const alike = (line: string): string =>
  line
    .replaceAll(/\b(?:chatcmpl-|msg_|r_)\w+/g, 'c')
    .replaceAll(/"created":\d+/g, '"created":1')
    .replaceAll(/\b1795[3-9]\d{5}(?=(?:\d{3})?\b)/g, '1795300000')
    .replaceAll(/"(model|modelVersion)":"[^"]+"/g, '"$1":"m"')
    .replaceAll(/"fp_\w+"/g, '"fp"');

/** Every recorded response. */
export const recordings: readonly Recording[] = readdirSync(folder)
  .toSorted()
  .flatMap((file) => readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n'))
  .map((line): Recording => JSON.parse(alike(line)));

/** The body of a recorded response. */
export function textOf({ body, events, text, bytes }: Recording['answer']): string {
  if (events !== undefined) {
    return events
      .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
      .join('');
  }
  if (body !== undefined) return typeof body === 'string' ? body : JSON.stringify(body);
  return text ?? 'x'.repeat(bytes ?? 0);
}

const kinds: readonly (readonly [path: RegExp, kind: SentStream['kind']])[] = [
  [/chat\/completions$/, 'chat'],
  [/:streamGenerateContent/, 'generate'],
  [/images\/generations$/, 'images'],
  [/audio\/speech$/, 'speech'],
];

/** The recorded stream, if a stream was requested and received. */
export function streamOf({ name, request, answer }: Recording): SentStream | undefined {
  const { path, json } = request;
  const [, kind] = kinds.find(([route]) => route.test(path)) ?? [];
  const isAsked = kind === 'generate' || json?.stream === true || json?.stream_format === 'sse';
  if (!isAsked || kind === undefined || answer.status !== 200) return undefined;
  return { name: `recorded, ${name}`, kind, text: textOf(answer), type: answer.type };
}
