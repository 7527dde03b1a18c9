import type { JsonObject } from '../../types.ts';
import { authenticate } from '../server/auth.ts';
import type { EmulatorClock } from './clock.ts';
import { preflightResponse, withCommonHeaders } from '../server/cors.ts';
import { Refusal } from '../server/errors.ts';
import type { Fault, FaultRule } from '../faults/faults.ts';
import { isObject } from '../../answers/objects.ts';
import { number, record, text } from './json.ts';
import type { Charge } from './ledger.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { ReceivedPreflight, ReceivedRequest } from './request-log.ts';
import { operations } from '../../endpoints.ts';
import type { EmulatorVideo } from '../videos/tasks.ts';

/** Prefix of the paths that control the emulator. */
export const controlPrefix = '/__emulator';

/** State of the emulator that can be read and changed over HTTP. */
export interface Controlled {
  readonly apiKey: string;
  readonly charges: readonly Charge[];
  readonly requests: readonly ReceivedRequest[];
  readonly preflights: readonly ReceivedPreflight[];
  readonly clock: EmulatorClock;
  readonly quirks: Quirks;
  readonly videos: { readonly list: readonly EmulatorVideo[] };
  fail(rule: FaultRule): unknown;
  reset(): void;
}

/** Returns a received request without the bytes of its body. */
function summary({ body, ...request }: ReceivedRequest): unknown {
  if (body.kind === 'unread') return { ...request, body: { ...body, bytes: body.bytes.length } };
  if (body.kind !== 'multipart') return { ...request, body };
  const files = body.files.map((file) => ({ ...file, file: undefined }));
  return { ...request, body: { ...body, files } };
}

function isFault(value: unknown): value is Fault {
  return isObject(value) && typeof value['type'] === 'string';
}

function readRule(value: JsonObject): FaultRule | undefined {
  const { fault } = value;
  const named = text(value['operation']) ?? '*';
  const operation = named === '*' ? '*' : operations.find((known) => known === named);
  if (!isFault(fault) || operation === undefined) return undefined;
  return { fault, operation, times: number(value['times']), after: number(value['after']) };
}

function steerClock(clock: EmulatorClock, order: JsonObject): unknown {
  const { speed, advance, hold } = order;
  if (typeof speed === 'number') clock.speed = speed;
  if (hold === true) clock.hold();
  if (hold === false) clock.release();
  if (typeof advance === 'number') clock.advance(advance);
  return { now: clock.now(), held: clock.held, speed: clock.speed };
}

function read(emulator: Controlled, path: string): unknown {
  switch (path) {
    case '/charges':
      return emulator.charges;
    case '/requests':
      return emulator.requests.map((request) => summary(request));
    case '/preflights':
      return emulator.preflights;
    case '/videos':
      return emulator.videos.list;
    case '/quirks':
      return emulator.quirks;
    default:
      return undefined;
  }
}

function steer(emulator: Controlled, path: string, order: JsonObject): unknown {
  switch (path) {
    case '/reset':
      emulator.reset();
      return {};
    case '/clock':
      return steerClock(emulator.clock, order);
    case '/quirks': {
      const known = Object.entries(order).filter(([name]) => name in emulator.quirks);
      return Object.assign(emulator.quirks, Object.fromEntries(known));
    }
    case '/faults': {
      const rule = readRule(order);
      if (rule !== undefined) emulator.fail(rule);
      return rule;
    }
    default:
      return undefined;
  }
}

async function handleControl(emulator: Controlled, request: Request): Promise<Response> {
  try {
    authenticate(request, emulator.apiKey);
    const path = new URL(request.url).pathname.slice(controlPrefix.length);
    const sent = request.method === 'POST' ? await request.text() : '';
    const order = sent === '' ? {} : record(JSON.parse(sent));
    const value = request.method === 'POST' ? steer(emulator, path, order) : read(emulator, path);
    if (value !== undefined) return Response.json(value);
  } catch (error) {
    if (error instanceof Refusal) return error.toResponse('');
    return Response.json({ error: String(error) }, { status: 400 });
  }
  return Response.json({ error: 'The emulator does not know this' }, { status: 404 });
}

/**
 * Handles a control request: reads state (GET) or changes it (POST). Requires the key, and rejects pages
 * except those from this machine and from the emulator's own origin.
 */
export async function answerControl(emulator: Controlled, request: Request): Promise<Response> {
  const serverOrigin = new URL(request.url).origin;
  const origin = request.headers.get('origin') ?? serverOrigin;
  const isLocal = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin);
  if (!isLocal && origin !== serverOrigin) {
    return Response.json({ error: 'Pages of other sites cannot steer it' }, { status: 403 });
  }
  if (request.method === 'OPTIONS') return preflightResponse();
  return withCommonHeaders(await handleControl(emulator, request));
}
