import type { Policy, Subscriber } from '../../calls/transport.ts';
import { nodeProcess } from '../../http/node/node-process.ts';
import type { ObservedEnd, Observer } from '../../options/options.ts';
import { observeWith } from './observe.ts';

/** The part of Node's `TracingChannel` that is used here. */
interface TracingChannel {
  readonly hasSubscribers: boolean;
  tracePromise(work: () => Promise<unknown>, message: object): Promise<unknown>;
}

const diagnostics = nodeProcess()?.getBuiltinModule?.('node:diagnostics_channel');

/** The channel of Node's `diagnostics_channel` for calls; `undefined` in other runtimes. */
const tracingChannel: TracingChannel | undefined =
  diagnostics?.tracingChannel?.('model-gateway:call');

/** Publishes a request on Node's tracing channel. */
const traceRequest: Subscriber = (request) =>
  tracingChannel?.hasSubscribers === true
    ? observeWith([channelObserver(tracingChannel)], request)
    : undefined;

const ignored = (): void => {};

/**
 * Returns an observer that publishes a call on the channel. The message is what `start()` of an observer
 * receives, with the attempts and the end. Its promise settles when the call has ended.
 */
function channelObserver(channel: TracingChannel): Observer {
  return {
    start(call) {
      let answer: () => unknown = ignored;
      const message = {
        ...call,
        attempts: new Array<object>(),
        end: {},
        get result() {
          return answer();
        },
        // `tracePromise` sets this property.
        set result(_) {},
      };
      let finish: ((end: ObservedEnd) => void) | undefined;
      const ended = new Promise<unknown>((resolve, reject) => {
        finish = ({ error }) => (error === undefined ? resolve(undefined) : reject(error));
      });
      // The caller receives the error.
      ended.catch(ignored);
      let traced: Promise<unknown> | undefined;
      return {
        run(work) {
          const begin = (): Promise<unknown> => {
            work();
            return ended;
          };
          traced ??= channel.tracePromise(begin, message);
          traced.catch(ignored);
        },
        attempt(request) {
          const attempt = { request };
          message.attempts.push(attempt);
          return (response) => void Object.assign(attempt, { response });
        },
        end(end) {
          message.end = end;
          answer = () => end.answer;
          finish?.(end);
        },
      };
    },
  };
}

/** Publishes requests on Node's tracing channel while it has subscribers. */
export const tracing: Policy = {
  name: 'tracing-channel',
  options: [],
  listen: () => traceRequest,
};
