import { later } from '../load.ts';
import type { ClientSettings } from './settings.ts';

const load = later('observers', () => import('./observe.ts'));

type Part = Awaited<ReturnType<typeof load>>;

/** The part that tells observers of calls. Only who has one loads it. */
export const observing: {
  part: Part | undefined;
  load(client: ClientSettings): Promise<Part | undefined>;
} = {
  part: undefined,
  /** Gives nothing when it does not come: the call goes on, and the log tells. */
  async load({ log }: ClientSettings): Promise<Part | undefined> {
    this.part = await load().catch((error: unknown) => {
      log.write('error', 'Calls are not observed', { error: String(error) });
      return undefined;
    });
    return this.part;
  },
};

/** Whether anybody is to be told of the calls of a client. */
export function isObserved({ observers, onRequest, onResponse }: ClientSettings): boolean {
  return observers.length > 0 || (onRequest ?? onResponse) !== undefined;
}
