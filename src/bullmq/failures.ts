import {
  APIConnectionError,
  APIError,
  ContentExpiredError,
  ContentNotReadyError,
  InvalidInputError,
  VideoFailedError,
  VideoSubmitUnknownError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
} from '../index.ts';
import { UnrecoverableError } from './job.ts';

/** What the worker was started with, and not what its job holds: the next start may do better. */
const fieldsOfWorkers = ['apiKey', 'baseURL', 'client', 'ledger'];

/** Refusals that stay, whatever the HTTP status says. */
const lasting =
  /^(model_not_found|invalid_request|sensitive_words_detected|prompt_blocked|billing_hard_limit_reached)$|quota/;

/** Whether a failed request may go well when it is made again later. */
function passes(error: APIError): boolean {
  const { status, code } = error;
  if (APIConnectionError.isInstance(error) || ContentNotReadyError.isInstance(error)) return true;
  if (status === undefined || lasting.test(String(code ?? ''))) return false;
  return status < 300 || [408, 425, 429].includes(status) || status >= 500;
}

/** Whether a job that met this error would meet it again. */
export function isFinal(error: unknown): boolean {
  if (InvalidInputError.isInstance(error)) return !fieldsOfWorkers.includes(error.field);
  if (VideoWaitAbortedError.isInstance(error)) return false;
  if (VideoFailedError.isInstance(error) || VideoWaitTimeoutError.isInstance(error)) return true;
  // Its cause is the last poll, a callback that threw, or none when a status word is not known.
  if (VideoWaitError.isInstance(error)) return error.cause === undefined || isFinal(error.cause);
  if (VideoSubmitUnknownError.isInstance(error) || ContentExpiredError.isInstance(error)) {
    return true;
  }
  return APIError.isInstance(error) && error.outcome === 'rejected' && !passes(error);
}

/** The error with which a job ends: one that BullMQ does not try again, where that cannot help. */
export function toJobError(error: unknown): unknown {
  if (!isFinal(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new UnrecoverableError(message, { cause: error });
}
