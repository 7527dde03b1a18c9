import { GatewayError } from '../index.ts';
import { isObject } from '../answers/objects.ts';
import type { Backend } from './backend.ts';
import { callLimit, type Board } from './board.ts';
import { isCallId, type SentFiles } from './live-call.ts';
import { describeProblem } from './problem.ts';
import type { BooksRead, CallInput, CallKind, Hello, ListedModel, Problem } from './protocol.ts';
import { faultOf, scenarios } from './scenarios.ts';

/** The largest upload, in bytes: what gateways take is smaller. */
export const uploadLimit = 64 * 1024 * 1024;

/** What answers the page. */
export interface ApiParts {
  readonly board: Board;
  readonly backend: Backend;
  readonly hello: Hello;
}

/** What the page is told when its order cannot be carried out. */
class OrderError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const kinds: readonly CallKind[] = [
  'chat',
  'image',
  'speech',
  'translation',
  'embeddings',
  'video',
];

function checkInput(value: unknown, isEmulator: boolean): void {
  const input = isObject(value) ? value : {};
  if (!kinds.some((kind) => kind === input['kind'])) {
    throw new OrderError(400, `kind: must be one of ${kinds.join(', ')}.`);
  }
  if (!isObject(input['body'])) throw new OrderError(400, 'body: must be an object.');
  const { fault, times = 1 } = input;
  if (fault !== undefined && !isEmulator) {
    throw new OrderError(
      400,
      'fault: a real gateway cannot be told to fail; start with --emulator.',
    );
  }
  if (fault !== undefined && (typeof fault !== 'string' || faultOf(fault) === undefined)) {
    const names = scenarios.map(({ name }) => name).join(', ');
    throw new OrderError(400, `fault: must be one of ${names}.`);
  }
  if (typeof times !== 'number' || !Number.isInteger(times) || times < 1 || times > 10) {
    throw new OrderError(400, 'times: must be a whole number from 1 to 10.');
  }
}

/** A body that is not larger than it may be. */
function bounded(request: Request): Request {
  let length = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      length += piece.byteLength;
      if (length > uploadLimit) controller.error(tooLarge());
      else controller.enqueue(piece);
    },
  });
  const body = request.body?.pipeThrough(counter) ?? null;
  return new Request(request.url, {
    method: request.method,
    headers: request.headers,
    ...(body === null ? {} : { body, duplex: 'half' }),
  });
}

const tooLarge = (): OrderError =>
  new OrderError(
    413,
    `The files are larger than ${uploadLimit / 1024 / 1024} MiB. Nothing was sent. Choose smaller ones, or send them from a program: it streams files of any size.`,
  );

/** Reads an order: a form with the field `input`, and files. */
async function readOrder(
  request: Request,
  isEmulator: boolean,
): Promise<{ input: CallInput; files: SentFiles }> {
  if (Number(request.headers.get('content-length') ?? 0) > uploadLimit) throw tooLarge();
  const form = await bounded(request)
    .formData()
    .catch((error: unknown) => {
      if (error instanceof OrderError) throw error;
      const cause = error instanceof Error ? error.cause : undefined;
      if (cause instanceof OrderError) throw cause;
      throw new OrderError(400, 'The order cannot be read.');
    });
  let input: unknown;
  try {
    const text = form.get('input');
    input = JSON.parse(typeof text === 'string' ? text : '');
  } catch {
    throw new OrderError(400, 'input: is no JSON.');
  }
  checkInput(input, isEmulator);
  const files = new Map<string, File[]>();
  for (const [field, value] of form) {
    if (typeof value !== 'string') files.set(field, [...(files.get(field) ?? []), value]);
  }
  const checked: CallInput = JSON.parse(JSON.stringify(input));
  return { input: checked, files };
}

async function listModels({ free }: Backend): Promise<{
  models: ListedModel[];
  problem?: Problem;
}> {
  try {
    const { data } = await free.models.list({ timeout: 15_000, maxRetries: 0 });
    return { models: data.map(({ id, type }) => ({ id, type })) };
  } catch (error) {
    return { models: [], problem: describeProblem(error) };
  }
}

