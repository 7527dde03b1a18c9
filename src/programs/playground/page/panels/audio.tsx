import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { draft, field } from '../draft.ts';
import { toText } from '../format.ts';
import { FileField, NumberField, Select, TextField } from '../fields.tsx';
import { CopyButton, useFile } from '../parts.tsx';
import type { Preset } from '../setup/settings.ts';
import { CallPanel } from './call-panel.tsx';
import { Recorder } from './recorder.tsx';
import { Result, SaveLink } from './results.tsx';

const initialSpeech = { input: '', voice: 'alloy', format: 'mp3', speed: '1', instructions: '' };
const spoken = draft('speech', initialSpeech);

const speechPresets: readonly Preset[] = [
  {
    name: 'Audiobook',
    settings: {
      input: 'The lighthouse keeper climbed the stairs for the last time.',
      voice: 'sage',
      instructions: 'Slowly, like the narrator of an audiobook',
    },
  },
  {
    name: 'Announcement',
    settings: {
      input: 'The train to Oslo leaves from platform two.',
      voice: 'nova',
      speed: '1.25',
    },
  },
];

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
      form={spoken}
      initial={initialSpeech}
      presets={speechPresets}
      body={{
        ...body,
        response_format: format,
        speed: speed === '1' || speed === '' ? undefined : Number(speed),
      }}
      isReady={body.input.trim() !== ''}
      button="Speak"
      priced={body.input === '' ? null : { characters: body.input.length }}
      top={(send) => (
        <TextField
          label="Text"
          example="Light takes the path of least time."
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
          {call.files.length > 0 || call.status === 'running' ? (
            <div class="player">{call.files.length > 0 ? <Player call={call} /> : null}</div>
          ) : null}
        </Result>
      )}
    </CallPanel>
  );
}

const formats = ['json', 'text', 'srt', 'vtt', 'verbose_json'];

const subtitles: readonly Preset[] = [{ name: 'Subtitles', settings: { format: 'srt' } }];

/** The audio of a call: a file, or a recording. */
function AudioSource({
  files,
  onChange,
}: {
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}): JSX.Element {
  return (
    <div class="row top">
      <FileField
        label="Audio"
        noun="audio"
        accept="audio/*,video/mp4,video/webm,.mp3,.m4a,.wav,.flac,.ogg"
        files={files}
        onChange={onChange}
      />
      <Recorder onFile={(file) => onChange([file])} />
    </div>
  );
}

/** The text of a recording, with a button to copy it. */
function Transcript({ call }: { call: CallView }): JSX.Element {
  return (
    <Result
      call={call}
      title={call.sent[0]?.name ?? 'audio'}
      actions={call.text === '' ? null : <CopyButton label="Copy" text={() => call.text} />}
    >
      {call.text === '' ? null : (
        <p class="transcript" dir="auto">
          {call.text}
        </p>
      )}
    </Result>
  );
}

const initialTranscription = { prompt: '', language: '', format: 'json' };
const transcribed = draft('transcription', initialTranscription);

/** Speech to text in the same language. */
export function Transcription(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  const { format, ...body } = transcribed.value;
  return (
    <CallPanel
      kind="transcription"
      title="Transcription"
      about="Writes down speech in its own language, from a file or the microphone."
      form={transcribed}
      initial={initialTranscription}
      presets={subtitles}
      body={{ ...body, response_format: format }}
      files={{ file: files }}
      isReady={files.length > 0}
      button="Transcribe"
      top={() => <AudioSource files={files} onChange={setFiles} />}
      options={
        <>
          <Select label="Format" options={formats} {...field(transcribed, 'format')} />
          <Select
            label="Language"
            options={['', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'zh']}
            {...field(transcribed, 'language')}
          />
        </>
      }
      below={
        <TextField
          label="Prompt"
          hint="style or previous text"
          rows={1}
          {...field(transcribed, 'prompt')}
        />
      }
      empty={['No transcriptions yet', 'Choose a file, or press Record and speak.']}
    >
      {(call) => <Transcript key={call.id} call={call} />}
    </CallPanel>
  );
}

const initialTranslation = { prompt: '', format: 'json' };
const translated = draft('translation', initialTranslation);

/** Speech in any language to English text. */
export function Translation(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  const { format, prompt } = translated.value;
  return (
    <CallPanel
      kind="translation"
      title="Translation"
      about="Translates speech in any language into English text, from a file or the microphone."
      form={translated}
      initial={initialTranslation}
      presets={subtitles}
      body={{ response_format: format, prompt }}
      files={{ file: files }}
      isReady={files.length > 0}
      button="Translate"
      top={() => <AudioSource files={files} onChange={setFiles} />}
      options={<Select label="Format" options={formats} {...field(translated, 'format')} />}
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
      {(call) => <Transcript key={call.id} call={call} />}
    </CallPanel>
  );
}
