import { APIUserAbortError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { VideoSubmitUnknownError, VideoWaitAbortedError } from './errors.ts';
import { checkWord } from '../check.ts';
import { untilAborted } from '../http/until-aborted.ts';
import { isObject } from '../answers/objects.ts';
import { parseVideoTaskRef } from './task-ref.ts';
import { abortedError, callbackError, summarize } from './wait-errors.ts';
import type { VideoSubmitOptions } from './wait-options.ts';
import { giveUpAfterAbort } from '../http/give-up.ts';
import type { SubmitClaim, SubmitEnd, SubmitLedger } from './submit-ledger.ts';
import type { VideoTaskRef } from './types.ts';
import { unknownAdvice } from './answers.ts';

type Signal = AbortSignal | null | undefined;

/** What a call is entered under. */
export interface LedgerCall {
  readonly ledger: SubmitLedger;
  readonly callId: string;
  readonly signal: Signal;
}

/** How long somebody who is told of a paid task is given for it after an abort, in milliseconds. */
const lastWord = 5_000;

/**
 * Checks the options of a submission that concern its ledger.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function checkLedger({
  ledger,
  callId,
  onUnknown = 'fail',
  signal,
}: VideoSubmitOptions): LedgerCall | undefined {
  checkWord('onUnknown', onUnknown, ['fail', 'resubmit']);
  if (ledger === undefined) return undefined;
  for (const method of ['claim', 'accept', 'finish'] as const) {
    if (typeof ledger?.[method] === 'function') continue;
    throw new InvalidInputError('ledger', `has no method ${method}(); give a SubmitLedger.`);
  }
  if (callId === undefined) {
    throw new InvalidInputError(
      'callId',
      'is needed with a ledger; give the id of your job, the same at every attempt.',
    );
  }
  return { ledger, callId, signal };
}

/** Gives somebody who is told of a paid task the time for it, but not for ever once it is aborted. */
async function patiently<T>(told: Promise<T>, signal: Signal): Promise<T> {
  if (!signal) return told;
  return giveUpAfterAbort(told, signal, lastWord, () => signal.reason);
}

/**
 * Hands a paid task over to something of the caller's.
 *
 * @throws `VideoWaitError` with the handle when that throws, `VideoWaitAbortedError` when it hangs and
 * the call is aborted
 */
export async function handOver(
  name: 'onSubmitted' | 'ledger.accept',
  ref: VideoTaskRef,
  tell: () => unknown,
  signal: Signal,
): Promise<void> {
  try {
    await patiently((async () => tell())(), signal);
  } catch (error) {
    const isOver = signal?.aborted === true && error === signal.reason;
    throw isOver ? abortedError(summarize(ref), error) : callbackError(name, summarize(ref), error);
  }
}

/** Enters the task that a call has made. */
export async function accept(call: LedgerCall, ref: VideoTaskRef): Promise<void> {
  const { ledger, callId, signal } = call;
  try {
    await handOver('ledger.accept', ref, () => ledger.accept(callId, ref), signal);
  } catch (error) {
    // One that hangs may still be entering it, and is not to be talked over.
    if (!VideoWaitAbortedError.isInstance(error)) await finish(call, 'unknown');
    throw error;
  }
}

/** Tells the ledger how a call ended. What is lost when that fails or hangs is only told again. */
export async function finish({ ledger, callId }: LedgerCall, end: SubmitEnd): Promise<void> {
  try {
    // It is over already: whoever waits for the end is not kept for long.
    await patiently((async () => ledger.finish(callId, end))(), AbortSignal.abort());
  } catch {
    // A call that stays claimed is not submitted again, and one that stays accepted is only read.
  }
}

function checkClaim(given: SubmitClaim): SubmitClaim {
  const words = ['claimed', 'submitting', 'unknown', 'accepted', 'finished'] as const;
  if (isObject(given) && words.some((word) => word === given.status)) return given;
  throw new InvalidInputError(
    'ledger',
    `gave no claim; claim() must give { status } with one of "${words.join('", "')}".`,
  );
}

/** Asks the ledger for a call. Nothing is sent before its answer has come. */
async function ask(call: LedgerCall, digest: string, replaces?: string): Promise<SubmitClaim> {
  const { ledger, callId, signal } = call;
  const asked = (async () => ledger.claim(callId, digest, replaces))();
  try {
    return checkClaim(await (signal ? untilAborted(asked, signal) : asked));
  } catch (cause) {
    if (InvalidInputError.isInstance(cause)) throw cause;
    if (signal?.aborted !== true) {
      const problem = 'failed to claim the call; nothing was submitted.';
      throw new InvalidInputError('ledger', problem, { cause });
    }
    // A claim that comes too late is given back: nobody will submit.
    asked
      .then(({ status }) => (status === 'claimed' ? finish(call, 'not_submitted') : undefined))
      .catch(() => {});
    throw new APIUserAbortError('The submission was aborted before anything was sent.', {
      outcome: 'not_sent',
      callId,
      cause: signal.reason,
    });
  }
}

/** The task of a call that was accepted; databases may hold the field for others too. */
function acceptedIn(found: SubmitClaim): VideoTaskRef | undefined {
  if (found.status !== 'accepted' && found.status !== 'finished') return undefined;
  return parseVideoTaskRef('ref' in found ? found.ref : undefined);
}

/** The task that was made of a call before; `undefined` when it may be submitted now. */
export async function claim(
  call: LedgerCall,
  digest: string,
  onUnknown: VideoSubmitOptions['onUnknown'],
): Promise<VideoTaskRef | undefined> {
  const { callId } = call;
  let found = await ask(call, digest);
  if (found.status === 'claimed') return undefined;
  if (found.inputHash !== '' && found.inputHash !== digest) {
    throw new InvalidInputError('callId', 'belongs to another submission; give each its own.');
  }
  const isDone = acceptedIn(found) !== undefined;
  if (!isDone && 'claimId' in found && found.isAlive !== true && onUnknown === 'resubmit') {
    found = await ask(call, digest, found.claimId);
    if (found.status === 'claimed') return undefined;
  }
  const known = acceptedIn(found);
  if (known !== undefined) return known;
  const problem =
    'isAlive' in found && found.isAlive === true
      ? 'is being submitted at this moment'
      : 'was submitted before, and it is not known whether that made a task';
  throw new VideoSubmitUnknownError(`Call ${callId} ${problem}.`, {
    callId,
    evidence: { phase: 'sent', attempts: [] },
    advice: `${unknownAdvice} onUnknown: "resubmit" does it all the same.`,
  });
}

function sortFields(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A digest that does not depend on the order of fields, which databases change. */
export async function digestOf(content: unknown): Promise<string> {
  let text: string;
  try {
    text = JSON.stringify(content, sortFields);
  } catch (cause) {
    const problem = 'cannot be written as JSON; it may hold a cycle or a BigInt.';
    throw new InvalidInputError('body', problem, { cause });
  }
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