/** What the gateway has written down, by request. Read when a person asks: gateways allow it rarely. */
async function readBooks({ free }: Backend): Promise<BooksRead> {
  try {
    const { data } = await free.account.charges({}, { signal: AbortSignal.timeout(30_000) });
    const sums = new Map<string, { value: number; unit: string }>();
    for (const { requestId, type, amount } of data) {
      if (requestId === undefined || type === 'error') continue;
      const before = sums.get(requestId)?.value ?? 0;
      const value = type === 'refund' ? -amount.value : amount.value;
      sums.set(requestId, { value: before + value, unit: amount.unit });
    }
    const lines = [...sums].map(([id, { value, unit }]): [string, string] => [
      id,
      `${value.toLocaleString('en')} ${unit}`,
    ]);
    return { lines: Object.fromEntries(lines) };
  } catch (error) {
    return { lines: {}, problem: describeProblem(error) };
  }
}

async function answerCall(
  request: Request,
  parts: ApiParts,
  [id = '', action, index]: readonly string[],
): Promise<Response> {
  const { board, backend } = parts;
  if (!isCallId(id)) throw new OrderError(400, 'The id of a call is 8 to 64 letters and digits.');
  const known = board.call(id);
  if (request.method === 'PUT' && action === undefined) {
    // An order that comes twice, as browsers may send it, is carried out once.
    if (known !== undefined) return Response.json(known.view);
    if (board.isFull) {
      throw new OrderError(
        507,
        `There are ${callLimit} calls. Save what you need and clear the list in Requests; nothing was sent.`,
      );
    }
    const { input, files } = await readOrder(request, backend.isEmulator);
    const twin = board.call(id);
    if (twin !== undefined) return Response.json(twin.view);
    return Response.json(await board.start(id, input, files), { status: 201 });
  }
  if (known === undefined) throw new OrderError(404, 'There is no such call.');
  switch (`${request.method} ${action ?? ''}`) {
    case 'GET ':
      return Response.json(known.view);
    case 'POST stop':
      known.stop();
      return Response.json({});
    case 'POST resume':
      if (board.resume(known)) return Response.json({});
      throw new OrderError(409, 'There is nothing to wait for.');
    case 'DELETE ':
      if (await board.remove(known)) return Response.json({});
      throw new OrderError(409, 'The call is under way. Stop it first.');
    case 'GET files': {
      const file = known.view.files[Number(index)];
      const bytes = file && (await board.readFile(id, Number(index)));
      if (file === undefined || bytes === undefined) throw new OrderError(404, 'No such file.');
      return new Response(bytes, {
        headers: { 'content-type': file.type, 'content-disposition': 'attachment' },
      });
    }
    default:
      throw new OrderError(405, 'This cannot be done with a call.');
  }
}

async function answer(request: Request, parts: ApiParts): Promise<Response> {
  const { board, backend, hello } = parts;
  const [resource = '', ...rest] = new URL(request.url).pathname.split('/').slice(2);
  if (resource === 'calls' && rest.length > 0) return answerCall(request, parts, rest);
  switch (`${request.method} ${resource}`) {
    case 'GET hello':
      return Response.json(hello);
    case 'GET models':
      return Response.json(await listModels(backend));
    case 'GET books':
      return Response.json(await readBooks(backend));
    case 'GET events':
      return new Response(board.watch(), { headers: { 'content-type': 'application/x-ndjson' } });
    case 'GET calls':
      return Response.json(board.calls);
    case 'DELETE calls': {
      const ended = board.calls.map(({ id }) => board.call(id));
      for (const call of ended) if (call !== undefined) await board.remove(call);
      return Response.json({});
    }
    case 'POST clock': {
      const order: unknown = await request.json().catch(() => undefined);
      if (isObject(order)) backend.steerClock(order);
      return Response.json(backend.books().clock);
    }
    default:
      throw new OrderError(404, 'The playground does not know this.');
  }
}

/** Answers what the page asks for. Whoever asks has been checked. */
export async function answerApi(request: Request, parts: ApiParts): Promise<Response> {
  try {
    return await answer(request, parts);
  } catch (error) {
    const status = error instanceof OrderError ? error.status : 500;
    const message =
      error instanceof OrderError || GatewayError.isInstance(error)
        ? error.message
        : describeProblem(error).message;
    return Response.json({ message }, { status });
  }
}
