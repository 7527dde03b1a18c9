import type { ComponentChildren, JSX } from 'preact';
import { draft, field } from '../draft.ts';
import { NumberField, TextField } from '../fields.tsx';

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

/** The settings of a conversation. */
export const settings = draft('chat-settings', {
  system: '',
  temperature: '',
  maxTokens: '',
  tools: exampleTools,
  hasTools: false,
  strict: false,
});

function Check({ name, children }: { name: 'strict' | 'hasTools'; children: ComponentChildren }) {
  const { value, onInput } = field(settings, name);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value}
        onChange={({ currentTarget }) => onInput(currentTarget.checked)}
      />
      {children}
    </label>
  );
}

export function Settings(): JSX.Element {
  const { hasTools } = settings.value;
  return (
    <details class="settings">
      <summary>Settings: system prompt, temperature, tools</summary>
      <div class="stack">
        <TextField label="System prompt" rows={2} {...field(settings, 'system')} />
        <div class="row">
          <NumberField
            label="Temperature"
            hint="0 to 2"
            min="0"
            max="2"
            step="0.1"
            {...field(settings, 'temperature')}
          />
          <NumberField
            label="Maximum length"
            hint="tokens"
            min="1"
            {...field(settings, 'maxTokens')}
          />
        </div>
        <Check name="strict">
          Never retry a call that may have been billed (<code>retryUnknownOutcome: false</code>)
        </Check>
        <Check name="hasTools">Offer tools</Check>
        {hasTools ? (
          <TextField label="Tools" hint="JSON" rows={8} {...field(settings, 'tools')} />
        ) : null}
      </div>
    </details>
  );
}
