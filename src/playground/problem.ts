import { errorMessage } from '../answers/objects.ts';
import { APIError, GatewayError, UnexpectedResponseError } from '../index.ts';
import type { Problem } from './protocol.ts';

/** How much of an answer that could not be used is shown. */
const answerLimit = 20_000;

/** What the page says of a failure. Errors of the client hold no key. */
export function describeProblem(error: unknown): Problem {
  if (!GatewayError.isInstance(error)) {
    const message = errorMessage(error);
    return {
      name: error instanceof Error ? error.name : 'Error',
      message: `The playground stumbled: ${message}`,
      advice: 'What came before is kept. Look at the request log before doing it again.',
    };
  }
  const { name, message, advice, outcome } = error;
  const { status, requestId } = error.evidence;
  const body = UnexpectedResponseError.isInstance(error) ? error.body : undefined;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    name,
    message,
    advice,
    outcome,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(APIError.isInstance(error) && text !== undefined
      ? { answer: text.slice(0, answerLimit) }
      : {}),
  };
}
