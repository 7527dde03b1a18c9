import type { LogDetails } from '../../calls/settings.ts';
import type { Policy, Subscriber } from '../../calls/transport.ts';

/** Logs the attempts and the end of a request. */
const logRequest: Subscriber = (request) => {
  const { log } = request.client;
  if (!log.isEnabled('info')) return undefined;
  const { operation, method } = request.spec;
  const { origin, pathname } = new URL(request.url);
  const write = (level: 'info' | 'debug', message: string, details: LogDetails): void =>
    log.write(level, message, { callId: request.id, operation, ...details });
  const sinceStart = (): number => Math.round(performance.now() - request.call.startedAt);
  return {
    sent() {
      const attempt = request.history.attempts.length + 1;
      // A task id in the path may contain the key.
      const url = request.redaction.withoutKeys(origin + pathname);
      write('debug', 'Sending', { method, url, attempt });
    },
    answered({ requestId, response: { status } }) {
      write('info', 'Answered', { status, requestId, durationMs: sinceStart() });
    },
    failed({ kind, phase, code, status, requestId, body, problem }) {
      if (phase === 'local') return;
      // Error messages of gateways are logged at `debug` only.
      const text = log.isEnabled('debug') && { message: body?.message ?? problem };
      const details = { kind, code: body?.code ?? code, ...text, status, requestId };
      write('info', 'Attempt failed', details);
    },
    retrying({ failed: { kind, status }, delayMs }) {
      if (delayMs !== undefined) write('info', 'Retrying', { kind, status, delayMs });
      else write('info', 'Not retrying: too many calls of this client fail', {});
    },
    gaveUp: ({ name }) => write('debug', 'Call failed', { error: name }),
    streamEnded({ verdict, error }) {
      const { name, message } = error instanceof Error ? error : {};
      const details = { verdict, error: name, message, durationMs: sinceStart() };
      write('debug', 'Stream ended', details);
    },
  };
};

/** Logs requests, on the level that the client has at that time. */
export const logging: Policy = {
  name: 'log',
  options: [],
  listen: () => logRequest,
};
