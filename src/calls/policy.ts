import type { ClientSettings } from './settings.ts';
import type { RequestOptions } from '../options/options.ts';
import type { Call } from './call.ts';
import type { OutputRules, Plan } from './plan.ts';
import type { OpenAnswer } from './promise.ts';

/** Sends a planned request of a call. Resolves once the headers of a success response are received. */
export type Send = <T>(call: Call, plan: Plan<T>) => Promise<OpenAnswer<T>>;

/** A feature that stands around a call. */
export interface Policy {
  readonly name: string;
  /**
   * Returns whether a call uses the policy. Called with the caller's own options before anything is copied or
   * checked, so reading them may throw; use `peek`.
   */
  readonly asks: (
    client: ClientSettings,
    options: RequestOptions | undefined,
    output: OutputRules | undefined,
  ) => boolean;
  /** Returns a function that sends a call, usually by calling `next`. */
  readonly wrap: (next: Send) => Send;
}
