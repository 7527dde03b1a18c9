import type { JSX } from 'preact';
import { draft } from '../draft.ts';
import { Field, TextField } from '../fields.tsx';

const exampleTools = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather in a city',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    },
  ],
  undefined,
  2,
);

/** What every question of a conversation is sent with. */
export const settings = draft('chat-settings', {
  system: '',
  temperature: '',
  maxTokens: '',
  tools: exampleTools,
  hasTools: false,
  strict: false,
});

export function Settings(): JSX.Element {
  const { system, temperature, maxTokens, tools, hasTools, strict } = settings.value;
  const set = (change: Partial<typeof settings.value>): void => {
    settings.value = { ...settings.value, ...change };
  };
  return (
    <details class="settings">
      <summary>Settings: system prompt, temperature, tools</summary>
      <div class="stack">
        <TextField
          label="System prompt"
          rows={2}
          value={system}
          onInput={(value) => set({ system: value })}
        />
        <div class="row">
          <Field label="Temperature" hint="0 to 2">
            {(id) => (
              <input
                id={id}
                type="number"
                min="0"
                max="2"
                step="0.1"
                value={temperature}
                onInput={({ currentTarget }) => set({ temperature: currentTarget.value })}
              />
            )}
          </Field>
          <Field label="Longest answer" hint="tokens">
            {(id) => (
              <input
                id={id}
                type="number"
                min="1"
                value={maxTokens}
                onInput={({ currentTarget }) => set({ maxTokens: currentTarget.value })}
              />
            )}
          </Field>
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={strict}
            onChange={({ currentTarget }) => set({ strict: currentTarget.checked })}
          />
          Never repeat a call that may have been billed (<code>retryUnknownOutcome: false</code>)
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={hasTools}
            onChange={({ currentTarget }) => set({ hasTools: currentTarget.checked })}
          />
          Offer tools
        </label>
        {hasTools ? (
          <TextField
            label="Tools"
            hint="JSON"
            rows={8}
            value={tools}
            onInput={(value) => set({ tools: value })}
          />
        ) : null}
      </div>
    </details>
  );
}
