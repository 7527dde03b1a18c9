import { type ChargeEntry, GatewayError, InvalidInputError } from '../../index.ts';
import { isObject } from '../../answers/objects.ts';
import type { Backend } from './backend.ts';
import { callLimit, type Board } from './board.ts';
import { isCallId, type SentFiles } from './live-call.ts';
import { describeProblem } from './problem.ts';
import type {
  CallInput,
  Estimate,
  Hello,
  ListedModel,
  Priced,
  Problem,
  UsageLog,
} from './protocol.ts';
import { callKinds, findFault, scenarios } from './scenarios.ts';

/** The largest upload, in bytes. Gateways accept less. */
export const uploadLimit = 64 * 1024 * 1024;

/** The parts of the server that respond to the page. */
export interface ApiParts {
  readonly board: Board;
  readonly backend: Backend;
  readonly hello: Hello;
}

/** A request of the page was rejected. The page shows the message. */
class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function checkInput(value: unknown, isEmulator: boolean): void {
  const input = isObject(value) ? value : {};
  if (!callKinds.some((kind) => kind === input['kind'])) {
    throw new RequestError(400, `kind: must be one of ${callKinds.join(', ')}.`);
  }
  if (!isObject(input['body'])) throw new RequestError(400, 'body: must be an object.');
  const { fault, times = 1 } = input;
  if (fault !== undefined && !isEmulator) {
    throw new RequestError(400, 'fault: works only on the emulator; start with --emulator.');
  }
  if (fault !== undefined && (typeof fault !== 'string' || findFault(fault) === undefined)) {
    const names = scenarios.map(({ name }) => name).join(', ');
    throw new RequestError(400, `fault: must be one of ${names}.`);
  }
  if (typeof times !== 'number' || !Number.isInteger(times) || times < 1 || times > 10) {
    throw new RequestError(400, 'times: must be a whole number from 1 to 10.');
  }
}

