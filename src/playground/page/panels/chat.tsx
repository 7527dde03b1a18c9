import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallView, CallInput } from '../../protocol.ts';
import { calls } from '../state.ts';
import { order, stopCall } from '../api.ts';
import { draft } from '../draft.ts';
import { recalled, remember } from '../route.ts';
import { Heading, OrderProblem, Empty } from '../parts.tsx';
import { TextField, modelsFor, ModelField, FileField, FaultField } from '../fields.tsx';
import { dataAddress, historyOf, type Message, type Part } from './conversation.ts';
import { Turn } from './turn.tsx';
import { Settings, settings } from './chat-settings.tsx';

const conversation = draft<string>('conversation', crypto.randomUUID());
const prompt = draft('chat-prompt', '');

/** The models side by side, as the address has them. */
function chosenModels(): string[] {
  return recalled('models', modelsFor('chat')[0] ?? '')
    .split(',')
    .slice(0, 4);
}

const setModels = (next: readonly string[]): void => remember('models', next.join(','));

const turnsOf = (column: number): CallView[] =>
  [...calls.value.values()].filter(
    (call) => call.conversation === conversation.value && call.column === column,
  );

/** @throws when the text is no list in JSON */
function toolsOf(text: string): unknown {
  try {
    const tools: unknown = JSON.parse(text);
    if (Array.isArray(tools)) return tools;
  } catch {
    // Said below.
  }
  throw new Error('Tools: must be a list in JSON, as the example is. Nothing was sent.');
}

function bodyOf(
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
    ...(hasTools ? { tools: toolsOf(tools) } : {}),
  };
}

async function ask(
  models: readonly string[],
  next: (column: number) => readonly Message[],
  fault: string,
  only?: number,
): Promise<void> {
  const wanted = models.map((model, column) => ({ model, column }));
  await Promise.all(
    wanted
      .filter(({ column }) => only === undefined || column === only)
      .map(({ model, column }) =>
        order({
          kind: 'chat',
          body: bodyOf(model, historyOf(turnsOf(column).at(-1)), next(column)),
          conversation: conversation.value,
          column,
          ...(settings.value.strict ? { strict: true } : {}),
          ...(fault === '' ? {} : { fault }),
        }),
      ),
  );
}

/** Keeps the end in sight while it grows, unless somebody reads further up. */
function useEndInSight(grown: unknown): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollY - innerHeight < 120;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  useEffect(() => {
    if (isAtEnd.current) scrollTo({ top: document.documentElement.scrollHeight });
  }, [grown]);
}

/** Chat with one model, or with several side by side. */
export function Chat(): JSX.Element {
  const models = chosenModels();
  const columns = models.map((_, column) => turnsOf(column));
  const all = columns.flat();
  const running = all.filter(({ status }) => status === 'running');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  useEndInSight(
    all.reduce((sum, call) => sum + call.text.length + call.reasoning.length, all.length),
  );

  const send = async (): Promise<void> => {
    setError(undefined);
    const text = prompt.value.trim();
    if (text === '' && files.length === 0) return;
    try {
      const images = await Promise.all(files.map(dataAddress));
      const parts: Part[] = [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
      ];
      const content = images.length === 0 ? text : parts;
      await ask(models, () => [{ role: 'user', content }], fault);
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
        Streamed, with what the model thinks, how fast it is, and a verdict: whether the answer is
        whole.
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
              <Empty title="Nothing said yet">
                Write below. <em>Compare</em> asks several models at once.
              </Empty>
            ) : (
              <ol class="turns">
                {columns[column]?.map((call, index, { length }) => (
                  <Turn
                    key={call.id}
                    call={call}
                    isLast={index === length - 1}
                    onTools={(messages) => {
                      void ask(models, () => messages, '', column).catch(setError);
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
          <FileField label="Pictures" accept="image/*" multiple files={files} onChange={setFiles} />
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
        <OrderProblem error={error} />
        <Settings />
      </form>
    </>
  );
}
