import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { order } from '../api.ts';
import { draft } from '../draft.ts';
import { FaultField, FileField, ModelField, modelsFor, Select, TextField } from '../fields.tsx';
import { CopyButton, Empty, Heading, OrderProblem } from '../parts.tsx';
import { Prose } from '../prose.tsx';
import { recalled, remember } from '../route.ts';
import { callsOf } from '../state.ts';
import { Recorder } from './recorder.tsx';
import { Result } from './results.tsx';

const form = draft('translation', { prompt: '', format: 'json' });

/** What is said in any language, as English text. */
export function Translation(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  const model = recalled('model', modelsFor('translation')[0] ?? '');
  const { prompt, format } = form.value;
  const translate = async (): Promise<void> => {
    setError(undefined);
    const body = { model, response_format: format, ...(prompt === '' ? {} : { prompt }) };
    const input = { kind: 'translation' as const, body, ...(fault === '' ? {} : { fault }) };
    await order(input, { file: files }).catch(setError);
  };
  const translated = callsOf('translation');
  return (
    <>
      <Heading title="Translation">
        Sound in any language becomes English text: from a file, or from the microphone.
      </Heading>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void translate();
        }}
      >
        <div class="row top">
          <FileField
            label="Sound"
            accept="audio/*,video/mp4,video/webm,.mp3,.m4a,.wav,.flac,.ogg"
            files={files}
            onChange={setFiles}
          />
          <Recorder onFile={(file) => setFiles([file])} />
        </div>
        <div class="row">
          <ModelField
            kind="translation"
            value={model}
            onChange={(value) => remember('model', value)}
          />
          <Select
            label="Format"
            value={format}
            options={['json', 'text', 'srt', 'vtt', 'verbose_json']}
            onChange={(value) => {
              form.value = { ...form.value, format: value };
            }}
          />
          <FaultField kind="translation" value={fault} onChange={setFault} />
        </div>
        <TextField
          label="Style"
          hint="English, or what was said before"
          rows={1}
          value={prompt}
          onInput={(value) => {
            form.value = { ...form.value, prompt: value };
          }}
        />
        <div class="row tight">
          <button type="submit" class="primary" disabled={files.length === 0}>
            Translate
          </button>
        </div>
        <OrderProblem error={error} />
      </form>
      {translated.length === 0 ? (
        <Empty title="Nothing translated yet">Choose a file, or press Record and speak.</Empty>
      ) : (
        <ul class="stack">
          {translated.map((call) => (
            <Result
              key={call.id}
              call={call}
              title={call.sent[0]?.name ?? 'sound'}
              actions={call.text === '' ? null : <CopyButton label="Copy" text={() => call.text} />}
            >
              <Prose text={call.text} />
            </Result>
          ))}
        </ul>
      )}
    </>
  );
}
