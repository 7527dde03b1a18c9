import type {
  CallInput,
  Estimate,
  Hello,
  ListedModel,
  Priced,
  Problem,
  UsageLog,
} from '../protocol.ts';
import { token } from './setup/token.ts';

/** The server rejected a request. The message says why and what to do. */
export class ServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Sends a request to the server. @throws `ServerError`, with status 0 if it cannot be reached */
export async function send(
  path: string,
  init: RequestInit = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`/api/${path}`, {
      ...init,
      headers: { ...headers, 'x-playground-token': token },
    });
  } catch {
    throw new ServerError(
      0,
      'The playground does not respond. Restart it with "npx model-gateway playground" and open the address that it prints.',
    );
  }
  if (answer.ok) return answer;
  const { message }: { message?: string } = await answer.json().catch(() => ({}));
  throw new ServerError(
    answer.status,
    message ?? `The playground responded with ${answer.status}.`,
  );
}

/** The largest request, in bytes, from the server. */
let limit = Infinity;

export async function fetchHello(): Promise<Hello> {
  const hello: Hello = await (await send('hello')).json();
  limit = hello.uploadLimit;
  return hello;
}

export async function fetchModels(): Promise<{ models: ListedModel[]; problem?: Problem }> {
  return (await send('models')).json();
}

/** Reads the price of all calls of a press from the gateway's price list. Free. */
export async function fetchEstimate(priced: readonly Priced[]): Promise<Estimate> {
  return (await send('estimate', { method: 'POST', body: JSON.stringify(priced) })).json();
}

export async function fetchUsageLog(): Promise<UsageLog> {
  return (await send('usage-log')).json();
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The files of a call, by field. */
export type CallFiles = Readonly<Record<string, readonly File[]>>;

const totalSize = (files: CallFiles): number =>
  Object.values(files)
    .flat()
    .reduce((sum, { size }) => sum + size, 0);

/**
 * Sends a call to the server, which makes the call of an id once even if this request is repeated.
 *
 * @returns `false` if the call had been made before
 */
export async function sendCall(id: string, input: CallInput, files: CallFiles): Promise<boolean> {
  const text = JSON.stringify(input);
  if (totalSize(files) + text.length > limit) {
    throw new ServerError(
      413,
      `The files are larger than ${Math.round(limit / 1024 / 1024)} MiB. Nothing was sent. Choose smaller ones.`,
    );
  }
  const form = new FormData();
  form.set('input', text);
  for (const [field, list] of Object.entries(files)) {
    for (const file of list) form.append(field, file, file.name);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { status } = await send(`calls/${id}`, { method: 'PUT', body: form });
      // An earlier attempt may have made the call, although its response was lost.
      return status === 201 || attempt > 1;
    } catch (error) {
      const isLost = error instanceof ServerError && error.status === 0;
      if (!isLost || attempt === 3) throw error;
      await pause(300 * attempt);
    }
  }
}

export const stopCall = (id: string): Promise<unknown> =>
  send(`calls/${id}/stop`, { method: 'POST' });

export const resumeCall = (id: string): Promise<unknown> =>
  send(`calls/${id}/resume`, { method: 'POST' });

export const removeCall = (id: string): Promise<unknown> =>
  send(`calls/${id}`, { method: 'DELETE' });

export const clearCalls = (): Promise<unknown> => send('calls', { method: 'DELETE' });

/** Changes the emulator's clock. */
export const setClock = (change: {
  hold?: boolean;
  advance?: number;
  speed?: number;
}): Promise<unknown> => send('clock', { method: 'POST', body: JSON.stringify(change) });

/** A file of a call, and its object URL. */
export interface CallFile {
  readonly blob: Blob;
  readonly address: string;
}

const files = new Map<string, Promise<CallFile>>();

async function readFile(name: string): Promise<CallFile> {
  const blob = await (await send(name)).blob();
  return { blob, address: URL.createObjectURL(blob) };
}

/** Loads a file of a call once. The token is sent in a header, so it is never part of a URL. */
export function loadFile(id: string, index: number): Promise<CallFile> {
  const name = `calls/${id}/files/${index}`;
  const known = files.get(name);
  if (known !== undefined) return known;
  const file = readFile(name);
  files.set(name, file);
  // After a failure, the next use tries again.
  file.catch(() => files.delete(name));
  return file;
}
