import type { Operation } from '../../endpoints.ts';
import type { EmulatorClock } from '../control/clock.ts';
import { chargeDetails } from '../control/books.ts';
import { record, text } from '../control/json.ts';
import { refusal, routingRefusal, taskRefusal } from './errors.ts';
import type { Fault } from '../faults/faults.ts';
import { Fields } from './fields.ts';
import type { Files } from './files.ts';
import type { Ids } from '../control/ids.ts';
import type { Ledger } from '../control/ledger.ts';
import { missingModel, vendorOf, type EmulatorModel, type Vendor } from '../control/models.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { RequestBody } from './request-body.ts';
import type { VideoTasks } from '../videos/tasks.ts';

/** What every handler works with. */
export interface World {
  readonly quirks: Quirks;
  readonly clock: EmulatorClock;
  readonly ledger: Ledger;
  readonly ids: Ids;
  readonly files: Files;
  readonly tasks: VideoTasks;
  readonly models: readonly EmulatorModel[];
  /** Whether a model that is not listed is refused. */
  readonly strictModels: boolean;
  readonly vendorPrefix: string;
  /** Credit units that may be charged in all. */
  readonly credit: number;
  /** The origin of files that are not the gateway's own. */
  otherOrigin(origin: string): string;
}

/** One request for an operation. */
export interface Call {
  readonly operation: Operation;
  readonly request: Request;
  readonly url: URL;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  readonly requestId: string;
  /** What is to go wrong. */
  readonly fault: Fault | undefined;
  readonly world: World;
}

/** Answers one operation. */
export type Handler = (call: Call) => Response | Promise<Response>;

const isVideo = (operation: Operation): boolean => operation.startsWith('videos.');

/** Refuses a body that does not fit, in the form that the route uses. */
export function invalid(
  { operation, world }: Call,
  message: string,
  code = 'invalid_request',
): Error {
  const status = world.quirks.invalidRequestStatus;
  const refuse = isVideo(operation) ? taskRefusal : refusal;
  return refuse(status, code, message);
}

/** Whether the request asks for an event stream. */
export function asksForStream({ operation, body, url }: Call): boolean {
  if (operation === 'generate.contentStream') return true;
  if (operation === 'generate.content') return url.searchParams.get('alt') === 'sse';
  return record(body.kind === 'json' ? body.value : undefined)['stream'] === true;
}

/** The fields of the body. */
export function fieldsOf(call: Call): Fields {
  const { body } = call;
  if (body.kind === 'unread' && body.contentType?.startsWith('application/json') === true) {
    throw routingRefusal(400, '', 'Invalid request: invalid JSON request body');
  }
  const code = isVideo(call.operation) ? 'invalid_json' : 'invalid_request';
  return new Fields(body, (message) => invalid(call, message, code));
}

/** The model that a request names, after the checks that come before everything else. */
export function modelOf(call: Call, named: string | undefined): string {
  const { models, strictModels } = call.world;
  if (named === undefined || named === '') {
    throw routingRefusal(400, '', 'Model name not specified, model name cannot be empty');
  }
  const known = !strictModels || models.some((model) => model.id === named);
  if (!known || named === missingModel) {
    const message = `No available channel for model ${named} under group default (distributor)`;
    throw routingRefusal(503, 'model_not_found', message);
  }
  return named;
}

/** Refuses a model of a vendor that the gateway cannot ask for this operation. */
export function checkVendor({ world }: Call, model: string, ...unable: readonly Vendor[]): void {
  const vendor = vendorOf(world.models, model);
  if (vendor !== undefined && unable.includes(vendor)) {
    throw refusal(500, 'convert_request_failed', 'not implemented');
  }
}

/** The model of a route that checks it itself, after the checks of the others. */
export function requiredModelOf(call: Call, named: string | undefined): string {
  if (named === undefined || named === '') throw invalid(call, 'model is required');
  return modelOf(call, named);
}

/** What a charge is for, besides its model. */
export interface Work {
  readonly taskId?: string | undefined;
  readonly tokens?: readonly [prompt: number, completion: number] | undefined;
  /** What the books say of it. */
  readonly content?: string | undefined;
}

/** Charges the account for the work of a request, or refuses it when the credit is used up. */
export function charge(call: Call, model: string, amount: number, work: Work = {}): void {
  const { operation, requestId, world } = call;
  const { taskId, tokens, content } = work;
  const { ledger, quirks } = world;
  world.tasks.settle();
  if (ledger.total + amount > world.credit) {
    const refuse = isVideo(operation) ? taskRefusal : refusal;
    const status = quirks.exhaustedCreditStatus;
    throw refuse(status, 'insufficient_user_quota', 'The credit of this account is used up');
  }
  const at = world.clock.now();
  ledger.add({ operation, model, amount, requestId, taskId, at });
  if (!quirks.booksCharges) return;
  const other = chargeDetails(call.url.pathname, quirks.booksNameTasks ? taskId : undefined);
  ledger.books.write({
    type: 'consume',
    model,
    quota: amount,
    at,
    tokens,
    content,
    isStream: asksForStream(call),
    requestId,
    other,
  });
}

/** Writes down that a request failed, unless it was charged all the same. */
export function noteError(call: Call, status: number, message: string): void {
  const { requestId, world, parameters } = call;
  const { ledger, quirks, tasks } = world;
  const isCharged = ledger.charges.some((known) => known.requestId === requestId);
  const isRead = call.request.method === 'GET';
  if (!quirks.booksErrors || isRead || isCharged) return;
  const original = tasks.get(parameters['video_id'] ?? '')?.model;
  const { body } = call;
  const fields = body.kind === 'json' ? body.value : body.kind === 'multipart' ? body.fields : {};
  const model = original ?? parameters['model'] ?? text(record(fields)['model']) ?? '';
  ledger.books.write({
    type: 'error',
    model,
    quota: 0,
    at: world.clock.now(),
    content: `status_code=${status}, ${message}`,
    requestId,
    other: {
      channel_id: 1,
      channel_name: 'emulator',
      channel_type: 1,
      error_code: 'bad_response_status_code',
      error_type: 'openai_error',
      request_path: call.url.pathname,
      status_code: status,
    },
  });
}

/** The address at which a stored file is served, seen from this request. */
export function fileURL(
  { url, world }: Call,
  path: string,
  origin = world.quirks.fileOrigin,
): string {
  return (origin === 'other' ? world.otherOrigin(url.origin) : url.origin) + path;
}
