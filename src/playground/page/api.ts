import type { BooksRead, CallInput, Hello, ListedModel, Problem } from '../protocol.ts';

const storageName = 'playground-token';

/** The token of this start: from the address that the terminal shows, and kept for reloads of this tab. */
function takeToken(): string {
  const [, given] = /[#&]token=([\w-]+)/.exec(location.hash) ?? [];
  if (given !== undefined) {
    sessionStorage.setItem(storageName, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem(storageName) ?? '';
}

const token = takeToken();

// The address of a new start, put into a tab that shows an old one, only changes the part after the #.
addEventListener('hashchange', () => {
  if (location.hash.includes('token=')) location.reload();
});

/** The server did not do what the page asked for; the message says why and what to do. */
export class ServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Asks the server. @throws `ServerError`; with status 0 when it cannot be reached */
export async function ask(
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
      'The playground does not answer. Start it again with "npx model-gateway playground" and open the address that it shows.',
    );
  }
  if (answer.ok) return answer;
  const said: { message?: string } = await answer.json().catch(() => ({}));
  throw new ServerError(answer.status, said.message ?? `The playground answered ${answer.status}.`);
}

/** The largest order, in bytes, as the server has said. */
let limit = Infinity;

export async function askHello(): Promise<Hello> {
  const hello: Hello = await (await ask('hello')).json();
  limit = hello.uploadLimit;
  return hello;
}

export async function askModels(): Promise<{ models: ListedModel[]; problem?: Problem }> {
  return (await ask('models')).json();
}

export async function askBooks(): Promise<BooksRead> {
  return (await ask('books')).json();
}

const patience = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Files to send along, by the field that they are for. */
export type OrderFiles = Readonly<Record<string, readonly File[]>>;

const sizeOf = (files: OrderFiles): number =>
  Object.values(files)
    .flat()
    .reduce((sum, { size }) => sum + size, 0);

/**
 * Orders a call. The id is made here, so that an order that is sent again after a lost connection is
 * carried out once.
 *
 * @returns the id
 */
export async function order(input: CallInput, files: OrderFiles = {}): Promise<string> {
  const text = JSON.stringify(input);
  if (sizeOf(files) + text.length > limit) {
    throw new ServerError(
      413,
      `The files are larger than ${Math.round(limit / 1024 / 1024)} MiB. Nothing was sent. Choose smaller ones.`,
    );
  }
  const id = crypto.randomUUID();
  const form = new FormData();
  form.set('input', text);
  for (const [field, list] of Object.entries(files)) {
    for (const file of list) form.append(field, file, file.name);
  }
  for (let tries = 1; ; tries += 1) {
    try {
      await ask(`calls/${id}`, { method: 'PUT', body: form });
      return id;
    } catch (error) {
      const isLost = error instanceof ServerError && error.status === 0;
      if (!isLost || tries === 3) throw error;
      await patience(300 * tries);
    }
  }
}

export const stopCall = (id: string): Promise<unknown> =>
  ask(`calls/${id}/stop`, { method: 'POST' });

export const resumeCall = (id: string): Promise<unknown> =>
  ask(`calls/${id}/resume`, { method: 'POST' });

export const removeCall = (id: string): Promise<unknown> =>
  ask(`calls/${id}`, { method: 'DELETE' });

export const clearCalls = (): Promise<unknown> => ask('calls', { method: 'DELETE' });

/** Moves the emulator's clock. */
export const steerClock = (what: {
  hold?: boolean;
  advance?: number;
  speed?: number;
}): Promise<unknown> => ask('clock', { method: 'POST', body: JSON.stringify(what) });

/** A file of a call, and an address within the page for it. */
export interface CallFile {
  readonly blob: Blob;
  readonly address: string;
}

const files = new Map<string, Promise<CallFile>>();

async function readFile(name: string): Promise<CallFile> {
  const blob = await (await ask(name)).blob();
  return { blob, address: URL.createObjectURL(blob) };
}

/** A file of a call, asked for once. The token travels in a header, never in an address. */
export function fileOf(id: string, index: number): Promise<CallFile> {
  const name = `calls/${id}/files/${index}`;
  const known = files.get(name);
  if (known !== undefined) return known;
  const made = readFile(name);
  files.set(name, made);
  // It is asked for again when it is needed again.
  made.catch(() => files.delete(name));
  return made;
}
