import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallView, CallInput } from '../../protocol.ts';
import { calls } from '../state.ts';
import { startCall, stopCall } from '../api.ts';
import { draft } from '../draft.ts';
import { recalled, remember } from '../route.ts';
import { Heading, StartProblem, Empty } from '../parts.tsx';
import { TextField, modelsFor, ModelField, FileField, FaultField } from '../fields.tsx';
import { readDataURL, buildHistory, type Message, type Part } from './conversation.ts';
import { Turn } from './turn.tsx';
import { Settings, settings } from './chat-settings.tsx';

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
  [...calls.value.values()].filter(
    (call) => call.conversation === conversation.value && call.column === column,
  );

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

function buildBody(
  model: string,
  history: readonly Message[],
  next: readonly Message[],
): CallInput['body'] {
  const { system, temperature, maxTokens, tools, hasTools } = settings.value;
  const first: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return {
    model,
    messages: [...first, ...history, ...next],
    ...(temperature === '' ? {} : { temperature: Number(temperature) }),
    ...(maxTokens === '' ? {} : { max_tokens: Number(maxTokens) }),
    ...(hasTools ? { tools: parseTools(tools) } : {}),
  };
}

async function sendMessages(
  models: readonly string[],
  next: (column: number) => readonly Message[],
  fault: string,
  only?: number,
): Promise<void> {
  const selected = models.map((model, column) => ({ model, column }));
  await Promise.all(
    selected
      .filter(({ column }) => only === undefined || column === only)
      .map(({ model, column }) =>
        startCall({
          kind: 'chat',
          body: buildBody(model, buildHistory(columnCalls(column).at(-1)), next(column)),
          conversation: conversation.value,
          column,
          ...(settings.value.strict ? { strict: true } : {}),
          ...(fault === '' ? {} : { fault }),
        }),
      ),
  );
}

/** Scrolls to the end while an answer grows, unless the user has scrolled up. */
function useScrollToEnd(grown: unknown): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const onScroll = (): void => {
      const { scrollHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollY - innerHeight < 120;
    };
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    if (isAtEnd.current) scrollTo({ top: document.documentElement.scrollHeight });
  }, [grown]);
}

/** Chat with one model, or with several side by side. */
export function Chat(): JSX.Element {
  const models = chosenModels();
  const columns = models.map((_, column) => columnCalls(column));
  const all = columns.flat();
  const running = all.filter(({ status }) => status === 'running');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  useScrollToEnd(
    all.reduce((sum, call) => sum + call.text.length + call.reasoning.length, all.length),
  );

  const send = async (): Promise<void> => {
    setError(undefined);
    const text = prompt.value.trim();
    if (text === '' && files.length === 0) return;
    try {
      const images = await Promise.all(files.map(readDataURL));
      const parts: Part[] = [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
      ];
      const content = images.length === 0 ? text : parts;
      await sendMessages(models, () => [{ role: 'user', content }], fault);
      prompt.value = '';
      setFiles([]);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <Heading
        title="Chat"
        aside={
          <button
            type="button"
            class="quiet"
            disabled={all.length === 0}
            onClick={() => {
              conversation.value = crypto.randomUUID();
            }}
          >
            New conversation
          </button>
        }
      >
        Streamed, with reasoning, speed, and a verdict on whether the answer is complete.
      </Heading>
      <div class="columns" data-count={models.length}>
        {models.map((model, column) => (
          <section key={column} class="column" aria-label={`Answers of ${model}`}>
            <div class="row tight column-head">
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
                  onClick={() => setModels(models.toSpliced(column, 1))}
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
                  + Compare
                </button>
              ) : null}
            </div>
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
                    onTools={(messages) => {
                      void sendMessages(models, () => messages, '', column).catch(setError);
                    }}
                  />
                ))}
              </ol>
            )}
          </section>
        ))}
      </div>
      <form
        class="card composer stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <TextField
          label="Message"
          hint="Ctrl+Enter sends"
          rows={2}
          value={prompt.value}
          placeholder="Why does light bend?"
          onInput={(value) => {
            prompt.value = value;
          }}
          onSend={() => void send()}
        />
        <div class="row">
          <FileField label="Images" accept="image/*" multiple files={files} onChange={setFiles} />
          <FaultField kind="chat" value={fault} onInput={setFault} />
          <div class="row tight">
            <button type="submit" class="primary">
              Send
            </button>
            <button
              type="button"
              disabled={running.length === 0}
              onClick={() => {
                for (const { id } of running) void stopCall(id).catch(setError);
              }}
            >
              Stop
            </button>
          </div>
        </div>
        <StartProblem error={error} />
        <Settings />
      </form>
    </>
  );
}
