import type { Operation } from '../../endpoints.ts';
import type { EmulatorClock } from '../control/clock.ts';
import { chargeDetails } from '../control/usage-log.ts';
import type { ModelAnswer } from '../control/canned.ts';
import { record, text } from '../control/json.ts';
import { refusal, routingRefusal, taskRefusal, type ErrorDialect } from './errors.ts';
import type { Fault } from '../faults/faults.ts';
import { Fields } from './fields.ts';
import type { Files } from './files.ts';
import type { Ids } from '../control/ids.ts';
import type { Ledger } from '../control/ledger.ts';
import { missingModel, findVendor, type EmulatorModel, type Vendor } from '../control/models.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { RequestBody } from './request-body.ts';
import type { ImageTasks } from '../images/tasks.ts';
import type { VideoTasks } from '../videos/tasks.ts';

/** Shared state of all handlers. */
export interface World {
  readonly quirks: Quirks;
  readonly clock: EmulatorClock;
  readonly ledger: Ledger;
  readonly ids: Ids;
  readonly files: Files;
  readonly tasks: VideoTasks;
  readonly imageTasks: ImageTasks;
  readonly models: readonly EmulatorModel[];
  /** Reject models that are not listed. */
  readonly strictModels: boolean;
  readonly vendorPrefix: string;
  readonly errors: ErrorDialect;
  /** Total credit units that may be charged. */
  readonly credit: number;
  /** Returns the second origin, which only serves files. */
  otherOrigin(origin: string): string;
}

/** A request for an operation. */
export interface Call {
  readonly operation: Operation;
  readonly request: Request;
  readonly url: URL;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  readonly requestId: string;
  /** The fault to inject. */
  readonly fault: Fault | undefined;
  /** The model output that a test defines. */
  readonly modelAnswer: ModelAnswer | undefined;
  readonly world: World;
}

/** Handles an operation. */
export type Handler = (call: Call) => Response | Promise<Response>;

const isVideo = (operation: Operation): boolean => operation.startsWith('videos.');

/** Creates the error for an invalid body, in the format of the route. */
export function invalid(
  { operation, world }: Call,
  message: string,
  code = 'invalid_request',
): Error {
  const status = world.quirks.invalidRequestStatus;
  const refuse = isVideo(operation) ? taskRefusal : refusal;
  return refuse(status, code, message);
}

/** Returns whether the request asks for an event stream. */
export function requestsStream({ operation, body, url }: Call): boolean {
  if (operation === 'generate.contentStream') return true;
  if (operation === 'generate.content') return url.searchParams.get('alt') === 'sse';
  return record(body.kind === 'json' ? body.value : undefined)['stream'] === true;
}

/** Returns the fields of the body. */
/** Throws for uploads that gateways with a strict parser refuse. */
function checkUploads(call: Call): void {
  const { body, world } = call;
  if (!world.quirks.strictUploads || body.kind !== 'multipart') return;
  for (const { filename, type } of body.files) {
    // Go's parser refuses the whole form.
    const hasControl = /\p{Cc}|%[01][\dA-Fa-f]|%7[Ff]/u.test(filename);
    if (hasControl) throw invalid(call, 'malformed MIME header');
    if (/\.(opus|oga)$/i.test(filename) || type === 'image/jpg') {
      throw invalid(call, `unsupported file format: ${filename}`);
    }
  }
}

export function readFields(call: Call): Fields {
  checkUploads(call);
  const { body } = call;
  if (body.kind === 'unread' && body.contentType?.startsWith('application/json') === true) {
    throw routingRefusal(400, '', 'Invalid request: invalid JSON request body');
  }
  const code = isVideo(call.operation) ? 'invalid_json' : 'invalid_request';
  return new Fields(body, (message) => invalid(call, message, code));
}

/** Returns the requested model after the gateway's first checks. */
export function checkModelName(call: Call, named: string | undefined): string {
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

/** Throws if the vendor of the model does not support the operation. */
export function checkVendor({ world }: Call, model: string, ...unable: readonly Vendor[]): void {
  const vendor = findVendor(world.models, model);
  if (vendor !== undefined && unable.includes(vendor)) {
    throw refusal(500, 'convert_request_failed', 'not implemented');
  }
}

/** Returns the model on a route that checks it after other fields. */
export function requireModel(call: Call, named: string | undefined): string {
  if (named === undefined || named === '') throw invalid(call, 'model is required');
  return checkModelName(call, named);
}

/** Credit units in one US dollar. */
export const unitsPerDollar = 500_000;

/** Details of a charge. */
export interface Work {
  readonly taskId?: string | undefined;
  readonly tokens?: readonly [prompt: number, completion: number] | undefined;
  /** Text for the usage log. */
  readonly content?: string | undefined;
}

/** Charges the account for a request; throws if the credit is used up. */
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
  if (!quirks.usageLogCharges) return;
  const other = chargeDetails(call.url.pathname, quirks.usageLogTaskIds ? taskId : undefined);
  ledger.usageLog.write({
    type: 'consume',
    model,
    quota: amount,
    at,
    tokens,
    content,
    isStream: requestsStream(call),
    requestId,
    other,
  });
}

/** Returns the field of the usage that reports a cost, by the quirk `reportedCost`. */
export const costField = (amount: number, { reportedCost }: Quirks): { readonly cost?: number } =>
  reportedCost === 'usage' ? { cost: amount / unitsPerDollar } : {};

/** Returns the cost of a request in US dollars, if the quirk `reportedCost` is `header` and it was charged. */
export function reportedCharge({ requestId, world }: Call): number | undefined {
  const { quirks, ledger } = world;
  if (quirks.reportedCost !== 'header') return undefined;
  const charged = ledger.charges.find((known) => known.requestId === requestId);
  return charged && charged.amount / unitsPerDollar;
}

/** Adds the header that reports the cost of a request, by the quirk `reportedCost`. */
export function withCostHeader(response: Response, call: Call): Response {
  const cost = reportedCharge(call);
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  if (cost === undefined || isStream) return response;
  response.headers.set('x-litellm-response-cost', String(cost));
  return response;
}

/** Adds a failed request to the usage log, unless the log has an entry for its charge. */
export function logError(call: Call, status: number, message: string): void {
  const { requestId, world, parameters } = call;
  const { ledger, quirks, tasks } = world;
  const isCharged = ledger.charges.some((known) => known.requestId === requestId);
  const isRead = call.request.method === 'GET';
  if (!quirks.usageLogErrors || isRead || isCharged) return;
  const original = tasks.get(parameters['video_id'] ?? '')?.model;
  const { body } = call;
  const fields = body.kind === 'json' ? body.value : body.kind === 'multipart' ? body.fields : {};
  const model = original ?? parameters['model'] ?? text(record(fields)['model']) ?? '';
  ledger.usageLog.write({
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

/** Returns the URL of a stored file. */
export function fileURL(
  { url, world }: Call,
  path: string,
  origin = world.quirks.fileOrigin,
): string {
  return (origin === 'other' ? world.otherOrigin(url.origin) : url.origin) + path;
}
