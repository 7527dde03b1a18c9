import type { JsonObject } from '../../types.ts';
import type { Call } from '../server/call.ts';
import { errorBody } from '../server/errors.ts';
import type { StreamFault } from './faults.ts';
import { record } from '../control/json.ts';
import { failedResponse } from '../responses/failed.ts';

/**
 * Role of an event, used to apply stream faults. A `count` is the gateway's own usage, which is sent only
 * if the vendor sent none.
 */
export type EventRole = 'delta' | 'finish' | 'usage' | 'count' | 'done';

/** An event of a stream. */
export interface StreamEvent {
  readonly role: EventRole;
  /** JSON data, or text to be sent unchanged. */
  readonly data: unknown;
  /** Name of the event; most streams have none. */
  readonly event?: string | undefined;
}

/** A step in writing a stream. */
export type Step =
  | { readonly do: 'write'; readonly event: StreamEvent }
  | { readonly do: 'write-raw'; readonly text: string }
  | { readonly do: 'heartbeats'; readonly every: number }
  | { readonly do: 'nothing' }
  | { readonly do: 'reset' };

/** The last event of most streams. */
export const doneEvent: StreamEvent = { role: 'done', data: '[DONE]' };

const writes = (events: readonly StreamEvent[]): Step[] =>
  events.map((event) => ({ do: 'write', event }));

const dataStep = (data: unknown, event?: string): Step => ({
  do: 'write',
  event: { role: 'delta', data, event },
});

const doneStep: Step = { do: 'write', event: doneEvent };

type StreamError = Extract<StreamFault, { type: 'stream-error' }>;

/** Returns the events after the vendor has stopped: the gateway's own usage, if requested, and the end. */
function rest(events: readonly StreamEvent[], fields: JsonObject = {}): Step[] {
  const last = events.filter(({ role }) => role === 'count' || role === 'done');
  return writes(
    last.map((event) =>
      event.role === 'count' ? { ...event, data: { ...record(event.data), ...fields } } : event,
    ),
  );
}

const noChunk = { id: '', created: 0, system_fingerprint: '' };

/** Returns OpenRouter's error and the usage, after which its streams end. */
function openRouterError(
  message: string,
  code: string | number | null,
  events: readonly StreamEvent[],
): Step[] {
  const { choices, created, id, model, object, provider } = record(events[0]?.data);
  if (choices === undefined) {
    const error = { message, type: 'server_error', param: null, code: code && String(code) };
    return [dataStep({ type: 'error', error })];
  }
  const reason = { finish_reason: 'error', native_finish_reason: 'error' };
  const choice = { index: 0, delta: { role: 'assistant', content: '' }, ...reason };
  const error = { code: typeof code === 'number' ? code : 502, message };
  const failed = { id, object, created, model, provider, error, choices: [choice] };
  const last = events.filter(({ role }) => role === 'usage' || role === 'count' || role === 'done');
  return [dataStep(failed), ...writes(last)];
}

/** Returns the errors of the Responses API. Only shapes that its streams can have differ from each other. */
function responseErrorSteps(shape: StreamError['shape'], error: JsonObject): Step[] {
  const { message, code, param } = error;
  const flat = { type: 'error', code, message, param, sequence_number: 9 };
  switch (shape) {
    case 'error-data':
      return [dataStep({ error })];
    case 'no-choices':
    case 'blank-chunk': {
      const response = failedResponse({ code: code ?? 'server_error', message });
      const failed = { type: 'response.failed', response, sequence_number: 9 };
      return [dataStep(failed, 'response.failed')];
    }
    case 'error-event':
      return [dataStep(flat, 'error')];
    case 'typed-data':
      return [dataStep(flat)];
    case 'bare-json':
      return [{ do: 'write-raw', text: JSON.stringify({ error }) }];
    case 'plain-text':
      return [{ do: 'write-raw', text: String(message) }];
  }
}

function errorSteps(
  { shape, message = 'The model stopped unexpectedly.', code = null }: StreamError,
  events: readonly StreamEvent[],
  { operation, world }: Call,
): Step[] {
  if (world.errors.envelope === 'openrouter') return openRouterError(message, code, events);
  const error = { message, type: 'server_error', param: null, code };
  if (operation === 'responses.create') return responseErrorSteps(shape, error);
  if (operation === 'messages.create') {
    const failed = errorBody('anthropic', 500, { type: 'overloaded_error', message });
    return [dataStep(failed, shape === 'typed-data' ? undefined : 'error')];
  }
  switch (shape) {
    case 'error-data': {
      const isGoogle = operation.startsWith('generate.');
      const body = isGoogle ? errorBody('google', 503, { message }) : { error };
      return [dataStep(body), ...rest(events, { ...noChunk, model: '' })];
    }
    case 'no-choices': {
      const count = record(events.find(({ role }) => role === 'count')?.data);
      const chunk = { ...count, system_fingerprint: null, choices: [], usage: null };
      return [dataStep(chunk), ...rest(events)];
    }
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

/** Returns the steps to write a stream with its fault. Other faults have no effect. */
export function withStreamFault(all: readonly StreamEvent[], call: Call): Step[] {
  const { fault } = call;
  const events = all.filter(({ role }) => role !== 'count');
  switch (fault?.type) {
    case 'empty':
    case 'error-in-200':
      return rest(all, noChunk);
    case 'stall-events': {
      const silence: Step =
        fault.heartbeat === undefined
          ? { do: 'nothing' }
          : { do: 'heartbeats', every: fault.heartbeat };
      return [...writes(events.slice(0, fault.after)), silence];
    }
    case 'cut-events':
      return [...writes(events.slice(0, fault.after)), { do: 'reset' }];
    case 'no-finish': {
      const deltas = events.filter(({ role }) => role === 'delta').slice(0, fault.after);
      return [...writes(deltas), ...(fault.done ? rest(all) : [])];
    }
    case 'stream-error': {
      const deltas = events.filter(({ role }) => role === 'delta').slice(0, fault.after);
      return [...writes(deltas), ...errorSteps(fault, all, call)];
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
