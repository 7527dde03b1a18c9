import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallView, CallInput } from '../../../protocol.ts';
import { calls } from '../../state.ts';
import type { CodedCall } from '../../code.ts';
import { draft } from '../../draft.ts';
import { recalled, remember } from '../../route.ts';
import { Heading, Empty } from '../../parts.tsx';
import { startCall, starts, usePrice, useStart } from '../../calls/start.tsx';
import { keepFocus, stopCalls, useEscape } from '../../calls/stop.ts';
import { Setup } from '../../setup/setup.tsx';
import { TextField, modelsFor, ModelField, FileField, FaultField } from '../../fields.tsx';
import { CodeDetails } from '../call-code.tsx';
import {
  buildHistory,
  currentCalls,
  editLast,
  type Message,
  type Part,
  withoutSystem,
} from './conversation.ts';
import { Conversations } from './conversations.tsx';
import { Turn } from './turn.tsx';
import { initialSettings, presets, Settings, settings } from './settings.tsx';

const conversation = draft<string>('conversation', crypto.randomUUID());
const prompt = draft('chat-prompt', '');

/** Returns the selected models from the address. */
function chosenModels(): string[] {
  return recalled('models', modelsFor('chat')[0] ?? '')
    .split(',')
    .slice(0, 4);
}

const setModels = (next: readonly string[]): void => remember('models', next.join(','));

const columnCalls = (column: number): CallView[] =>
  currentCalls(
    [...calls.value.values()].filter(
      (call) => call.conversation === conversation.value && call.column === column,
    ),
  );

/** Reads a file as a data URL. */
function readDataURL(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve(typeof reader.result === 'string' ? reader.result : ''),
    );
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}

/** @throws if the text is not a JSON array */
function parseTools(text: string): unknown {
  try {
    const tools: unknown = JSON.parse(text);
    if (Array.isArray(tools)) return tools;
  } catch {
    // Invalid JSON throws the same error as other values.
  }
  throw new Error('Tools: must be a JSON array like the example. Nothing was sent.');
}

function buildBody(model: string, messages: readonly Message[]): CallInput['body'] {
  const { system, temperature, maxTokens, tools, hasTools } = settings.value;
  const first: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return {
    model,
    messages: [...first, ...messages],
    ...(temperature === '' ? {} : { temperature: Number(temperature) }),
    ...(maxTokens === '' ? {} : { max_tokens: Number(maxTokens) }),
    ...(hasTools ? { tools: parseTools(tools) } : {}),
  };
}

/** Returns the next call of the first column as far as its code depends on it. */
function describeNext(model: string): CodedCall {
  const text = prompt.value.trim();
  const next = continued(0, [{ role: 'user', content: text === '' ? 'Hello' : text }]);
  const { strict } = settings.value;
  const call = { kind: 'chat', operation: 'chat.completions.create', sent: [], strict } as const;
  try {
    return { ...call, body: buildBody(model, next) };
  } catch {
    // The tools are being edited.
    return { ...call, body: { model, messages: next } };
  }
}

/** Sends messages in one column. `replaces` is the call that the new one replaces. */
function sendIn(
  column: number,
  messages: readonly Message[],
  { fault = '', replaces }: { fault?: string; replaces?: string } = {},
): Promise<string> {
  return startCall({
    kind: 'chat',
    body: buildBody(chosenModels()[column] ?? '', messages),
    conversation: conversation.value,
    column,
    ...(settings.value.strict ? { strict: true } : {}),
    ...(fault === '' ? {} : { fault }),
    ...(replaces === undefined ? {} : { replaces }),
  });
}

/** Returns the messages of a column with the next ones. */
const continued = (column: number, next: readonly Message[]): Message[] => [
  ...buildHistory(columnCalls(column).at(-1)),
  ...next,
];

/** Returns a number that changes with everything that makes an answer taller, its error and its end included. */
function estimateHeight(call: CallView): number {
  const { text, reasoning, toolCalls, files, status, problem, attempts, usage, finishReason } =
    call;
  const ends = [status !== 'running', problem, attempts, usage, finishReason].filter(Boolean);
  return text.length + reasoning.length + toolCalls.length + files.length + ends.length;
}

/**
 * Scrolls to the end of a conversation when it is opened and while an answer grows, unless the user has
 * scrolled up.
 *
 * @returns a function that makes it scroll again, whatever the user did
 */
function useScrollToEnd(grown: number): () => void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    let top = scrollY;
    const onScroll = (): void => {
      const { scrollHeight } = document.documentElement;
      // Text that arrived before this event is below the end that was scrolled to; only a user scrolls up.
      if (scrollHeight - scrollY - innerHeight < 120) isAtEnd.current = true;
      else if (scrollY < top) isAtEnd.current = false;
      top = scrollY;
    };
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    if (isAtEnd.current && grown > 0) scrollTo({ top: document.documentElement.scrollHeight });
  }, [grown]);
  return () => {
    isAtEnd.current = true;
  };
}

