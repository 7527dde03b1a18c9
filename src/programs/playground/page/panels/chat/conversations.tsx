import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../../protocol.ts';
import { clockTime, count, saveText } from '../../format.ts';
import { calls } from '../../state.ts';
import { buildHistory, currentCalls, lastMessage } from './conversation.ts';

interface Listed {
  readonly id: string;
  readonly title: string;
  readonly calls: readonly CallView[];
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
    .map(([id, group]) => {
      const [first] = group;
      return { id, title: first === undefined ? '' : lastMessage(first).text, calls: group };
    })
    .toReversed();
}

/** Saves the messages of a conversation, one list for each column, as JSON. */
function exportConversation({ calls: all }: Listed): void {
  const columns = [...new Set(all.map(({ column }) => column))];
  const content = columns.map((column) => {
    const last = currentCalls(all.filter((call) => call.column === column)).at(-1);
    return { model: last?.model, messages: buildHistory(last) };
  });
  saveText('conversation.json', 'application/json', JSON.stringify(content, undefined, 2));
}

/** The conversations of this start of the playground, and a new one. They are the calls of the list Requests. */
export function Conversations({ current }: { current: Signal<string> }): JSX.Element {
  const list = listConversations();
  const [isOpen, setIsOpen] = useState(false);
  const open = (id: string): void => {
    current.value = id;
    setIsOpen(false);
  };
  const shown = list.find(({ id }) => id === current.value);
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={shown === undefined}
        onClick={() => open(crypto.randomUUID())}
      >
        New conversation
      </button>
      <details
        class="conversations"
        open={isOpen}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary class="button quiet">Conversations ({list.length})</summary>
        <div class="card conversation-list">
          {list.length === 0 ? (
            <p class="faint">No conversations yet</p>
          ) : (
            <ul>
              {list.map((item) => (
                <li key={item.id}>
                  <button
                    type="button"
                    class="quiet"
                    aria-current={item.id === current.value ? 'true' : undefined}
                    onClick={() => open(item.id)}
                  >
                    <bdi>{item.title.slice(0, 80) || 'Images'}</bdi>
                    <span class="faint">
                      {count(item.calls.length, 'message')}
                      {item.calls[0] === undefined ? '' : `, ${clockTime(item.calls[0].startedAt)}`}
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
