import { errorMessage } from '../../answers/objects.ts';
import {
  APIError,
  GatewayError,
  PartialEmbeddingsError,
  UnexpectedResponseError,
} from '../../index.ts';
import { type Replacements, toProgramAdvice, toProgramSummary } from '../advice.ts';
import type { Problem } from './protocol.ts';

/** Maximum length of an unusable response that is shown, in characters. */
const answerLimit = 20_000;

/** Replaces names of code in advice by the controls of the playground. */
const replacements: Replacements = [
  [/\bbaseURL\b/g, 'GATEWAY_BASE_URL'],
  [/\bset the option gateway\b/g, 'restart the playground with --gateway'],
  [/\bapiKey\b/g, 'GATEWAY_API_KEY'],
  [/\bchat\.completions\.create\(\)/g, 'the panel Chat'],
  [/\bembeddings\.create\(\)/g, 'the panel Embeddings'],
  [/\bimages\.(generate|edit)\(\)/g, 'the panel Images'],
  [/\baudio\.transcriptions\.create\(\)/g, 'the panel Transcription'],
  [/\bvideos\.(create|retrieve)\(\)/g, 'the panel Video'],
  [/\bmodels\.list\(\)/g, 'the list of the model field'],
  [/\bvideos\.wait\([^()]{0,300}\)/g, '"Continue checking"'],
  [/\baccount\.settle\(error\)/g, '"model-gateway account settle <id>" in a terminal'],
];

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
  // A comparison is one request, so its error is the whole reason.
  if (PartialEmbeddingsError.isInstance(error) && GatewayError.isInstance(error.cause)) {
    return describeProblem(error.cause);
  }
  const { name, outcome } = error;
  const { status, requestId } = error.evidence;
  const body = UnexpectedResponseError.isInstance(error) ? error.body : undefined;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    name,
    message: toProgramSummary(error, replacements),
    advice: toProgramAdvice(error.advice, replacements),
    outcome,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(APIError.isInstance(error) && text !== undefined
      ? { answer: text.slice(0, answerLimit) }
      : {}),
  };
}
