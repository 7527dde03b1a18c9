import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { draft, field } from '../draft.ts';
import { toText } from '../format.ts';
import { FileField, NumberField, Select, TextField } from '../fields.tsx';
import { CopyButton, useFile } from '../parts.tsx';
import { Prose } from '../prose.tsx';
import { CallPanel } from './call-panel.tsx';
import { Recorder } from './recorder.tsx';
import { Result, SaveLink } from './results.tsx';

const spoken = draft('speech', {
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
  if (error !== undefined) return <p class="warning">This audio is no longer available.</p>;
  return <audio controls src={address} aria-label={toText(call.body['input'])} />;
}

/** Text to speech. */
export function Speech(): JSX.Element {
  const { format, speed, ...body } = spoken.value;
  return (
    <CallPanel
      kind="speech"
      title="Speech"
      about="Turns text into speech. Listen here, or save the file."
      body={{
        ...body,
        response_format: format,
        speed: speed === '1' || speed === '' ? undefined : Number(speed),
      }}
      isReady={body.input.trim() !== ''}
      button="Speak"
      top={(send) => (
        <TextField
          label="Text"
          placeholder="Light takes the path of least time."
          {...field(spoken, 'input')}
          onSend={send}
        />
      )}
      options={
        <>
          <Select label="Voice" options={voices} {...field(spoken, 'voice')} />
          <Select
            label="Format"
            options={['mp3', 'wav', 'opus', 'aac', 'flac']}
            {...field(spoken, 'format')}
          />
          <NumberField
            label="Speed"
            hint="0.25 to 4"
            min="0.25"
            max="4"
            step="0.25"
            {...field(spoken, 'speed')}
          />
        </>
      }
      below={
        <TextField
          label="Instructions"
          hint="for models that support them"
          rows={1}
          placeholder="Calmly, like a guide in a museum"
          {...field(spoken, 'instructions')}
        />
      }
      empty={['No speech yet', 'Results stay here when the page is reloaded.']}
    >
      {(call) => (
        <Result
          key={call.id}
          call={call}
          title={toText(call.body['input'])}
          actions={<SaveLink call={call} index={0} />}
        >
          <div class="player">{call.files.length > 0 ? <Player call={call} /> : null}</div>
        </Result>
      )}
    </CallPanel>
  );
}

const translated = draft('translation', { prompt: '', format: 'json' });

/** Speech in any language to English text. */
export function Translation(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  const { format, prompt } = translated.value;
  return (
    <CallPanel
      kind="translation"
      title="Translation"
      about="Translates speech in any language into English text, from a file or the microphone."
      body={{ response_format: format, prompt }}
      files={{ file: files }}
      isReady={files.length > 0}
      button="Translate"
      top={() => (
        <div class="row top">
          <FileField
            label="Audio"
            accept="audio/*,video/mp4,video/webm,.mp3,.m4a,.wav,.flac,.ogg"
            files={files}
            onChange={setFiles}
          />
          <Recorder onFile={(file) => setFiles([file])} />
        </div>
      )}
      options={
        <Select
          label="Format"
          options={['json', 'text', 'srt', 'vtt', 'verbose_json']}
          {...field(translated, 'format')}
        />
      }
      below={
        <TextField
          label="Prompt"
          hint="English: style or previous text"
          rows={1}
          {...field(translated, 'prompt')}
        />
      }
      empty={['No translations yet', 'Choose a file, or press Record and speak.']}
    >
      {(call) => (
        <Result
          key={call.id}
          call={call}
          title={call.sent[0]?.name ?? 'audio'}
          actions={call.text === '' ? null : <CopyButton label="Copy" text={() => call.text} />}
        >
          <Prose text={call.text} />
        </Result>
      )}
    </CallPanel>
  );
}
