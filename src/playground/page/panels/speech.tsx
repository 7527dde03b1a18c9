import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { order } from '../api.ts';
import { draft } from '../draft.ts';
import { textOf } from '../format.ts';
import { FaultField, Field, ModelField, modelsFor, Select, TextField } from '../fields.tsx';
import { Empty, Heading, OrderProblem, useFile } from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import { callsOf } from '../state.ts';
import type { CallView } from '../../protocol.ts';
import { Result, SaveLink } from './results.tsx';

const form = draft('speech', {
  input: '',
  voice: 'alloy',
  format: 'mp3',
  speed: '1',
  instructions: '',
});

const voices = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
];

function Player({ call }: { call: CallView }): JSX.Element {
  const { address, error } = useFile(call.id, 0);
  if (error !== undefined) return <p class="warning">This sound cannot be read any more.</p>;
  return <audio controls src={address} aria-label={textOf(call.body['input'])} />;
}

/** Text to sound. */
export function Speech(): JSX.Element {
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  const model = recalled('model', modelsFor('speech')[0] ?? '');
  const { input, voice, format, speed, instructions } = form.value;
  const set = (change: Partial<typeof form.value>): void => {
    form.value = { ...form.value, ...change };
  };
  const speak = async (): Promise<void> => {
    setError(undefined);
    const body = {
      model,
      input,
      voice,
      response_format: format,
      ...(speed === '1' || speed === '' ? {} : { speed: Number(speed) }),
      ...(instructions === '' ? {} : { instructions }),
    };
    await order({ kind: 'speech', body, ...(fault === '' ? {} : { fault }) }).catch(setError);
  };
  const spoken = callsOf('speech');
  return (
    <>
      <Heading title="Speech">A text, spoken. Listen to it here, or save the file.</Heading>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void speak();
        }}
      >
        <TextField
          label="Text"
          value={input}
          placeholder="Light takes the path of least time."
          onInput={(value) => set({ input: value })}
          onSend={() => void speak()}
        />
        <div class="row">
          <ModelField kind="speech" value={model} onChange={(value) => remember('model', value)} />
          <Select
            label="Voice"
            value={voice}
            options={voices}
            onChange={(value) => set({ voice: value })}
          />
          <Select
            label="Format"
            value={format}
            options={['mp3', 'wav', 'opus', 'aac', 'flac']}
            onChange={(value) => set({ format: value })}
          />
          <Field label="Speed" hint="0.25 to 4">
            {(id) => (
              <input
                id={id}
                type="number"
                min="0.25"
                max="4"
                step="0.25"
                value={speed}
                onInput={({ currentTarget }) => set({ speed: currentTarget.value })}
              />
            )}
          </Field>
          <FaultField kind="speech" value={fault} onChange={setFault} />
        </div>
        <TextField
          label="How to speak"
          hint="for models that can be told"
          rows={1}
          value={instructions}
          placeholder="Calmly, like a guide in a museum"
          onInput={(value) => set({ instructions: value })}
        />
        <div class="row tight">
          <button type="submit" class="primary" disabled={input.trim() === ''}>
            Speak
          </button>
        </div>
        <OrderProblem error={error} />
      </form>
      {spoken.length === 0 ? (
        <Empty title="Nothing spoken yet">
          What is spoken stays here when the page is reloaded.
        </Empty>
      ) : (
        <ul class="stack">
          {spoken.map((call) => (
            <Result
              key={call.id}
              call={call}
              title={textOf(call.body['input'])}
              actions={<SaveLink call={call} index={0} />}
            >
              <div class="player">{call.files.length > 0 ? <Player call={call} /> : null}</div>
            </Result>
          ))}
        </ul>
      )}
    </>
  );
}
