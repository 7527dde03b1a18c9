import { batch, computed, signal } from '@preact/signals';
import type {
  CallKind,
  CallView,
  EmulatorAccount,
  Hello,
  ListedModel,
  PlaygroundEvent,
  Problem,
} from '../protocol.ts';
import { fetchHello, fetchModels, pause, send, ServerError } from './api.ts';
import { keepLink } from './setup/token.ts';

/** The data loaded first. */
export const hello = signal<Hello | undefined>(undefined);
/** The state of the event stream. `refused`: the page is from an earlier start. */
export const connection = signal<'connecting' | 'open' | 'lost' | 'refused'>('connecting');
/** The reason for a lost or refused connection. */
export const connectionProblem = signal('');
export const account = signal<EmulatorAccount | undefined>(undefined);
export const models = signal<readonly ListedModel[]>([]);
/** The error, if the models could not be listed. */
export const modelsProblem = signal<Problem | undefined>(undefined);
/** All calls by id, oldest first. */
export const calls = signal<ReadonlyMap<string, CallView>>(new Map());
/** All calls, newest first. */
export const newest = computed(() => [...calls.value.values()].toReversed());

/** Returns the calls of a kind, newest first. */
export const listCalls = (kind: CallKind): CallView[] =>
  newest.value.filter((call) => call.kind === kind);

function applyEvent(map: Map<string, CallView>, event: PlaygroundEvent): void {
  switch (event.type) {
    case 'all':
      map.clear();
      for (const call of event.calls) map.set(call.id, call);
      account.value = event.account;
      return;
    case 'call':
      map.set(event.call.id, event.call);
      return;
    case 'change': {
      const call = map.get(event.id);
      if (call === undefined) return;
      const next = { ...call, ...event.changes };
      // Removed fields are sent as `null`.
      for (const [name, value] of Object.entries(next)) {
        if (value === null) Reflect.deleteProperty(next, name);
      }
      const text = next.text + event.text;
      map.set(event.id, { ...next, text, reasoning: next.reasoning + event.reasoning });
      return;
    }
    case 'gone':
      map.delete(event.id);
      return;
    case 'account':
      account.value = event.account;
  }
}

let queue: PlaygroundEvent[] = [];
let isScheduled = false;

/** Applies all events since the last frame at once, because a stream can have thousands of chunks. */
function applyQueue(): void {
  isScheduled = false;
  const events = queue;
  queue = [];
  batch(() => {
    const map = new Map(calls.value);
    for (const event of events) applyEvent(map, event);
    calls.value = map;
  });
}

function enqueue(event: PlaygroundEvent): void {
  queue.push(event);
  if (isScheduled) return;
  isScheduled = true;
  // Background tabs don't render frames.
  if (document.hidden) setTimeout(applyQueue, 200);
  else requestAnimationFrame(applyQueue);
}

/** Calls `each` with every parsed line. */
async function readLines(
  body: ReadableStream<Uint8Array>,
  each: (line: PlaygroundEvent) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') each(JSON.parse(line));
  }
}

export async function loadModels(): Promise<void> {
  const listed = await fetchModels();
  batch(() => {
    models.value = listed.models;
    modelsProblem.value = listed.problem;
  });
}

/** Follows the events of the server, and reconnects after a lost connection. */
export async function follow(): Promise<void> {
  for (;;) {
    try {
      if (hello.value === undefined) {
        hello.value = await fetchHello();
        void loadModels().catch(() => {});
      }
      const answer = await send('events');
      connection.value = 'open';
      if (answer.body !== null) await readLines(answer.body, enqueue);
      connectionProblem.value = 'The playground was stopped.';
      connection.value = 'lost';
    } catch (error) {
      const isRefused = error instanceof ServerError && error.status > 0;
      connectionProblem.value =
        error instanceof ServerError ? error.message : 'The connection was lost.';
      connection.value = isRefused ? 'refused' : 'lost';
      if (isRefused) {
        keepLink();
        return;
      }
    }
    await pause(1_500);
  }
}
