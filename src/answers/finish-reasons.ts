import { isMissingWord } from './objects.ts';

/** DeepSeek, Z.ai, vLLM and SGLang, and routes to Gemini report failures as finish reasons. */
const errorReasons =
  /^(error|insufficient_system_resources?|network[_-]error|abort(ed)?)$|malformed_function_call$/i;

/** Returns whether a finish reason reports a failure of the provider. */
export const isErrorReason = (reason: unknown): reason is string =>
  typeof reason === 'string' && errorReasons.test(reason);

/** Returns whether a finish reason means that the response is complete. Some providers put errors there. */
export function isFinishReason(reason: unknown): boolean {
  if (typeof reason !== 'string' || reason === '') return false;
  return !isMissingWord(reason) && !isErrorReason(reason);
}

const endReasons = /^(stop|stop_sequence|end_turn|eos|eos_token|completed?|finished|done)$/i;

const callReasons = /^(tool_?calls?|tool_?use|function_?calls?)$/i;

/** Returns whether the model ended the response with a call. */
export const isCallReason = (reason: unknown): boolean =>
  typeof reason === 'string' && callReasons.test(reason);

/** Returns whether the model ended the response itself, rather than a token limit, a filter or a failure. */
export function isNaturalEnd(reason: unknown): boolean {
  return typeof reason === 'string' && (endReasons.test(reason) || callReasons.test(reason));
}
