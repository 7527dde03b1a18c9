import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../../protocol.ts';
import { Prose } from '../../text/prose.tsx';
import { CopyButton } from '../../parts.tsx';
import { Field, TextField } from '../../fields.tsx';
import { starts } from '../../calls/start.tsx';
import { useWait } from '../../calls/steps.tsx';
import { closeOnEscape } from '../../calls/stop.ts';
import { lastMessage, type Message } from './conversation.ts';
import { CallEnd, Picture } from '../results.tsx';

/** The tool calls of a model, with fields for their results. */
function ToolResults({
  call,
  onSend,
}: {
  call: CallView;
  onSend: (messages: Message[]) => void;
}): JSX.Element {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  return (
    <form
      class="tools"
      {...starts}
      onSubmit={(event) => {
        event.preventDefault();
        onSend(
          call.toolCalls.map(({ id }) => ({
            role: 'tool',
            tool_call_id: id,
            content: results[id] ?? '',
          })),
        );
      }}
    >
      {call.toolCalls.map(({ id, name, arguments: args }) => (
        <Field key={id} label={`${name}(${args})`} hint="result">
          {(field) => (
            <input
              id={field}
              value={results[id] ?? ''}
              dir="auto"
              placeholder="the result of the tool"
              onInput={({ currentTarget }) => setResults({ ...results, [id]: currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <button type="submit" {...starts}>
        Send results
      </button>
    </form>
  );
}

/** A sent message, which can be edited. */
function Sent({ call, onEdit }: { call: CallView; onEdit: (text: string) => void }): JSX.Element {
  const { text, images, isTool } = lastMessage(call);
  const [edited, setEdited] = useState<string | undefined>();
  if (edited !== undefined) {
    const send = (): void => {
      if (edited.trim() === '') return;
      setEdited(undefined);
      onEdit(edited);
    };
    return (
      <form
        class="editor"
        {...starts}
        onKeyDown={closeOnEscape(() => setEdited(undefined))}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <TextField
          label="Edited message"
          hint="replaces the rest of the conversation"
          rows={2}
          value={edited}
          sendsOnEnter
          onInput={setEdited}
          onSend={send}
        />
        <div class="row tight">
          <button type="submit" class="quiet" {...starts}>
            Send again
          </button>
          <button type="button" class="quiet" onClick={() => setEdited(undefined)}>
            Cancel
          </button>
        </div>
      </form>
    );
  }
  return (
    <div class="sent">
      <div class="asked" dir="auto">
        {isTool ? <span class="faint">Tool result: </span> : null}
        {text}
        {images.length === 0 ? null : (
          <span class="faint">
            {' '}
            {images.length === 1 ? 'with an image' : `with ${images.length} images`}
          </span>
        )}
      </div>
      <div class="row tight actions">
        <CopyButton label="Copy" text={() => text} />
        {isTool ? null : (
          <button
            type="button"
            class="quiet"
            disabled={call.status === 'running'}
            onClick={() => setEdited(text)}
          >
            Edit
          </button>
        )}
      </div>
    </div>
  );
}

/** A message and its answer. */
export function Turn({
  call,
  isLast,
  onTools,
  onRetry,
  onEdit,
}: {
  call: CallView;
  isLast: boolean;
  onTools: (messages: Message[]) => void;
  onRetry: () => void;
  onEdit: (text: string) => void;
}): JSX.Element {
  const { reasoning, status, toolCalls } = call;
  const isWaiting = status === 'running' && call.text === '' && reasoning === '';
  const wait = useWait(call);
  return (
    <li class="turn">
      <Sent call={call} onEdit={onEdit} />
      <div class="answered">
        {reasoning === '' ? null : (
          <details open={call.text === ''}>
            <summary>Reasoning</summary>
            <div class="reasoning">
              <Prose text={reasoning} />
            </div>
          </details>
        )}
        {isWaiting ? (
          <p class="faint">{wait ?? 'Waiting for the first token…'}</p>
        ) : (
          <Prose text={call.text} />
        )}
        {call.files.length === 0 ? null : (
          <div class="pictures">
            {call.files.map(({ name }, index) => (
              <Picture key={name} call={call} index={index} />
            ))}
          </div>
        )}
        {toolCalls.length > 0 && isLast && status === 'done' ? (
          <ToolResults call={call} onSend={onTools} />
        ) : (
          toolCalls.map(({ id, name, arguments: args }) => (
            <p key={id}>
              <code>
                {name}({args})
              </code>
            </p>
          ))
        )}
        <CallEnd call={call}>
          {call.text === '' ? null : <CopyButton label="Copy" text={() => call.text} />}
          <button
            type="button"
            class="quiet"
            {...starts}
            disabled={status === 'running'}
            onClick={onRetry}
          >
            Retry
          </button>
        </CallEnd>
      </div>
    </li>
  );
}
