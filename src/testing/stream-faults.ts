import type { Fault, StreamFault } from './faults.ts';
import { doneEvent, type Step, type StreamEvent } from './stream-events.ts';

const writes = (events: readonly StreamEvent[]): Step[] =>
  events.map((event) => ({ do: 'write', event }));

const dataStep = (data: unknown, event?: string): Step => ({
  do: 'write',
  event: { role: 'delta', data, event },
});

const doneStep: Step = { do: 'write', event: doneEvent };

type StreamError = Extract<StreamFault, { type: 'stream-error' }>;

function errorSteps({
  shape,
  message = 'The model stopped unexpectedly.',
  code,
}: StreamError): Step[] {
  const error = {
    message,
    type: 'upstream_error',
    param: '',
    code: code === undefined ? 'server_error' : code,
  };
  switch (shape) {
    case 'error-data':
      return [dataStep({ error }), doneStep];
    case 'blank-chunk':
      return [
        dataStep({
          id: '',
          object: '',
          created: 0,
          model: '',
          system_fingerprint: null,
          choices: null,
          usage: null,
        }),
        doneStep,
      ];
    case 'error-event':
      return [dataStep({ error }, 'error')];
    case 'typed-data':
      return [dataStep({ type: 'error', error: { type: 'overloaded_error', message } }), doneStep];
    case 'bare-json':
      return [{ do: 'write-raw', text: JSON.stringify({ error }) }];
    case 'plain-text':
      return [{ do: 'write-raw', text: message }];
  }
}

/** The steps of a stream with a fault in it. Other faults than those of streams change nothing. */
export function withStreamFault(events: readonly StreamEvent[], fault: Fault | undefined): Step[] {
  switch (fault?.type) {
    case 'empty':
      return writes(events.filter(({ role }) => role === 'usage' || role === 'done'));
    case 'stall-events': {
      const rest: Step =
        fault.heartbeat === undefined
          ? { do: 'nothing' }
          : { do: 'heartbeats', every: fault.heartbeat };
      return [...writes(events.slice(0, fault.after)), rest];
    }
    case 'cut-events':
      return [...writes(events.slice(0, fault.after)), { do: 'reset' }];
    case 'no-finish': {
      const deltas = events.filter(({ role }) => role === 'delta').slice(0, fault.after);
      return [...writes(deltas), ...(fault.done ? [doneStep] : [])];
    }
    case 'stream-error': {
      const deltas = events.filter(({ role }) => role === 'delta').slice(0, fault.after);
      return [...writes(deltas), ...errorSteps(fault)];
    }
    case 'garbled-event':
      return [
        ...writes(events.slice(0, fault.after)),
        dataStep('{"id": "chatcmpl-'),
        ...writes(events.slice(fault.after)),
      ];
    default:
      return writes(events);
  }
}
