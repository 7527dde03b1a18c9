import { batch, computed, signal } from '@preact/signals';
import type {
  Books,
  CallKind,
  CallView,
  Hello,
  ListedModel,
  PlaygroundEvent,
  Problem,
} from '../protocol.ts';
import { ask, askHello, askModels, ServerError } from './api.ts';

/** What the server said first. */
export const hello = signal<Hello | undefined>(undefined);
/** Whether the server tells what happens. `refused`: the page is of an earlier start. */
export const connection = signal<'connecting' | 'open' | 'lost' | 'refused'>('connecting');
/** Why it does not. */
export const connectionProblem = signal('');
export const books = signal<Books | undefined>(undefined);
export const models = signal<readonly ListedModel[]>([]);
/** Why the models could not be listed. */
export const modelsProblem = signal<Problem | undefined>(undefined);
/** Every call by its id, the oldest first. */
export const calls = signal<ReadonlyMap<string, CallView>>(new Map());
/** Every call, the newest first. */
export const newest = computed(() => [...calls.value.values()].toReversed());

/** The calls of a kind, the newest first. */
export const callsOf = (kind: CallKind): CallView[] =>
  newest.value.filter((call) => call.kind === kind);

function applied(map: Map<string, CallView>, event: PlaygroundEvent): void {
  switch (event.type) {
    case 'all':
      map.clear();
      for (const call of event.calls) map.set(call.id, call);
      books.value = event.books;
      return;
    case 'call':
      map.set(event.call.id, event.call);
      return;
    case 'change': {
      const call = map.get(event.id);
      if (call === undefined) return;
      const next = { ...call, ...event.changes };
      // What is gone comes as `null`, as JSON has nothing else for it.
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
    case 'books':
      books.value = event.books;
  }
}

let waiting: PlaygroundEvent[] = [];
let isPlanned = false;

/** Shows all that came since the last frame at once: ten thousand chunks are some hundred pictures. */
function show(): void {
  isPlanned = false;
  const events = waiting;
  waiting = [];
  batch(() => {
    const map = new Map(calls.value);
    for (const event of events) applied(map, event);
    calls.value = map;
  });
}

function take(event: PlaygroundEvent): void {
  waiting.push(event);
  if (isPlanned) return;
  isPlanned = true;
  // A tab in the background draws no frames.
  if (document.hidden) setTimeout(show, 200);
  else requestAnimationFrame(show);
}

/** Calls `each` with every line of JSON. */
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

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function loadModels(): Promise<void> {
  const listed = await askModels();
  batch(() => {
    models.value = listed.models;
    modelsProblem.value = listed.problem;
  });
}

/** Follows what the server tells, and comes back to it when it was lost. */
export async function follow(): Promise<void> {
  for (;;) {
    try {
      if (hello.value === undefined) {
        hello.value = await askHello();
        void loadModels().catch(() => {});
      }
      const answer = await ask('events');
      connection.value = 'open';
      if (answer.body !== null) await readLines(answer.body, take);
      connectionProblem.value = 'The playground has ended.';
      connection.value = 'lost';
    } catch (error) {
      const isRefused = error instanceof ServerError && error.status > 0;
      connectionProblem.value =
        error instanceof ServerError ? error.message : 'The connection was lost.';
      connection.value = isRefused ? 'refused' : 'lost';
      if (isRefused) return;
    }
    await pause(1_500);
  }
}
