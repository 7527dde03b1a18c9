import { later } from '../load.ts';
import { nodeProcess } from '../node-process.ts';
import type { TracingChannel } from './observe.ts';
import type { ClientSettings } from '../http/settings.ts';

const load = later('observers', () => import('./observe.ts'));

type Part = Awaited<ReturnType<typeof load>>;

const diagnostics = nodeProcess()?.getBuiltinModule?.('node:diagnostics_channel');

/** The part that tells observers of calls. Only who has one loads it. */
export const observing: {
  readonly channel: TracingChannel | undefined;
  part?: Part | undefined;
  load(client: ClientSettings): Promise<Part | undefined>;
} = {
  channel: diagnostics?.tracingChannel?.('model-gateway:call'),
  /** Gives nothing when it does not come: the call goes on, and the log tells. */
  load: ({ log }) =>
    load().then(
      (part) => (observing.part = part),
      (error: unknown) => {
        log.write('error', 'Not observed', { error: String(error) });
        return undefined;
      },
    ),
};

/** Whether anybody is to be told of the calls of a client, if it is the log. */
export const isObserved = ({ observers, onRequest, onResponse, log }: ClientSettings): boolean =>
  log.enabled('info') ||
  observing.channel?.hasSubscribers === true ||
  observers.length > 0 ||
  (onRequest ?? onResponse) !== undefined;
