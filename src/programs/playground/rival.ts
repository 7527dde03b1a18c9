import { endpoints, type Operation } from '../../index.ts';
import { createEmulator, type Fault } from '../../testing/index.ts';
import type { JsonObject } from '../../types.ts';
import type { CallKind, Hello, Rival, RivalName } from './protocol.ts';
import { callKinds } from './scenarios.ts';

/** The default behaviour of another SDK, as measured in `bench/duplicates`. */
interface RetryRule {
  readonly name: RivalName;
  /** The calls that the SDK has. */
  readonly kinds: readonly CallKind[];
  /** The default number of retries. */
  readonly maxRetries: number;
  /** Returns whether an error status is retried. */
  readonly retriesStatus: (status: number) => boolean;
  /** `true` if a body that is cut off is retried like a lost connection. */
  readonly retriesCutBody: boolean;
  /** `true` if the SDK limits the time of a request. `openai`: ten minutes. */
  readonly limitsTime: boolean;
  /** `true` if a success response without a result is an error. */
  readonly checksResult: boolean;
  /** The error after a lost connection. */
  readonly connectionError: string;
  /** The error after an error status. */
  readonly statusError: string;
  /** The error after a body that is cut off. */
  readonly cutError: string;
  /** The error after the last of several attempts, if it differs. */
  readonly retryError?: string;
}

/** The rules, in the order of the page. */
const rules: readonly RetryRule[] = [
  {
    name: 'openai',
    kinds: callKinds,
    maxRetries: 2,
    retriesStatus: (status) => [408, 409, 429].includes(status) || status >= 500,
    retriesCutBody: false,
    limitsTime: true,
    checksResult: false,
    connectionError: 'an APIConnectionError',
    statusError: 'an APIError',
    cutError: 'a TypeError',
  },
  {
    name: 'ai',
    kinds: ['image', 'chat'],
    maxRetries: 2,
    retriesStatus: (status) => [408, 409, 429].includes(status) || status >= 500,
    retriesCutBody: true,
    limitsTime: false,
    checksResult: true,
    connectionError: 'an APICallError',
    statusError: 'an APICallError',
    cutError: 'an APICallError',
    retryError: 'a RetryError',
  },
  {
    name: 'replicate',
    kinds: ['image', 'video'],
    maxRetries: 5,
    retriesStatus: (status) => status === 429,
    retriesCutBody: false,
    limitsTime: false,
    checksResult: false,
    connectionError: 'a TypeError',
    statusError: 'an ApiError',
    cutError: 'a TypeError',
  },
  {
    name: '@fal-ai/client',
    kinds: ['image', 'video'],
    maxRetries: 3,
    retriesStatus: (status) => [429, 502, 503, 504].includes(status),
    retriesCutBody: true,
    limitsTime: false,
    checksResult: false,
    connectionError: 'a TypeError',
    statusError: 'an ApiError',
    cutError: 'a TypeError',
  },
];

/** Returns the SDKs for the page. */
export const describeRivals = (): Hello['rivals'] =>
  rules.map(({ name, kinds }) => ({ name, kinds }));

/** Replaces time limits of minutes, in milliseconds. */
const requestTimeout = 1_500;

/** Silence, in milliseconds, after which a call without a time limit counts as waiting. */
const silenceLimit = 400;

type Ending = Pick<Rival, 'ended' | 'result'>;

const waiting: Ending = { ended: 'waiting', result: 'still waits, without a time limit' };

const complete: Ending = { ended: 'answer', result: 'receives the response' };

/** Reads a body without a time limit. @throws if it is cut off */
async function readEnd(
  answer: Response,
  isStream: boolean,
  { checksResult, statusError }: RetryRule,
): Promise<Ending> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  for (;;) {
    const silence = new Promise<'silent'>((resolve) => setTimeout(resolve, silenceLimit, 'silent'));
    const next = await Promise.race([reader?.read(), silence]);
    if (next === 'silent') {
      await reader?.cancel();
      return waiting;
    }
    if (next === undefined || next.done) break;
    text += decoder.decode(next.value, { stream: true });
  }
  const isError = /^\s*\{"error"/.test(text) || /^\s*</.test(text);
  const isComplete = !isError && (!isStream || /"finish_reason":\s*"/.test(text));
  if (isComplete) return complete;
  if (checksResult) {
    const error = isStream ? 'an InvalidResponseDataError' : statusError;
    return { ended: 'error', result: `receives ${error}` };
  }
  if (isError) return { ended: 'answer', result: 'receives a success without a result' };
  return { ended: 'answer', result: 'receives a partial response that looks complete' };
}

/** Runs one call under a rule on a separate emulator, without pauses between attempts. */
async function runRule(
  rule: RetryRule,
  operation: Operation,
  body: JsonObject,
  fault: Fault | undefined,
  times: number,
): Promise<Rival> {
  const emulator = createEmulator({ videoDuration: 0, quirks: { eventDelay: 0 } });
  if (fault !== undefined) emulator.fail({ operation, fault, times });
  const isStream = body['stream'] === true;
  let requests = 0;
  const fail = (error: string): Ending => {
    const last = requests > 1 ? (rule.retryError ?? error) : error;
    return { ended: 'error', result: `receives ${last}` };
  };
  const sendOnce = async (): Promise<Ending | 'retry'> => {
    requests += 1;
    const isLast = requests > rule.maxRetries;
    const controller = new AbortController();
    const limit = fault?.type === 'hang' ? requestTimeout : 60_000;
    const timer = setTimeout(() => controller.abort(), limit);
    let answer: Response | undefined;
    try {
      answer = await emulator.fetch(emulator.baseURL + endpoints[operation].path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${emulator.apiKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
        signal: controller.signal,
      });
      if (answer.ok) return await readEnd(answer, isStream, rule);
      await answer.body?.cancel();
      if (rule.retriesStatus(answer.status) && !isLast) return 'retry';
      return fail(`${rule.statusError} with the status ${answer.status}`);
    } catch {
      if (controller.signal.aborted && !rule.limitsTime) return waiting;
      // A stream is handed to the caller before it is cut off.
      const isRetried = answer === undefined || (rule.retriesCutBody && !isStream);
      if (isRetried && !isLast) return 'retry';
      return fail(answer === undefined ? rule.connectionError : rule.cutError);
    } finally {
      clearTimeout(timer);
    }
  };
  let ending = await sendOnce();
  while (ending === 'retry') ending = await sendOnce();
  const { charges } = emulator;
  const amount = charges.reduce((sum, charge) => sum + charge.amount, 0);
  await emulator[Symbol.asyncDispose]();
  return { name: rule.name, requests, charges: charges.length, amount, ...ending };
}

/**
 * Makes the same call with the default retry rules of other SDKs, and counts the charges.
 *
 * @param times - The number of requests that the fault hits.
 * @returns one result for each SDK that has this kind of call
 */
export function runRivals(
  kind: CallKind,
  operation: Operation,
  body: JsonObject,
  fault: Fault | undefined,
  times: number,
): Promise<Rival[]> {
  return Promise.all(
    rules
      .filter((rule) => rule.kinds.includes(kind))
      .map((rule) => runRule(rule, operation, body, fault, times)),
  );
}
