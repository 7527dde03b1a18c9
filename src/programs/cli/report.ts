import { means, missingModel, unsuitedModel, unusableModel } from '../../answers/error-codes.ts';
import { codeText } from '../../answers/objects.ts';
import { closeTo } from '../../answers/similar-names.ts';
import { withAdvice } from '../../errors/gateway-error.ts';
import {
  APIError,
  APIUserAbortError,
  GatewayError,
  InvalidInputError,
  VideoFailedError,
  VideoSubmitUnknownError,
  ImageFailedError,
  ImageWaitAbortedError,
  VideoWaitAbortedError,
  type Gateway,
} from '../../index.ts';
import { FileError } from '../../adapters/node/index.ts';
import type { ReportedCosts } from '../reported-costs.ts';
import {
  isWait,
  type Replacements,
  toProgramAdvice,
  toProgramMessage,
  toProgramSummary,
} from '../advice.ts';
import type { Terminal } from './terminal.ts';
import { exitCodes, Exit, quote, UsageError } from './usage.ts';

function isModelUnknown(error: unknown): boolean {
  if (!APIError.isInstance(error)) return false;
  const { type, message } = error;
  const code = codeText(error.code);
  if (means({ code, type }, missingModel)) return true;
  return (
    [400, 404, 503].includes(error.status ?? 0) &&
    means({ code, type, message }, missingModel, unusableModel, unsuitedModel)
  );
}

/** Returns whether the advice of an error already says how to list the models. */
const namesList = (error: unknown): boolean =>
  GatewayError.isInstance(error) && error.advice.includes('models.list()');

/** Prints models with similar names if the gateway does not know the model. */
async function suggestModels(
  error: unknown,
  client: Gateway | undefined,
  model: string | undefined,
  terminal: Terminal,
): Promise<void> {
  if (client === undefined || model === undefined || !isModelUnknown(error)) return;
  try {
    const names: string[] = [];
    const list = client.models.list({ totalTimeout: 5_000, maxRetries: 0 });
    for await (const { id } of list) names.push(id);
    const close = closeTo(model, names);
    if (close.length > 0) terminal.note(`Did you mean ${close.join(' or ')}?`);
    else if (!namesList(error)) terminal.note('List the models: model-gateway models');
  } catch {
    // Only the first error is reported.
  }
}

/** Returns whether an error reports a failed task, which was charged and is usually refunded. */
const isFailed = (error: unknown): boolean =>
  VideoFailedError.isInstance(error) || ImageFailedError.isInstance(error);

/** Options of the library with an equivalent on the command line. */
const replacements: Replacements = [
  [/\bbaseURL\b/g, '--base-url'],
  [/\bset the option gateway\b/g, 'pass --gateway'],
  [/\bcallId\b/g, '--call-id'],
  [/\bapiKey\b/g, 'GATEWAY_API_KEY'],
  [/\bmodels\.list\(\)/g, '"model-gateway models"'],
  [/\baccount\.settle\(error\)/g, '"model-gateway account settle <id>"'],
  [/\bsettle\(task\.ref\)/g, '"model-gateway account settle <task>"'],
  [/\bcharges\(\)/g, '"model-gateway account charges"'],
  [/^requestId: /, '--request '],
];

/** Returns the reason of a verdict in the words of the command line. */
export const reasonText = (reason: string): string => toProgramAdvice(reason, replacements);

/** Returns the message of an error, with its advice reworded for the command line. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!GatewayError.isInstance(error)) return error.message;
  if (!VideoSubmitUnknownError.isInstance(error)) return toProgramMessage(error, replacements);
  const id = quote(error.callId ?? '');
  const advice = error.isInProgress
    ? 'Run this again when it has finished.'
    : `It may have been charged: check with "model-gateway account settle ${id}", then choose a new call id, or free this one with "model-gateway video close ${id}".`;
  return withAdvice(toProgramSummary(error, replacements), advice);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof UsageError || InvalidInputError.isInstance(error)) return exitCodes.usage;
  const aborts = [VideoWaitAbortedError, ImageWaitAbortedError, APIUserAbortError];
  if (aborts.some((abort) => abort.isInstance(error))) return exitCodes.interrupted;
  if (FileError.isInstance(error)) return exitCodes.refused;
  // The task continues; only reading its status failed.
  if (isWait(error)) return exitCodes.stillRunning;
  if (GatewayError.isInstance(error) && error.outcome === 'unknown') return exitCodes.unknown;
  return exitCodes.refused;
}

/** The state of a command, for error messages and the exit code. */
export interface Context {
  client?: Gateway | undefined;
  model?: string | undefined;
  /** `true` if the command makes a call that is charged. */
  isCharged?: boolean | undefined;
  /** `true` once that call has succeeded: from then on, a failure loses its result. */
  isPaid?: boolean | undefined;
  /** The costs reported in responses. */
  readonly costs: ReportedCosts;
  /** `true` if the command has printed the cost. */
  hasShownCost?: boolean | undefined;
}

/** Prints an error in one or two lines. @returns the exit code */
export async function report(
  error: unknown,
  terminal: Terminal,
  { client, model, isCharged = false, isPaid = false }: Context,
): Promise<number> {
  terminal.endProgress();
  if (error instanceof Exit) return error.code;
  terminal.note(`model-gateway: ${errorText(error)}`);
  await suggestModels(error, client, model, terminal);
  const code = exitCodeFor(error);
  if (code === exitCodes.unknown && !isCharged && !isFailed(error)) return exitCodes.refused;
  // A result that could not be saved is paid for.
  return isPaid && code === exitCodes.refused ? exitCodes.unknown : code;
}

/** Maximum length of a result that is repeated in a message, in characters. */
const longest = 16_384;

/**
 * Reports results that could not be written to standard output.
 *
 * @returns the exit code, or `undefined` to leave it unchanged
 */
export async function reportOutput(
  terminal: Terminal,
  { isCharged = false }: Context,
): Promise<number | undefined> {
  const { output } = terminal;
  await output.flush();
  const { failure, unwritten } = output;
  if (failure === undefined) return undefined;
  if (!failure.isReaderGone) {
    const reason = failure.code === 'ENOSPC' ? 'the disk is full' : failure.code;
    terminal.note(`model-gateway: Writing to standard output failed: ${reason}.`);
  }
  if (isCharged && unwritten !== '') {
    const isShort = unwritten.length <= longest;
    terminal.note(
      isShort
        ? `The call was charged. Its result: ${unwritten.trimEnd()}`
        : `The call was charged. Its result (${unwritten.length} characters) is lost.`,
    );
  }
  if (failure.isReaderGone) return undefined;
  return isCharged ? exitCodes.unknown : exitCodes.refused;
}
