import { readErrorText } from '../../../../answers/failure.ts';
import { means, missingModel, unsuitedModel } from '../../../../answers/error-codes.ts';
import { codeText, errorMessage, trimmedText } from '../../../../answers/objects.ts';
import {
  APIConnectionTimeoutError,
  APIError,
  GatewayError,
  ImageFailedError,
  ImageWaitTimeoutError,
  InvalidInputError,
  StreamTimeoutError,
  UnsupportedByGatewayError,
  VideoFailedError,
  VideoWaitTimeoutError,
} from '../../../../index.ts';
import { ReportedCosts } from '../../../reported-costs.ts';
import { createClient, locate, type Target } from '../probe.ts';
import { type Exchange, isPost, recordExchanges } from './exchanges.ts';
import { CallFailure, type ExtraRow, type ReportCall, type Shared } from './call.ts';

/** The result of a call, with everything needed to find its charge. */
export interface CallResult {
  readonly status: 'pass' | 'fail' | 'unsupported' | 'timeout';
  readonly detail: string;
  readonly extra: readonly ExtraRow[];
  readonly exchanges: readonly Exchange[];
  /** The cost that the responses report, in US dollars. */
  readonly reported: number | undefined;
  /** `true` if the gateway may have charged for it. */
  readonly mayBeCharged: boolean;
  /** The model does not exist, or does not serve the call, which says nothing about the gateway. */
  readonly modelProblem: 'unknown' | 'unserved' | undefined;
  readonly milliseconds: number;
}

const timeouts = [
  APIConnectionTimeoutError,
  StreamTimeoutError,
  VideoWaitTimeoutError,
  ImageWaitTimeoutError,
];

const unsupportedMessage =
  /not (be )?(supported|implemented|enabled)|unsupported|(does|do)(n't| not) support|unknown (parameter|field)|not (a )?valid (parameter|format)|invalid url|no route|unavailable now|are not valid|only for api versions|inputs are not permitted/i;

/** Returns why another model may serve a call that was rejected. */
function findModelProblem(
  error: unknown,
  exchanges: readonly Exchange[],
  { otherModel, tested }: ReportCall,
): CallResult['modelProblem'] {
  const last = exchanges.at(-1);
  if (!APIError.isInstance(error) || last === undefined || last.status < 400) return undefined;
  const body = readErrorText(last.text);
  const { message = '' } = body;
  if (means(body, missingModel)) return 'unknown';
  if (tested?.test(message) === true) return undefined;
  return means(body, unsuitedModel) || otherModel?.test(message) === true ? 'unserved' : undefined;
}

function toStatus(error: unknown, { foreign }: ReportCall): CallResult['status'] {
  if (timeouts.some((timeout) => timeout.isInstance(error))) return 'timeout';
  if (error instanceof CallFailure) return error.isUnsupported ? 'unsupported' : 'fail';
  if (UnsupportedByGatewayError.isInstance(error) || InvalidInputError.isInstance(error))
    return 'unsupported';
  if (!APIError.isInstance(error)) return 'fail';
  const { status = 0, message, type } = error;
  if (status === 408 || status === 504) return 'timeout';
  if (means({ code: codeText(error.code), type, message }, missingModel)) return 'fail';
  const isForeign = unsupportedMessage.test(message) || foreign?.test(message) === true;
  return [404, 405, 501].includes(status) || isForeign ? 'unsupported' : 'fail';
}

/** Returns the exchange that an error describes: the first 404 if the client also looked without `/v1`. */
function findAnswer(error: unknown, exchanges: readonly Exchange[]): Exchange | undefined {
  const id = APIError.isInstance(error) ? error.requestID : undefined;
  const described = id
    ? exchanges.findLast(({ headers }) => [...headers.values()].includes(id))
    : undefined;
  return described ?? exchanges.at(-1);
}

/** Maximum length of a quoted error message. */
const longestQuote = 160;

/**
 * Describes a failure by the status and the error message of the gateway, without contents.
 *
 * @param clean - Removes secrets. Called before a message is cut, because a half of a key is still a secret.
 */
function describeError(
  error: unknown,
  exchanges: readonly Exchange[],
  clean: (text: string) => string,
): string {
  const last = findAnswer(error, exchanges);
  const isOwn = error instanceof CallFailure || InvalidInputError.isInstance(error);
  if (isOwn) return errorMessage(error);
  const name = error instanceof Error ? error.name : String(error);
  if (VideoFailedError.isInstance(error) || ImageFailedError.isInstance(error)) {
    return `${name}: ${clean(error.summary).slice(0, longestQuote)}`;
  }
  if (last === undefined || last.status < 400) {
    const code =
      GatewayError.isInstance(error) && 'code' in error ? trimmedText(error.code) : undefined;
    const status = last === undefined ? '' : `${last.status}; `;
    return `${status}${name}${code === undefined ? '' : ` (${code})`}`;
  }
  const { message = 'without a message', code, type } = readErrorText(last.text);
  const label = trimmedText(code) ?? trimmedText(type);
  const kind = label === undefined || label === String(last.status) ? '' : ` ${label}`;
  return `${last.status}${kind}: ${clean(message).slice(0, longestQuote)}`;
}

/** Functions of the report that its calls use. */
export interface CallHooks {
  readonly onTask: (id: string) => void;
  /** Removes secrets from a text. */
  readonly clean: (text: string) => string;
}

/** Makes a call and describes its result. */
export async function makeCall(
  target: Target,
  call: ReportCall,
  model: string,
  shared: Shared,
  { onTask, clean }: CallHooks,
): Promise<CallResult> {
  const { signal } = target;
  const timeout = target.timeout * call.patience;
  const costs = new ReportedCosts();
  const { fetch, exchanges, posts } = recordExchanges();
  const client = createClient(target, {
    timeout,
    totalTimeout: timeout,
    observer: costs,
    fetch: (input, init) => fetch(input, { ...init, signal: joined(init?.signal, signal) }),
  });
  const context = {
    client,
    profile: locate(target)?.gateway?.profile,
    model,
    shared,
    exchanges,
    timeout,
    signal,
    onTask,
  };
  const start = performance.now();
  let failure: { readonly error: unknown } | undefined;
  try {
    await call.run(context);
  } catch (error) {
    failure = { error };
  }
  const milliseconds = Math.round(performance.now() - start);
  const answer = exchanges.findLast(isPost) ?? exchanges.at(-1);
  const isAnswered = answer !== undefined && (answer.status < 300 || failure === undefined);
  const facts = isAnswered ? call.facts(answer, context) : [];
  const status = failure === undefined ? 'pass' : toStatus(failure.error, call);
  const problem =
    failure && (signal.aborted ? 'interrupted' : describeError(failure.error, exchanges, clean));
  const evidence = [problem ?? `${answer?.status ?? 'no response'}`, ...facts];
  const isRefused = GatewayError.isInstance(failure?.error) && failure.error.outcome !== 'unknown';
  const isUnclear = failure !== undefined && !isRefused;
  const isCharged = exchanges.some((exchange) => isPost(exchange) && exchange.status < 300);
  return {
    status,
    detail: [...new Set(evidence)].join('; '),
    extra: isAnswered ? (call.extraRows?.(answer, context) ?? []) : [],
    exchanges,
    reported: costs.total,
    modelProblem: findModelProblem(failure?.error, exchanges, call),
    mayBeCharged: call.work.requests !== 0 && posts() > 0 && (isCharged || isUnclear),
    milliseconds,
  };
}

const joined = (signal: AbortSignal | null | undefined, other: AbortSignal): AbortSignal =>
  signal ? AbortSignal.any([signal, other]) : other;
