// Minimal types of each engine, so that the examples compile without the packages. You don't need this
// file if the engine's package is installed.

declare module '@temporalio/activity' {
  export class ApplicationFailure extends Error {
    static create(options: {
      message?: string;
      type?: string;
      nonRetryable?: boolean;
      nextRetryDelay?: number;
    }): ApplicationFailure;
  }
}

declare module '@temporalio/workflow' {
  interface RetryPolicy {
    maximumAttempts?: number;
    initialInterval?: string;
    maximumInterval?: string;
  }
  interface ActivityOptions<Activities> {
    startToCloseTimeout: string;
    scheduleToCloseTimeout?: string;
    retry?: RetryPolicy;
    activityId?: keyof Activities;
  }
  export function proxyActivities<Activities>(options: ActivityOptions<Activities>): Activities;
}

declare module 'inngest' {
  interface Steps {
    run<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
    sleep(name: string, milliseconds: number): Promise<void>;
  }
  interface EventType<Data> {
    readonly name: string;
    readonly data?: Data;
  }
  export function staticSchema<Data>(example?: Data): { readonly data?: Data };
  export function eventType<Data>(
    name: string,
    options: { schema: { readonly data?: Data } },
  ): EventType<Data>;
  export class NonRetriableError extends Error {}
  export class Inngest {
    constructor(options: { id: string });
    createFunction<Data, Result>(
      options: { id: string; triggers: EventType<Data>[] },
      run: (context: { event: { data: Data }; step: Steps }) => Promise<Result>,
    ): unknown;
  }
}

declare module 'cloudflare:workers' {
  export interface WorkflowEvent<Payload> {
    readonly payload: Payload;
    readonly instanceId: string;
  }
  export interface WorkflowStep {
    do<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
    do<Result>(
      name: string,
      options: { retries: { limit: number; delay: number }; timeout?: string },
      work: () => Promise<Result>,
    ): Promise<Result>;
    sleep(name: string, milliseconds: number): Promise<void>;
  }
  export abstract class WorkflowEntrypoint<Env, Payload> {
    protected env: Env;
    constructor(context: object, env: Env);
    abstract run(event: WorkflowEvent<Payload>, step: WorkflowStep): Promise<unknown>;
  }
}
