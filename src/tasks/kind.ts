import type { GatewayPromise, WithResponse } from '../calls/promise.ts';
import type { Transport } from '../calls/transport.ts';
import type { SubmitUnknownInit } from '../errors/operation-errors.ts';
import type { RequestOptions } from '../options/options.ts';
import type { TaskErrors } from './errors.ts';
import type { PolledTask, TaskStatus } from './types.ts';

/** The fields that the handle of any task has. */
export interface AnyRef {
  readonly v: 1;
  readonly kind: string;
  readonly id: string;
  /** The root of the gateway that issued the id. */
  readonly baseURL: string;
  /** When the task was submitted, in milliseconds since 1970. */
  readonly createdAt: number;
  readonly callId?: string | undefined;
}

/** A task that a caller passed, or that a call submitted. */
export interface Target<Ref> {
  /** The caller's handle, checked, or a handle made from the id. */
  readonly ref: Ref;
  /** The handle object that the caller passed, if any. Without one, the age of the task is unknown. */
  readonly handle?: object | undefined;
}

/** Starts a poll, and returns its call. */
type ReadTask<Ref, Task> = (
  transport: Transport,
  target: Target<Ref>,
  options: RequestOptions,
) => { withResponse(): Promise<Pick<WithResponse<Task>, 'data' | 'response'>> };

/**
 * One kind of task: its handles, polls and errors. Submissions, ledgers and waits are the same for all kinds; see
 * `submit.ts` and `wait.ts`.
 */
export interface TaskKind<Ref extends AnyRef = never, Task extends PolledTask = never> {
  /** Checks a stored handle. */
  readonly parse: (value: unknown) => Ref;
  /** Resolves the id, handle or task that a caller passed. */
  readonly resolve: (task: unknown, baseURL: string) => Target<Ref>;
  /** Reads the status of a task once. */
  readonly read: ReadTask<Ref, Task>;
  /** Returns the read of the gateway's own record of a task; `undefined` if the gateway has no separate one. */
  readonly recordReader?: (
    transport: Transport,
    target: Target<Ref>,
  ) => ReadTask<Ref, Task> | undefined;
  readonly restate: (task: Task, status: TaskStatus) => void;
  readonly errors: TaskErrors<Ref>;
  readonly SubmitUnknown: new (message: string, init: SubmitUnknownInit) => Error;
}

/** The facts of a handle for a task that the usage log names. */
export interface LoggedTask {
  readonly callId: string;
  readonly requestId: string | undefined;
  readonly model: string | undefined;
}

/** A checked submission of one kind of task. */
export interface Submission<Ref extends AnyRef, Answer> {
  readonly kind: Pick<TaskKind<Ref, PolledTask>, 'parse' | 'errors' | 'SubmitUnknown'>;
  /** Returns what identifies the submission. Ledgers store digests of it, so its shape must not change. */
  readonly content: () => unknown;
  readonly model: string | undefined;
  /** Creates the handle of a task that the usage log names. */
  readonly createRef: (id: string, task: LoggedTask) => Ref;
  /** Sends the submission, with these options in place of the caller's. */
  readonly send: (
    limits: Pick<RequestOptions, 'signal' | 'totalTimeout'>,
  ) => GatewayPromise<Answer>;
  /**
   * Returns the handle of the task in a response.
   *
   * @param sent - The call that was answered.
   */
  readonly refIn: (
    response: WithResponse<Answer>,
    sent: GatewayPromise<Answer>,
  ) => Ref | Promise<Ref>;
  /** Returns the handle of the task that a failed submission created nevertheless. */
  readonly refInError?: (error: unknown) => Ref | undefined;
  /** `true` if the response is the result itself, which must not be lost if the ledger fails. */
  readonly isResult?: (result: Answer) => boolean;
}
