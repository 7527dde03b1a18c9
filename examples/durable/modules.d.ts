// Minimal types of Cloudflare Workflows, so that the example compiles without the types of a worker. You don't
// need this file if `wrangler types` has written yours.

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