/** Chat with one model, or with several side by side. */
export function Chat(): JSX.Element {
  const models = chosenModels();
  const columns = models.map((_, column) => columnCalls(column));
  // The list of models may come late, or not at all.
  const canSend = models.every((model) => model.trim() !== '');
  const all = columns.flat();
  const running = all.filter(({ status }) => status === 'running');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState('');
  const { start, onError, notice } = useStart();
  const price = usePrice(models.map((model) => ({ model })));
  const followAnswer = useScrollToEnd(
    all.reduce((sum, call) => sum + estimateHeight(call), all.length),
  );

  const sendMessage = async (text: string, images: readonly File[]): Promise<void> => {
    const urls = await Promise.all(images.map(readDataURL));
    const parts: Part[] = [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...urls.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
    ];
    const content = urls.length === 0 ? text : parts;
    await Promise.all(
      models.map((_, column) =>
        sendIn(column, continued(column, [{ role: 'user', content }]), { fault }),
      ),
    );
  };
  const send = (): void => {
    const text = prompt.value.trim();
    if (!canSend || (text === '' && files.length === 0)) return;
    void start(async () => {
      // The message leaves the field before anything is awaited, so that another press has nothing to send.
      prompt.value = '';
      setFiles([]);
      followAnswer();
      try {
        await sendMessage(text, files);
      } catch (problem) {
        if (prompt.value === '') prompt.value = text;
        setFiles((added) => [...files, ...added]);
        throw problem;
      }
    });
  };
  const sendAgain = (column: number, messages: readonly Message[], replaces?: string): void => {
    void start(() => sendIn(column, messages, replaces === undefined ? {} : { replaces }));
    keepFocus();
  };
  const stop = (): void => stopCalls(running, onError);
  useEscape(stop);
  return (
    <>
      <Heading
        title="Chat"
        aside={
          <>
            <Conversations
              onOpen={(id, opened = models) => {
                conversation.value = id;
                setModels(opened);
              }}
              current={conversation.value}
            />
            <Setup form={settings} initial={initialSettings} modelName="models" presets={presets} />
          </>
        }
      >
        Streamed, with reasoning, speed, and a verdict on whether the answer is complete.
      </Heading>
      <div class="chat-bar">
        <div class="columns" data-count={models.length}>
          {models.map((model, column) => (
            <div key={column} class="row tight column-head">
              <ModelField
                kind="chat"
                label={models.length === 1 ? 'Model' : `Model ${column + 1}`}
                value={model}
                onInput={(value) => setModels(models.with(column, value.replaceAll(',', '')))}
              />
              {models.length > 1 ? (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Remove model ${column + 1}`}
                  onClick={() => {
                    keepFocus();
                    setModels(models.toSpliced(column, 1));
                  }}
                >
                  Remove
                </button>
              ) : null}
              {column === models.length - 1 && models.length < 4 ? (
                <button
                  type="button"
                  class="quiet"
                  onClick={() =>
                    setModels([
                      ...models,
                      modelsFor('chat').find((id) => !models.includes(id)) ?? '',
                    ])
                  }
                >
                  +<span class="wide"> Compare</span>
                </button>
              ) : null}
            </div>
          ))}
        </div>
        <Settings>
          <CodeDetails label="Code for these settings" call={() => describeNext(models[0] ?? '')} />
        </Settings>
      </div>
      <div class="columns" data-count={models.length}>
        {models.map((model, column) => (
          <section key={column} class="column" aria-label={`Answers of ${model}`}>
            {columns[column]?.length === 0 ? (
              <Empty title="No messages yet">
                Write a message below. <em>Compare</em> sends it to several models.
              </Empty>
            ) : (
              <ol class="turns">
                {columns[column]?.map((call, index, { length }) => (
                  <Turn
                    key={call.id}
                    call={call}
                    isLast={index === length - 1}
                    onTools={(messages) => sendAgain(column, continued(column, messages))}
                    onRetry={() => sendAgain(column, withoutSystem(call), call.id)}
                    onEdit={(text) => sendAgain(column, editLast(call, text), call.id)}
                  />
                ))}
              </ol>
            )}
          </section>
        ))}
      </div>
      <form
        class="card composer"
        {...starts}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <TextField
          label="Message"
          keys="Enter sends, Shift+Enter breaks the line"
          rows={1}
          value={prompt.value}
          example="Why does light bend?"
          sendsOnEnter
          onInput={(value) => {
            prompt.value = value;
          }}
          onSend={send}
        />
        <div class="row tight">
          <FileField
            label="Images"
            noun="image"
            accept="image/*"
            multiple
            files={files}
            onChange={setFiles}
          />
          <FaultField kind="chat" value={fault} onInput={setFault} />
          <div class="row tight push">
            <button type="button" disabled={running.length === 0} onClick={stop}>
              Stop
            </button>
            <button type="submit" class="primary" {...starts} disabled={!canSend}>
              Send
              {price}
            </button>
          </div>
        </div>
        {notice}
      </form>
    </>
  );
}
