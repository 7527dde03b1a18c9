import type { ComponentChildren, JSX } from 'preact';
import { draft, field } from '../../draft.ts';
import { NumberField, TextField } from '../../fields.tsx';
import type { Preset } from '../../setup/settings.ts';

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

export const initialSettings = {
  system: '',
  temperature: '',
  maxTokens: '',
  tools: exampleTools,
  hasTools: false,
  strict: false,
};

/** The settings of a conversation. */
export const settings = draft('chat-settings', initialSettings);

export const presets: readonly Preset[] = [
  {
    name: 'Short answers',
    settings: { system: 'Answer in one or two sentences.', temperature: '0.2' },
  },
  {
    name: 'Tables',
    settings: { system: 'Answer with one Markdown table and nothing else.', temperature: '0' },
  },
  { name: 'Weather tool', settings: { hasTools: true } },
];

function Check({ name, children }: { name: 'strict' | 'hasTools'; children: ComponentChildren }) {
  const { value, onInput } = field(settings, name);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value}
        onChange={({ currentTarget }) => onInput(currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}

/** Lists the settings that are not the defaults, or names some if all are. */
function summarize(): string {
  const { system, temperature, maxTokens, hasTools, strict } = settings.value;
  const changed = [
    ...(system.trim() === '' ? [] : ['system prompt']),
    ...(temperature === '' ? [] : [`temperature ${temperature}`]),
    ...(maxTokens === '' ? [] : [`at most ${maxTokens} tokens`]),
    ...(hasTools ? ['tools'] : []),
    ...(strict ? ['no retries'] : []),
  ];
  return changed.length === 0 ? 'system prompt, temperature, tools' : changed.join(', ');
}

/** @param props.children - Shown below the settings. */
export function Settings({ children }: { children: ComponentChildren }): JSX.Element {
  const { hasTools } = settings.value;
  return (
    <details class="card settings">
      <summary>
        Settings<span class="settings-summary">: {summarize()}</span>
      </summary>
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
        {children}
      </div>
    </details>
  );
}
