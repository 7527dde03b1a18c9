import {
  APIError,
  APIUserAbortError,
  GatewayError,
  InvalidInputError,
  VideoFailedError,
  VideoSubmitUnknownError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
  type Gateway,
} from '../index.ts';
import { FileError } from '../node/index.ts';
import type { Terminal } from './terminal.ts';
import { exitCodes, Exit, UsageError } from './usage.ts';

/** How many letters have to change to make one word of another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Up to three names that are close to one that is not known. */
export function closeTo(name: string, known: readonly string[]): string[] {
  return known
    .map((other) => ({ other, far: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, far }) => far <= Math.max(2, other.length / 3) || other.includes(name))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ other }) => other);
}

function isModelUnknown(error: unknown): boolean {
  if (!APIError.isInstance(error)) return false;
  if (error.code === 'model_not_found') return true;
  return (
    [400, 404, 503].includes(error.status ?? 0) &&
    /model/i.test(error.message) &&
    /not (found|exist|available|support)|no (available )?channel|unknown/i.test(error.message)
  );
}

/** Adds the names of models that are close to one that the gateway does not know. */
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
    terminal.note(
      close.length === 0
        ? 'See which there are: model-gateway models'
        : `Did you mean ${close.join(' or ')}?`,
    );
  } catch {
    // The first error is the one that matters.
  }
}

/** What an error says, with advice for a person at a terminal in place of that for programs. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (VideoWaitError.isInstance(error)) return error.message.replace(` ${error.advice}`, '');
  if (!VideoSubmitUnknownError.isInstance(error)) return error.message;
  const advice = error.isUnderWay
    ? 'Run this again when it has ended.'
    : 'It may have been charged: look at the account; then choose a new call id.';
  return error.message.replace(error.advice, advice);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof UsageError || InvalidInputError.isInstance(error)) return exitCodes.usage;
  if (VideoWaitAbortedError.isInstance(error) || APIUserAbortError.isInstance(error)) {
    return exitCodes.interrupted;
  }
  if (VideoWaitTimeoutError.isInstance(error)) return exitCodes.stillRunning;
  if (FileError.isInstance(error)) return exitCodes.refused;
  // A task that goes on is known; only reading its status failed.
  if (VideoWaitError.isInstance(error)) return exitCodes.stillRunning;
  if (GatewayError.isInstance(error) && error.outcome === 'unknown') return exitCodes.unknown;
  return exitCodes.refused;
}

/** What a command worked with, as far as it came, for the report of its end. */
export interface Context {
  client?: Gateway | undefined;
  model?: string | undefined;
  /** Whether the command makes a call that is charged. */
  isCharged?: boolean | undefined;
  /** Whether that call succeeded, so that only its result can still be lost. */
  isPaid?: boolean | undefined;
}

/** Tells of a failure in one line or two. @returns the code that the program ends with */
export async function report(
  error: unknown,
  terminal: Terminal,
  { client, model, isCharged = false, isPaid = false }: Context,
): Promise<number> {
  terminal.endProgress();
  if (error instanceof Exit) return error.code;
  terminal.note(`model-gateway: ${messageOf(error)}`);
  await suggestModels(error, client, model, terminal);
  const code = exitCodeFor(error);
  if (code === exitCodes.unknown && !isCharged) return exitCodes.refused;
  // A task that failed is refunded; a result that could not be written is not.
  const isLost = isPaid && code === exitCodes.refused && !VideoFailedError.isInstance(error);
  return isLost ? exitCodes.unknown : code;
}

/** The longest result that is repeated in a message. */
const longest = 16_384;

/**
 * Reports results that could not be written to standard output.
 *
 * @returns the code that the program ends with, or `undefined` if it stays as it is
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
    terminal.note(`model-gateway: Standard output cannot be written: ${reason}.`);
  }
  if (isCharged && unwritten !== '') {
    const isShort = unwritten.length <= longest;
    terminal.note(
      isShort
        ? `It is charged. The result is: ${unwritten.trimEnd()}`
        : `It is charged. The result, ${unwritten.length} characters, is lost.`,
    );
  }
  if (failure.isReaderGone) return undefined;
  return isCharged ? exitCodes.unknown : exitCodes.refused;
}
