import { checkNumber, checkObject } from '../check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { Transport } from '../http/transport.ts';
import { checkEach, checkMany, eachDone, eachTold, optionsOf } from '../many.ts';
import { scoped, settingsOf, submitAndWait, waitOf, waitUntilDone } from './loops.ts';
import type { WaitScope } from './step.ts';
import { creation } from './submit.ts';
import type { VideoCreateParams, VideoTaskLike, VideoTaskRef } from './types.ts';
import type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitResult,
  VideoWaitAllOptions,
  VideoWaitResult,
} from './wait-options.ts';

/** Lets polls begin one after the other, so that no more than so many do in a second. */
function turnsIn(scope: WaitScope, options: VideoWaitAllOptions): () => Promise<void> {
  const { maxPollsPerSecond = 10 } = options ?? {};
  const perSecond = checkNumber('maxPollsPerSecond', maxPollsPerSecond, 0.001, 100_000);
  let free = 0;
  return () => {
    const { now } = scope;
    const turn = Math.max(now, free);
    free = turn + 1_000 / perSecond;
    return scope.pause({ delayMs: turn - now, earliestMs: turn - now });
  };
}

/** Waits for many tasks. Each of them gets one result. */
export function waitAll(
  transport: Transport,
  tasks: Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  return scoped(() => {
    const settings = settingsOf(transport, options);
    checkTasks(tasks);
    const run = (scope: WaitScope) => {
      const takeTurn = turnsIn(scope, options);
      return eachDone(tasks, Infinity, async (task, index): Promise<VideoWaitResult> => {
        try {
          const wait = { ...waitOf(transport, task, settings), takeTurn };
          return { index, task, video: await waitUntilDone(wait, scope) };
        } catch (error) {
          return { index, task, error };
        }
      });
    };
    return [settings.signal, run];
  });
}

/**
 * Tasks that can be looped over.
 *
 * @throws `InvalidInputError` for anything else, and for a single id, whose letters could be, too
 */
function checkTasks(tasks: unknown): void {
  const isObject = typeof tasks === 'object' && tasks !== null;
  if (isObject && Symbol.iterator in tasks) return;
  const isAsync = isObject && Symbol.asyncIterator in tasks;
  const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
  throw new InvalidInputError('tasks', `must be a list of ids, handles or tasks; ${fix}.`);
}

/** Submits many tasks and waits for them. Each of them gets one result. */
export function createAndWaitAll(
  transport: Transport,
  params: Iterable<VideoCreateParams>,
  given: VideoCreateAndWaitAllOptions,
): AsyncGenerator<VideoCreateAndWaitResult, void, undefined> {
  return scoped(() => {
    checkObject('options', given);
    // Plain JavaScript may give none as `null`.
    const options = given ?? {};
    const { onProgress, onSubmitted } = options;
    const settings = settingsOf(transport, { ...options });
    const concurrency = checkMany(options);
    const list = checkEach(params, (one) => creation(one).read());
    const run = (scope: WaitScope) => {
      const takeTurn = turnsIn(scope, options);
      return eachTold<VideoCreateParams, VideoCreateAndWaitResult>(
        list,
        { concurrency, onProgress },
        async (one, index) => {
          const place: { ref?: VideoTaskRef } & Pick<VideoCreateAndWaitResult, 'index' | 'params'> =
            { index, params: one };
          const own = {
            ...optionsOf(options, index),
            onSubmitted: (ref: VideoTaskRef) => {
              place.ref = ref;
              return onSubmitted?.(ref, index);
            },
          };
          try {
            const shared = { scope, takeTurn };
            const video = await submitAndWait(transport, creation(one), own, shared);
            return { ...place, video };
          } catch (error) {
            return { ...place, error };
          }
        },
      );
    };
    return [settings.signal, run];
  });
}
