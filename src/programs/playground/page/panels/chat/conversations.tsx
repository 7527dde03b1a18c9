import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { CallView } from '../../../protocol.ts';
import { closeOnEscape, focusForm } from '../../calls/stop.ts';
import { modelsFor } from '../../fields.tsx';
import { clockTime, count, saveText } from '../../format.ts';
import { calls } from '../../state.ts';
import { buildHistory, currentCalls, lastMessage } from './conversation.ts';

interface Listed {
  readonly id: string;
  readonly startedAt: number;
  /** The current calls of each column. */
  readonly columns: readonly (readonly CallView[])[];
}

/** Returns the conversations, the one with the newest message first. */
function listConversations(): Listed[] {
  const groups = new Map<string, CallView[]>();
  for (const call of calls.value.values()) {
    if (call.conversation === undefined) continue;
    const group = groups.get(call.conversation) ?? [];
    // Later calls come later in the map.
    groups.delete(call.conversation);
    groups.set(call.conversation, [...group, call]);
  }
  return [...groups]
    .map(([id, group]) => ({
      id,
      startedAt: group[0]?.startedAt ?? 0,
      columns: Array.from(
        { length: Math.max(...group.map(({ column = 0 }) => column)) + 1 },
        (_, column) => currentCalls(group.filter((call) => call.column === column)),
      ),
    }))
    .toReversed();
}

const findModel = (column: readonly CallView[]): string =>
  column.at(-1)?.model ?? modelsFor('chat')[0] ?? '';

/** Returns the first message of a conversation. */
function findTitle({ columns }: Listed): string {
  const [first] = columns.flat();
  return (first === undefined ? '' : lastMessage(first).text.slice(0, 80)) || 'Images';
}

/** Saves the messages of a conversation, one list for each column, as JSON. */
function exportConversation({ columns }: Listed): void {
  const content = columns.map((column) => ({
    model: findModel(column),
    messages: buildHistory(column.at(-1)),
  }));
  saveText('conversation.json', 'application/json', JSON.stringify(content, undefined, 2));
}

/** The conversations of this start of the playground, and a new one. They are the calls of the list Requests. */
export function Conversations({
  current,
  onOpen,
}: {
  /** The id of the open conversation. */
  current: string;
  /** Opens a conversation, with the models of its columns unless it is new. */
  onOpen: (id: string, models?: readonly string[]) => void;
}): JSX.Element {
  const list = listConversations();
  const details = useRef<HTMLDetailsElement>(null);
  const hide = (): void => {
    if (details.current !== null) details.current.open = false;
  };
  const close = (): void => {
    details.current?.querySelector('summary')?.focus();
    hide();
  };
  const shown = list.find(({ id }) => id === current);
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={shown === undefined}
        onClick={() => {
          focusForm();
          onOpen(crypto.randomUUID());
        }}
      >
        New conversation
      </button>
      <details
        class="conversations"
        ref={details}
        onKeyDown={(event) => {
          if (event.currentTarget.open) closeOnEscape(close)(event);
        }}
        onFocusOut={({ currentTarget, relatedTarget }) => {
          if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) hide();
        }}
      >
        <summary class="button quiet">Conversations ({list.length})</summary>
        <div class="card conversation-list" tabIndex={-1}>
          {list.length === 0 ? (
            <p class="faint">No conversations yet</p>
          ) : (
            <ul>
              {list.map((item) => (
                <li key={item.id}>
                  <button
                    type="button"
                    class="quiet"
                    aria-current={item.id === current ? 'true' : undefined}
                    onClick={() => {
                      onOpen(item.id, item.columns.map(findModel));
                      close();
                    }}
                  >
                    <bdi>{findTitle(item)}</bdi>
                    <span class="faint">
                      {count(Math.max(...item.columns.map(({ length }) => length)), 'message')},{' '}
                      {clockTime(item.startedAt)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          <button
            type="button"
            class="quiet"
            disabled={shown === undefined}
            onClick={() => shown !== undefined && exportConversation(shown)}
          >
            Export this conversation
          </button>
        </div>
      </details>
    </>
  );
}
