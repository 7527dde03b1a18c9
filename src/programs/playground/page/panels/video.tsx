import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallView, Priced } from '../../protocol.ts';
import { resumeCall, stopCall } from '../api.ts';
import { draft, field } from '../draft.ts';
import { count, toText } from '../format.ts';
import { FileField, Select, TextField } from '../fields.tsx';
import { Charged, useFile } from '../parts.tsx';
import type { Preset } from '../setup/settings.ts';
import { startCall, starts, usePrice, useStart } from '../calls/start.tsx';
import { hello } from '../state.ts';
import { useNow } from '../calls/steps.tsx';
import { CallPanel } from './call-panel.tsx';
import { Clock } from './clock.tsx';
import { Result, SaveLink } from './results.tsx';

const initial = { prompt: '', seconds: '4', size: '' };
const form = draft('video', initial);

const presets: readonly Preset[] = [
  {
    name: 'Wide clip',
    settings: { prompt: 'A paper boat on a quiet lake', seconds: '8', size: '1280x720' },
  },
  {
    name: 'Phone clip',
    settings: { prompt: 'Rain on a window at night', seconds: '4', size: '720x1280' },
  },
];

/** Returns what the price of a video depends on. New-api lists the price of a second as the price of a call. */
const toPriced = (seconds: string): Omit<Priced, 'model'> | null =>
  seconds === '' ? null : { images: Number(seconds), seconds: Number(seconds) };

function Player({ call }: { call: CallView }): JSX.Element {
  const { address, error } = useFile(call.id, 0);
  if (error !== undefined) return <p class="warning">This video is no longer available.</p>;
  return <video controls playsInline loop src={address} aria-label={toText(call.body['prompt'])} />;
}

function Progress({ call }: { call: CallView }): JSX.Element {
  const { video, status, id } = call;
  const isRunning = status === 'running';
  const now = useNow(isRunning);
  const pause = Math.max(0, Math.round(((video?.nextPoll ?? now) - now) / 1_000));
  // Until the status has changed, another press is the same.
  const isAsked = useRef(false);
  useEffect(() => {
    isAsked.current = false;
  }, [status]);
  const toggle = (): void => {
    if (isAsked.current) return;
    isAsked.current = true;
    (isRunning ? stopCall(id) : resumeCall(id)).catch(() => {
      isAsked.current = false;
    });
  };
  const text = video === undefined ? 'submitting' : video.status.replace('_', ' ');
  return (
    <div class="progress">
      <progress
        max={100}
        {...(video === undefined ? {} : { value: video.progress ?? 0 })}
        aria-label={`Progress of ${toText(call.body['prompt'])}`}
      />
      <p class="small" aria-live="off">
        <strong>{text}</strong> {video?.progress === undefined ? '' : `${video.progress} %`}
        {isRunning && video !== undefined ? (
          <span class="faint">
            {' '}
            · next check in {pause} s · {count(video.polls, 'check')}
          </span>
        ) : null}
      </p>
      {video?.pollError === undefined || !isRunning ? null : (
        <p class="small faint">The last check failed and will be repeated: {video.pollError}</p>
      )}
      {video === undefined ? null : (
        <p class="small faint">
          Task <code>{video.ref.id}</code>
        </p>
      )}
      {video === undefined ? null : (
        <div class="row tight">
          {/* One button, which keeps the focus. */}
          <button type="button" class="quiet" {...starts} onClick={toggle}>
            {isRunning ? 'Stop checking' : 'Continue checking'}
            {isRunning ? null : <span class="faint">free</span>}
          </button>
        </div>
      )}
    </div>
  );
}

function Remix({ call }: { call: CallView }): JSX.Element {
  const [prompt, setPrompt] = useState('');
  const { start, notice } = useStart();
  const { model, body } = call;
  const priced = toPriced(toText(body['seconds']));
  const price = usePrice(priced === null ? [] : [{ model, ...priced }]);
  const remix = async (): Promise<void> => {
    const input = { kind: 'video', body: { model, prompt }, remixOf: call.id } as const;
    if (prompt.trim() !== '' && (await start(() => startCall(input)))) setPrompt('');
  };
  return (
    <details>
      <summary>Remix</summary>
      <form
        class="stack remix"
        {...starts}
        onSubmit={(event) => {
          event.preventDefault();
          void remix();
        }}
      >
        <TextField
          label="What to change"
          rows={1}
          value={prompt}
          example="The same, at night"
          onInput={setPrompt}
          onSend={() => void remix()}
        />
        <div class="row tight">
          <button type="submit" {...starts} disabled={prompt.trim() === ''}>
            Remix
            {price}
          </button>
        </div>
        {notice}
      </form>
    </details>
  );
}

/** Creates videos: each is submitted once, and waiting can be resumed. */
export function Video(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  return (
    <CallPanel
      kind="video"
      title="Video"
      aside={<Clock />}
      about={
        <>
          A task is submitted once and checked until the video is complete. You can reload the page
          {hello.value?.keeps === true ? ' or restart the playground' : ''}: the video is paid for,
          so the playground keeps waiting for it.
        </>
      }
      form={form}
      initial={initial}
      presets={presets}
      body={form.value}
      files={files.length === 0 ? {} : { input_reference: files }}
      isReady={form.value.prompt.trim() !== ''}
      button="Create a video"
      priced={toPriced(form.value.seconds)}
      note={<Charged>It will be charged.</Charged>}
      top={(send) => (
        <TextField
          label="Prompt"
          example="A paper boat on a quiet lake"
          {...field(form, 'prompt')}
          onSend={send}
        />
      )}
      options={
        <>
          <Select
            label="Seconds"
            options={['', '4', '5', '6', '8', '10', '12']}
            {...field(form, 'seconds')}
          />
          <Select
            label="Size"
            options={['', '1280x720', '720x1280', '1920x1080']}
            {...field(form, 'size')}
          />
        </>
      }
      below={
        <FileField
          label="First frame"
          noun="image"
          accept="image/*"
          files={files}
          onChange={setFiles}
        />
      }
      isBeside
      empty={['No videos yet', 'They stay in this list when the page is reloaded.']}
    >
      {(call) => (
        <Result
          key={call.id}
          call={call}
          title={`${call.remixOf === undefined ? '' : 'Remix: '}${toText(call.body['prompt'])}`}
          actions={<SaveLink call={call} index={0} />}
        >
          {call.files.length > 0 ? (
            <div class="film">
              <Player call={call} />
            </div>
          ) : call.video !== undefined || call.status === 'running' ? (
            <div class="film waiting">
              <Progress call={call} />
            </div>
          ) : null}
          {call.files.length > 0 || call.status === 'running' ? (
            <div class="remix-place">{call.files.length > 0 ? <Remix call={call} /> : null}</div>
          ) : null}
        </Result>
      )}
    </CallPanel>
  );
}
