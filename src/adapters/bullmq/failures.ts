import { billedContent, means, permanent, providerCredit } from '../../answers/error-codes.ts';
import { codeText } from '../../answers/objects.ts';
import {
  APIConnectionError,
  APIError,
  ContentUnavailableError,
  ContentNotReadyError,
  InvalidInputError,
  VideoFailedError,
  VideoSubmitUnknownError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
} from '../../index.ts';
import { UnrecoverableError } from './job.ts';

/** Fields of the worker's configuration, not of the job. A restart may fix them. */
const workerFields = ['apiKey', 'baseURL', 'client', 'ledger'];

/** Returns whether a failed request may succeed later. */
function isTransient(error: APIError): boolean {
  const { status, type, message } = error;
  const coded = { code: codeText(error.code), type, message };
  if (APIConnectionError.isInstance(error) || ContentNotReadyError.isInstance(error)) return true;
  if (status === undefined) return false;
  if (means(coded, permanent, billedContent, providerCredit)) return false;
  return status < 300 || [408, 425, 429].includes(status) || status >= 500;
}

/** Returns whether a job would fail with this error again. */
export function isFinal(error: unknown): boolean {
  if (InvalidInputError.isInstance(error)) return !workerFields.includes(error.field);
  if (VideoWaitAbortedError.isInstance(error)) return false;
  if (VideoFailedError.isInstance(error) || VideoWaitTimeoutError.isInstance(error)) return true;
  // The cause is the last poll or a callback that threw; it is missing for an unknown status.
  if (VideoWaitError.isInstance(error)) return error.cause === undefined || isFinal(error.cause);
  if (VideoSubmitUnknownError.isInstance(error) || ContentUnavailableError.isInstance(error)) {
    return true;
  }
  return APIError.isInstance(error) && error.outcome === 'rejected' && !isTransient(error);
}

/** Converts an error so that BullMQ does not retry the job if that cannot help. */
export function toJobError(error: unknown): unknown {
  if (!isFinal(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new UnrecoverableError(message, { cause: error });
}
