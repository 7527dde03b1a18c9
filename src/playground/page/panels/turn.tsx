import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { Prose } from '../prose.tsx';
import { ProblemBox, StatusPill, FaultPill, ChargePill, Stats } from '../parts.tsx';
import { Field } from '../fields.tsx';
import { lastMessage, type Message } from './conversation.ts';
import { Picture } from './results.tsx';

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
              placeholder="the result of the tool"
              onInput={({ currentTarget }) => setResults({ ...results, [id]: currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <button type="submit">Send results</button>
    </form>
  );
}

/** A message and its answer. */
export function Turn({
  call,
  isLast,
  onTools,
}: {
  call: CallView;
  isLast: boolean;
  onTools: (messages: Message[]) => void;
}): JSX.Element {
  const { text, images, isTool } = lastMessage(call);
  const { reasoning, status, problem, toolCalls, finishReason } = call;
  const isWaiting = status === 'running' && call.text === '' && reasoning === '';
  return (
    <li class="turn">
      <div class="asked">
        {isTool ? <span class="faint">Tool result: </span> : null}
        {text}
        {images.length === 0 ? null : (
          <span class="faint">
            {' '}
            {images.length === 1 ? 'with an image' : `with ${images.length} images`}
          </span>
        )}
      </div>
      <div class="answered">
        {reasoning === '' ? null : (
          <details open={call.text === ''}>
            <summary>Reasoning</summary>
            <div class="reasoning">
              <Prose text={reasoning} />
            </div>
          </details>
        )}
        {isWaiting ? <p class="faint">Waiting for the first token…</p> : <Prose text={call.text} />}
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
        {problem === undefined || status === 'stopped' ? null : <ProblemBox problem={problem} />}
        <div class="turn-end">
          <StatusPill call={call} />
          {finishReason === undefined || finishReason === 'stop' ? null : (
            <span class="pill">{finishReason}</span>
          )}
          <FaultPill call={call} />
          <ChargePill call={call} />
          <Stats call={call} />
        </div>
      </div>
    </li>
  );
}
