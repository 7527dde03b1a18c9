import { GatewayError, revise } from '../errors/gateway-error.ts';
import { allowLateness, followSignal } from '../http/abort.ts';
import type { WithResponse } from '../calls/promise.ts';
import type { Transport } from '../calls/transport.ts';
import type { RequestOptions } from '../options/options.ts';
import type { JsonObject } from '../types.ts';
import { isUploadable } from '../uploads/file-input.ts';
import type { AnyRef, Submission } from './kind.ts';
import { LedgerCall, type SubmitLedger, type SubmittedRequest } from './ledger.ts';

/** Options that prevent a submission from being sent twice, also by a new process after a crash. */
export interface LedgerOptions {
  /**
   * Records submissions before they are sent. A call id that was accepted before is not sent again: its
   * existing task is returned. Needs `callId`.
   *
   * If `signal`, `totalTimeout` or `timeout` ends the call while its request is under way, the call throws at once,
   * and the request goes on for up to 30 seconds; it is not repeated. The ledger gets its outcome: the task, a
   * rejection, or `unknown` if no response arrives. The next call of the client with the same id waits for that.
   * Await `client.settled()` before the process ends.
   */
  ledger?: SubmitLedger | undefined;
  /**
   * Your own id for this submission, for example that of a job. Use the same id for every attempt of the
   * job, and for nothing else. It is also the `callId` of the handle and of errors.
   * @defaultValue a new id, unless there is a ledger
   */
  callId?: string | undefined;
  /**
   * Selects the action if the ledger knows the call, but not whether it was accepted: a process died after
   * claiming it, or the response was lost. `"resubmit"` submits again and may pay twice.
   *
   * `"settle"` looks it up in the gateway's usage log (`account.settle()`), and never pays twice. It submits
   * again only if the log proves that the first one was refunded or not charged, and waits for the charged
   * task if the log names it. In all other cases it throws, because a missing entry proves nothing.
   * @defaultValue "fail": `VideoSubmitUnknownError`
   */
  onUnknown?: 'fail' | 'resubmit' | 'settle' | undefined;
}

export function holdsFile(value: unknown): boolean {
  return isUploadable(value) || (Array.isArray(value) && value.some(isUploadable));
}

/** Sorts fields with files last, so that a gateway knows the model before it reads the files. */
export function filesLast(fields: JsonObject) {
  return Object.entries(fields)
    .map(([name, value]) => ({ name, value, isFile: holdsFile(value) }))
    .toSorted((one, other) => Number(one.isFile) - Number(other.isFile));
}

/**
 * Returns the submitted content in a form that identifies it, independent of its encoding. Files are
 * represented only by their field names. Ledgers store digests of this form, so it must not change.
 */
export function comparable(fields: JsonObject): readonly unknown[] {
  const entries = filesLast(fields);
  if (!entries.some(({ isFile }) => isFile)) return [fields, undefined];
  return [undefined, entries.map(({ name, value }) => [name, withoutFiles(value)])];
}

function withoutFiles(value: unknown): unknown {
  if (isUploadable(value)) return false;
  return Array.isArray(value) ? value.map(withoutFiles) : value;
}

/**
 * Returns the only request of a failed submission. With fallbacks, only requests to the last model count,
 * because the other models rejected theirs.
 */
function onlyRequest(error: unknown): SubmittedRequest {
  if (!GatewayError.isInstance(error)) return {};
  const { attempts } = error.evidence;
  const last = attempts.at(-1)?.model;
  const [request = {}, ...others] = attempts.filter(
    ({ phase, model }) => phase !== 'connect' && model === last,
  );
  return others.length === 0 ? request : {};
}

/** A task that this call submitted, or that the ledger already had. */
export interface Submitted<Ref extends AnyRef, Answer> {
  readonly ref: Ref;
  /** The response, if this call submitted the task. */
  readonly response?: Answer;
  /** The ledger entry of the submission. */
  readonly call: LedgerCall<Ref> | undefined;
}

/** How long a submission with a ledger goes on after its call has ended, in milliseconds. */
const lateGrace = 30_000;

const lateAdvice = `The submission goes on for up to ${lateGrace / 1_000} s, and the ledger records its outcome: call again with the same callId, and await client.settled() before the process ends.`;

/** Sends a submission and records its outcome. Rejects as soon as the call ends, also if the submission goes on. */
async function record<Ref extends AnyRef, Answer>(
  call: LedgerCall<Ref>,
  { send, refIn, refInError, isResult }: Submission<Ref, Answer>,
  signal: AbortSignal | null | undefined,
): Promise<Submitted<Ref, WithResponse<Answer>>> {
  const controller = new AbortController();
  const left = new Promise<never>((_, reject) => {
    allowLateness(controller.signal, {
      grace: lateGrace,
      onLeave(error) {
        if (GatewayError.isInstance(error)) revise(error, { advice: lateAdvice });
        reject(error);
      },
    });
  });
  const unfollow = followSignal(signal, controller);
  const limits = { signal: controller.signal, totalTimeout: call.remaining };
  const sent = send(limits);
  const recorded = sent
    .withResponse()
    .finally(unfollow)
    .then(
      async (response) => {
        const ref = await refIn(response, sent);
        const accepted = call.accept(ref);
        await (isResult?.(response.data) === true ? accepted.catch(() => {}) : accepted);
        return { ref, response, call };
      },
      async (error: unknown) => {
        const ref = refInError?.(error);
        const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
        const end = isUnknown ? 'unknown' : 'not_submitted';
        await (ref === undefined ? call.finish(end, onlyRequest(error)) : call.accept(ref));
        throw error;
      },
    );
  const followLate = (): Promise<void> => {
    call.leave(recorded);
    return recorded.then(() => call.reportFailure({}));
  };
  left.catch(followLate).catch(() => {});
  return Promise.race([call.track(recorded), left]);
}

/**
 * Submits a task with checked options; with a ledger, once per call id, even if the process crashes or the call is
 * aborted.
 */
export async function submitOnce<Ref extends AnyRef, Answer>(
  transport: Transport,
  submission: Submission<Ref, Answer>,
  options: LedgerOptions & Pick<RequestOptions, 'signal' | 'totalTimeout'>,
): Promise<Submitted<Ref, WithResponse<Answer>>> {
  const { ledger, onUnknown, signal, totalTimeout } = options;
  if (ledger === undefined) {
    const sent = submission.send({ totalTimeout });
    const response = await sent.withResponse();
    return { ref: await submission.refIn(response, sent), response, call: undefined };
  }
  const call = new LedgerCall(transport, submission, ledger, options);
  const existing = await call.track(call.claim(onUnknown));
  return existing === undefined ? record(call, submission, signal) : { ref: existing, call };
}
