import { endpoints, type Operation } from '../index.ts';
import { createEmulator, type Fault } from '../testing/index.ts';
import type { JsonObject } from '../types.ts';
import type { Rival } from './protocol.ts';

/** The default number of retries of the `openai` package. */
const maxRetries = 2;

/** Replaces the ten-minute timeout of `openai`, in milliseconds. */
const requestTimeout = 1_500;

/** Silence of a body, in milliseconds, after which the call counts as waiting. `openai` waits forever. */
const silenceLimit = 400;

/** Returns whether `openai` retries after a response, as `shouldRetry` of its client does. */
function isRetried({ status, headers }: Response): boolean {
  const shouldRetry = headers.get('x-should-retry');
  if (shouldRetry === 'true' || shouldRetry === 'false') return shouldRetry === 'true';
  return [408, 409, 429].includes(status) || status >= 500;
}

type Ending = Pick<Rival, 'ended' | 'result'>;

const lost: Ending = {
  ended: 'error',
  result: 'APIConnectionError, which does not say whether the call was charged',
};

/** Reads a body as `openai` does: without a time limit, and taking any end for complete. */
async function readEnd(answer: Response, isStream: boolean): Promise<Ending> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  try {
    for (;;) {
      const silence = new Promise<'silent'>((resolve) =>
        setTimeout(resolve, silenceLimit, 'silent'),
      );
      const next = await Promise.race([reader?.read(), silence]);
      if (next === 'silent') {
        await reader?.cancel();
        return { ended: 'waiting', result: 'Nothing: it waits for the rest without a time limit' };
      }
      if (next === undefined || next.done) break;
      text += decoder.decode(next.value, { stream: true });
    }
  } catch {
    return isStream
      ? {
          ended: 'error',
          result: 'TypeError: terminated. The text so far is lost unless you kept it',
        }
      : { ended: 'error', result: 'TypeError: terminated' };
  }
  if (isStream) {
    const isComplete = /"finish_reason":\s*"/.test(text);
    return {
      ended: 'answer',
      result: isComplete
        ? 'The answer'
        : 'Success with a partial answer: the loop ends as if it were complete',
    };
  }
  const isError = /^\s*\{"error"/.test(text) || /^\s*</.test(text);
  return {
    ended: 'answer',
    result: isError ? 'Success with an object that has no result' : 'The answer',
  };
}

/**
 * Makes the same call with the retry rule of the `openai` package on a separate emulator, without pauses
 * between attempts, and counts the charges.
 *
 * @param times - The number of requests that the fault hits.
 */
export async function runRival(
  operation: Operation,
  body: JsonObject,
  fault: Fault | undefined,
  times: number,
): Promise<Rival> {
  const emulator = createEmulator({ videoDuration: 0, quirks: { eventDelay: 0 } });
  if (fault !== undefined) emulator.fail({ operation, fault, times });
  const isStream = body['stream'] === true;
  let requests = 0;
  const send = async (): Promise<Ending> => {
    for (;;) {
      requests += 1;
      const isLast = requests > maxRetries;
      const controller = new AbortController();
      const timer = setTimeout(
        () => controller.abort(),
        fault?.type === 'hang' ? requestTimeout : 60_000,
      );
      try {
        const answer = await emulator.fetch(emulator.baseURL + endpoints[operation].path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${emulator.apiKey}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
          signal: controller.signal,
        });
        if (answer.ok) return await readEnd(answer, isStream);
        await answer.body?.cancel();
        if (!isRetried(answer) || isLast) {
          return { ended: 'error', result: `An APIError with the status ${answer.status}` };
        }
      } catch {
        if (isLast) return lost;
      } finally {
        clearTimeout(timer);
      }
    }
  };
  const ending = await send();
  const { charges } = emulator;
  const amount = charges.reduce((sum, charge) => sum + charge.amount, 0);
  await emulator[Symbol.asyncDispose]();
  return { requests, charges: charges.length, amount, ...ending };
}
