import { TaskFailedError } from './errors.ts';
import { untilAborted } from '../http/abort.ts';
import type { AnyRef } from './kind.ts';
import { abortGrace } from './ledger.ts';
import { mapConcurrent } from './many.ts';
import { type RunStep, WaitRun } from './run.ts';
import type { WaitScope } from './scope.ts';
import type { Submitted } from './submit.ts';
import type { PolledTask } from './types.ts';
import { checkState } from './decide.ts';

export interface Done<Ref, Task> {
  readonly ref: Ref;
  readonly task: Task;
}

/** Waits for an existing task, and closes the scope. */
export async function waitFor<Ref extends AnyRef, Task extends PolledTask>(
  scope: WaitScope<Ref, Task>,
  task: unknown,
): Promise<Done<Ref, Task>> {
  try {
    const target = scope.resolve(task);
    return { ref: target.ref, task: await new WaitRun(scope, target).untilDone() };
  } finally {
    scope.close();
  }
}

/** Polls once, and closes the scope. */
export async function stepTask<Ref extends AnyRef, Task extends PolledTask>(
  scope: WaitScope<Ref, Task>,
  task: unknown,
  stored: unknown,
): Promise<RunStep<Task> & { readonly ref: Ref }> {
  try {
    const target = scope.resolve(task);
    const run = new WaitRun(scope, target, { stored: checkState(stored, scope.now) });
    return { ...(await run.step()), ref: target.ref };
  } finally {
    scope.close();
  }
}

/** Watches an existing task, and closes the scope. A failed task is an event instead of an error. */
export async function* watchTask<Ref extends AnyRef, Task extends PolledTask, Failed>(
  scope: WaitScope<Ref, Task>,
  task: unknown,
  hasFailed: (error: unknown) => error is Failed,
) {
  try {
    const target = scope.resolve(task);
    yield { type: 'submitted', ref: target.ref } as const;
    const run = new WaitRun(scope, target);
    for (;;) {
      const { next, update, pollError } = await run.step();
      const failure = 'error' in next ? next.error : undefined;
      const isFailed = hasFailed(failure);
      if (failure !== undefined && !isFailed) throw failure;
      if ('delayMs' in next && pollError !== undefined) {
        yield { type: 'poll-error', error: pollError } as const;
      }
      if (update !== undefined) yield { type: 'update', ...update } as const;
      if (isFailed) yield { type: 'failed', error: failure } as const;
      if ('result' in next) yield { type: 'completed', task: next.result } as const;
      if (isFailed || 'result' in next) return;
    }
  } finally {
    scope.close();
  }
}

/** Waits for many tasks at once, and closes the scope. */
export async function* waitForAll<Ref extends AnyRef, Task extends PolledTask, Given>(
  scope: WaitScope<Ref, Task>,
  takeTasks: () => Iterable<Given>,
) {
  try {
    yield* mapConcurrent(takeTasks(), Infinity, async (given, index) => {
      try {
        const task = await new WaitRun(scope, scope.resolve(given)).untilDone();
        return { index, given, task };
      } catch (error) {
        return { index, given, error };
      }
    });
  } finally {
    scope.close();
  }
}

/** What a method that submits and waits does besides. */
interface Following<Ref, Answer, Result> {
  readonly onSubmitted: ((ref: Ref) => unknown) | undefined;
  /** When the time limit of the wait began; default: when the task was submitted. */
  readonly since?: number;
  /** Returns the status of the task in the response to its submission. */
  readonly statusOf?: (result: Answer) => string;
  /** Returns the result if the response to the submission has it already. */
  readonly resultIn?: (result: Answer) => Result | undefined;
}

/**
 * Hands over the handle of a submitted task, and waits for the task.
 *
 * @param toResult - Returns the result of the completed task.
 */
export async function followTask<
  Ref extends AnyRef,
  Task extends PolledTask,
  Answer,
  Result extends object,
>(
  scope: WaitScope<Ref, Task>,
  { ref, response, call }: Submitted<Ref, { readonly data: Answer }>,
  { onSubmitted, since, statusOf, resultIn }: Following<Ref, Answer, Result>,
  toResult: (done: Done<Ref, Task>) => Result,
): Promise<Result> {
  const finish = async (result: Result): Promise<Result> => {
    await call?.finish('completed');
    call?.reportFailure(result);
    return result;
  };
  const given = response && resultIn?.(response.data);
  if (given !== undefined) return finish(given);
  // Checked before onSubmitted is called: the ledger's task may be from another gateway.
  const target = response === undefined ? scope.resolve(ref) : { ref, handle: ref };
  await notify(scope, ref, onSubmitted, since);
  // A task that the gateway already reports as ended is polled without the first pause.
  const status = response && statusOf?.(response.data);
  const isNew = status !== 'completed' && status !== 'failed';
  try {
    const task = await new WaitRun(scope, target, { isNew, since }).untilDone();
    return await finish(toResult({ ref, task }));
  } catch (error) {
    if (error instanceof TaskFailedError) await call?.finish('failed');
    throw error;
  }
}

/** Passes a paid task to `onSubmitted`, within the time limit of the wait. If that fails, the error has the handle. */
export async function notify<Ref extends AnyRef, Task extends PolledTask>(
  { kind, settings, now, hide }: WaitScope<Ref, Task>,
  ref: Ref,
  onSubmitted: ((ref: Ref) => unknown) | undefined,
  since: number | undefined,
): Promise<void> {
  if (onSubmitted === undefined) return;
  const { timeout, signal } = settings;
  const { errors } = kind;
  const waited = { ref, hide };
  const handOver = async (): Promise<void> => {
    try {
      const called = (async () => onSubmitted(ref))();
      await untilAborted(called, signal, abortGrace);
    } catch (error) {
      throw signal?.aborted === true && error === signal.reason
        ? errors.stopped('aborted', waited, error)
        : errors.callback('onSubmitted', waited, error);
    }
  };
  const handed = handOver();
  if (timeout === null || since === undefined) return handed;
  const tooLate = () => errors.stopped('timeout', waited, undefined, timeout);
  await untilAborted(handed, AbortSignal.abort(), since + timeout - now, tooLate);
}