/** Returns the request with a body that fails beyond the size limit. */
function limitBody(request: Request): Request {
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

const tooLarge = (): RequestError =>
  new RequestError(
    413,
    `The files are larger than ${uploadLimit / 1024 / 1024} MiB. Nothing was sent. Choose smaller ones, or send them from a program, which can stream files of any size.`,
  );

/** Parses the form of a call: the field `input`, and files. */
async function parseCall(
  request: Request,
  isEmulator: boolean,
): Promise<{ input: CallInput; files: SentFiles }> {
  if (Number(request.headers.get('content-length') ?? 0) > uploadLimit) throw tooLarge();
  const form = await limitBody(request)
    .formData()
    .catch((error: unknown) => {
      if (error instanceof RequestError) throw error;
      const cause = error instanceof Error ? error.cause : undefined;
      if (cause instanceof RequestError) throw cause;
      throw new RequestError(400, 'The form is not valid.');
    });
  let input: unknown;
  try {
    const text = form.get('input');
    input = JSON.parse(typeof text === 'string' ? text : '');
  } catch {
    throw new RequestError(400, 'input: is not valid JSON.');
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

/** The most calls whose log entries are read one by one. */
const readLimit = 50;

/** Returns the estimated price of all calls of a press as text, if the gateway's price list has it. Free. */
async function estimatePrice({ free }: Backend, request: Request): Promise<Estimate> {
  try {
    const priced: readonly Priced[] = await request.json();
    const signal = AbortSignal.timeout(15_000);
    let [sum, unit] = [0, ''];
    for (const call of priced) {
      const { amount } = await free.account.estimate(call, { signal });
      if (amount === undefined) return {};
      sum += amount.value;
      unit = amount.unit;
    }
    return { price: formatAmount(sum, unit) };
  } catch {
    // Not every gateway publishes prices, and the button has room for a price alone.
    return {};
  }
}

async function readCharges({ backend, board }: ApiParts): Promise<readonly ChargeEntry[]> {
  const { account } = backend.free;
  const options = { signal: AbortSignal.timeout(30_000) };
  try {
    return (await account.charges({}, options)).data;
  } catch (error) {
    // Some gateways only return the entries of a single request.
    const needsId = InvalidInputError.isInstance(error) && error.field === 'requestId';
    if (!needsId) throw error;
    const ids = board.calls.map(({ requestId, problem }) => requestId ?? problem?.requestId);
    const known = ids.filter((id) => id !== undefined).slice(-readLimit);
    const read = known.map((requestId) => account.charges({ requestId }, options));
    return (await Promise.all(read)).flatMap(({ data }) => data);
  }
}

const formatAmount = (value: number, unit: string): string =>
  unit === 'USD'
    ? `$${value.toLocaleString('en', { maximumSignificantDigits: 4 })}`
    : `${value.toLocaleString('en')} ${unit}`;

/** Reads the gateway's usage log. Only on the user's request, because gateways limit how often it can be read. */
async function readUsageLog(parts: ApiParts): Promise<UsageLog> {
  try {
    const data = await readCharges(parts);
    const sums = new Map<string, { value: number; unit: string }>();
    for (const { requestId, type, amount } of data) {
      if (requestId === undefined || type === 'error') continue;
      const sum = sums.get(requestId)?.value ?? 0;
      const value = type === 'refund' ? -amount.value : amount.value;
      sums.set(requestId, { value: sum + value, unit: amount.unit });
    }
    const charges = [...sums].map(([id, { value, unit }]): [string, string] => [
      id,
      formatAmount(value, unit),
    ]);
    return { charges: Object.fromEntries(charges) };
  } catch (error) {
    return { charges: {}, problem: describeProblem(error) };
  }
}

async function answerCall(
  request: Request,
  parts: ApiParts,
  [id = '', action, index]: readonly string[],
): Promise<Response> {
  const { board, backend } = parts;
  if (!isCallId(id))
    throw new RequestError(400, 'The id of a call must have 8 to 64 letters and digits.');
  const known = board.call(id);
  if (request.method === 'PUT' && action === undefined) {
    // Browsers may send a request twice, but the call is made only once.
    if (known !== undefined) return Response.json(known.view);
    if (board.isFull) {
      throw new RequestError(
        507,
        `The limit of ${callLimit} calls is reached. Save what you need and clear the list in Requests; nothing was sent.`,
      );
    }
    const { input, files } = await parseCall(request, backend.isEmulator);
    const concurrent = board.call(id);
    if (concurrent !== undefined) return Response.json(concurrent.view);
    return Response.json(await board.start(id, input, files), { status: 201 });
  }
  if (known === undefined) throw new RequestError(404, 'The call does not exist.');
  switch (`${request.method} ${action ?? ''}`) {
    case 'GET ':
      return Response.json(known.view);
    case 'POST stop':
      known.stop();
      return Response.json({});
    case 'POST resume':
      if (board.resume(known)) return Response.json({});
      throw new RequestError(409, 'The call has no video to wait for.');
    case 'DELETE ':
      if (await board.remove(known)) return Response.json({});
      throw new RequestError(409, 'The call is running. Stop it first.');
    case 'GET files': {
      const file = known.view.files[Number(index)];
      const bytes = file && (await board.readFile(id, Number(index)));
      if (file === undefined || bytes === undefined)
        throw new RequestError(404, 'The file does not exist.');
      return new Response(bytes, {
        headers: { 'content-type': file.type, 'content-disposition': 'attachment' },
      });
    }
    default:
      throw new RequestError(405, 'Calls do not support this method.');
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
    case 'POST estimate':
      return Response.json(await estimatePrice(backend, request));
    case 'GET usage-log':
      return Response.json(await readUsageLog(parts));
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
      const change: unknown = await request.json().catch(() => undefined);
      if (isObject(change)) backend.setClock(change);
      return Response.json(backend.account().clock);
    }
    default:
      throw new RequestError(404, 'The route does not exist.');
  }
}

/** Handles a request of the page. The caller has checked its origin and token. */
export async function answerApi(request: Request, parts: ApiParts): Promise<Response> {
  try {
    return await answer(request, parts);
  } catch (error) {
    const status = error instanceof RequestError ? error.status : 500;
    const message =
      error instanceof RequestError || GatewayError.isInstance(error)
        ? error.message
        : describeProblem(error).message;
    return Response.json({ message }, { status });
  }
}
