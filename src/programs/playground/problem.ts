import { errorMessage } from '../../answers/objects.ts';
import { APIError, GatewayError, UnexpectedResponseError } from '../../index.ts';
import type { Problem } from './protocol.ts';

/** Maximum length of an unusable response that is shown, in characters. */
const answerLimit = 20_000;

/** Converts an error for the page. Errors of the client do not contain the key. */
export function describeProblem(error: unknown): Problem {
  if (!GatewayError.isInstance(error)) {
    const message = errorMessage(error);
    return {
      name: error instanceof Error ? error.name : 'Error',
      message: `Unexpected error in the playground: ${message}`,
      advice: 'Earlier results are kept. Check the request log before you try again.',
    };
  }
  const { name, summary, advice, outcome } = error;
  const { status, requestId } = error.evidence;
  const body = UnexpectedResponseError.isInstance(error) ? error.body : undefined;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    name,
    message: summary,
    advice,
    outcome,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(APIError.isInstance(error) && text !== undefined
      ? { answer: text.slice(0, answerLimit) }
      : {}),
  };
}
