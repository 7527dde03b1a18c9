import type { CallSubscriber } from '../../calls/call.ts';
import type { LogDetails } from '../../calls/settings.ts';

/** Logs the attempts and the end of a call. */
export const logCall: CallSubscriber = (call) => {
  const { log } = call.client;
  if (!log.isEnabled('info')) return undefined;
  const { operation, method } = call.spec;
  const { origin, pathname } = new URL(call.url);
  const write = (level: 'info' | 'debug', message: string, details: LogDetails): void =>
    log.write(level, message, { callId: call.id, operation, ...details });
  const sinceStart = (): number => Math.round(performance.now() - call.startedAt);
  return {
    sent() {
      const attempt = call.attempts.length + 1;
      write('debug', 'Sending', { method, url: origin + pathname, attempt });
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
