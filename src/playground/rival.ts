import { endpoints, type Operation } from '../index.ts';
import { createEmulator, type Fault } from '../testing/index.ts';
import type { JsonObject } from '../types.ts';
import type { Rival } from './protocol.ts';

/** How often the `openai` package repeats a request by default. */
const repeats = 2;

/** `openai` gives up on an answer after ten minutes; here they are this long, in milliseconds. */
const tenMinutes = 1_500;

/** After this silence of a body, in milliseconds, it is said to be waiting. `openai` waits for ever. */
const forEver = 400;

/** What `openai` sends again, whatever it may have cost: `shouldRetry` of its client. */
function isRepeated({ status, headers }: Response): boolean {
  const told = headers.get('x-should-retry');
  if (told === 'true' || told === 'false') return told === 'true';
  return [408, 409, 429].includes(status) || status >= 500;
}

type Ending = Pick<Rival, 'ended' | 'told'>;

const lost: Ending = {
  ended: 'error',
  told: 'APIConnectionError: whether it was charged, it does not say',
};

/** Reads a body as `openai` does: as long as it comes, and trusting its end. */
async function readEnd(answer: Response, isStream: boolean): Promise<Ending> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  try {
    for (;;) {
      const silence = new Promise<'silent'>((resolve) => setTimeout(resolve, forEver, 'silent'));
      const next = await Promise.race([reader?.read(), silence]);
      if (next === 'silent') {
        await reader?.cancel();
        return { ended: 'waiting', told: 'Nothing: it waits for the rest without a limit' };
      }
      if (next === undefined || next.done) break;
      text += decoder.decode(next.value, { stream: true });
    }
  } catch {
    return isStream
      ? { ended: 'error', told: 'TypeError: terminated. What came is lost unless you kept it' }
      : { ended: 'error', told: 'TypeError: terminated' };
  }
  if (isStream) {
    const isWhole = /"finish_reason":\s*"/.test(text);
    return {
      ended: 'answer',
      told: isWhole ? 'The answer' : 'Success, with what came: the loop ends as if it were whole',
    };
  }
  const isError = /^\s*\{"error"/.test(text) || /^\s*</.test(text);
  return {
    ended: 'answer',
    told: isError ? 'Success, with an object that holds no result' : 'The answer',
  };
}

/**
 * Makes the same call by the rule of the `openai` package, on an emulator of its own, and reads the
 * books. Pauses between its attempts are left out.
 *
 * @param times - How many requests the fault hits.
 */
export async function payByRivalRule(
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
      const isLast = requests > repeats;
      const patience = new AbortController();
      const timer = setTimeout(
        () => patience.abort(),
        fault?.type === 'hang' ? tenMinutes : 60_000,
      );
      try {
        const answer = await emulator.fetch(emulator.baseURL + endpoints[operation].path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${emulator.apiKey}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
          signal: patience.signal,
        });
        if (answer.ok) return await readEnd(answer, isStream);
        await answer.body?.cancel();
        if (!isRepeated(answer) || isLast) {
          return { ended: 'error', told: `An APIError with the status ${answer.status}` };
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
