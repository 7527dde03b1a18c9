import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../protocol.ts';
import { loadFile } from '../api.ts';
import { draft, field } from '../draft.ts';
import { toText } from '../format.ts';
import { FileField, Select, TextField } from '../fields.tsx';
import { Charged } from '../parts.tsx';
import type { Preset } from '../setup/settings.ts';
import { CallPanel } from './call-panel.tsx';
import { MaskCanvas } from './mask.tsx';
import { Picture, Result, SaveLink } from './results.tsx';

const initial = { prompt: '', size: '', n: '1', quality: '' };
const form = draft('images', initial);

const presets: readonly Preset[] = [
  {
    name: 'Logo',
    settings: { prompt: 'A flat logo of a lighthouse, two colours', size: '1024x1024' },
  },
  {
    name: 'Wide photo',
    settings: { prompt: 'A photo of a lighthouse at dusk, long exposure', size: '1536x1024' },
  },
];

/** Placeholders for images that are being created. */
function Waiting({ number }: { number: number }): JSX.Element {
  return (
    <>
      {Array.from({ length: number }, (_, index) => (
        <figure key={index}>
          <div class="picture" />
          <figcaption class="picture-end" />
        </figure>
      ))}
    </>
  );
}

/** Creates and edits images. */
export function Images(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [mask, setMask] = useState<File | undefined>();
  const { n, ...body } = form.value;
  const isEdit = files.length > 0;
  const edit = async (call: CallView, index: number): Promise<void> => {
    const file = call.files[index];
    if (file === undefined) return;
    const { blob } = await loadFile(call.id, index);
    setFiles([new File([blob], file.name, { type: file.type })]);
    document.querySelector<HTMLElement>('main h1')?.focus();
    scrollTo({ top: 0 });
  };
  return (
    <CallPanel
      kind="image"
      title="Images"
      about="Create an image, or choose one and paint over the area that may change. Every image is charged and requested once."
      form={form}
      initial={initial}
      presets={presets}
      body={{ ...body, n: n === '1' ? undefined : Number(n) }}
      files={isEdit ? { image: files, ...(mask === undefined ? {} : { mask: [mask] }) } : {}}
      isReady={body.prompt.trim() !== ''}
      button={
        files.length > 1
          ? `Edit ${files.length} images`
          : isEdit
            ? 'Edit the image'
            : 'Create an image'
      }
      priced={{ images: Number(n) }}
      note={
        <Charged>{Number(n) > 1 ? `${n} images will be charged.` : 'It will be charged.'}</Charged>
      }
      top={(send) => (
        <TextField
          label={isEdit ? 'What to paint instead' : 'Prompt'}
          example="A lighthouse at dusk, in watercolours"
          {...field(form, 'prompt')}
          onSend={send}
        />
      )}
      options={
        <>
          <Select
            label="Size"
            options={['', '1024x1024', '1536x1024', '1024x1536', '512x512']}
            {...field(form, 'size')}
          />
          <Select
            label="Quality"
            options={['', 'low', 'medium', 'high']}
            {...field(form, 'quality')}
          />
          <Select label="Images" options={['1', '2', '3', '4']} {...field(form, 'n')} />
        </>
      }
      below={
        <>
          <FileField
            label="Edit images"
            noun="image"
            accept="image/*"
            multiple
            files={files}
            onChange={setFiles}
          />
          {files[0] === undefined ? null : <MaskCanvas file={files[0]} onMask={setMask} />}
        </>
      }
      isBeside
      empty={['No images yet', 'They stay here when the page is reloaded.']}
    >
      {(call, onError) => (
        <Result key={call.id} call={call} title={toText(call.body['prompt'])}>
          <div class="pictures">
            {call.files.map(({ name }, index) => (
              <figure key={name}>
                <Picture call={call} index={index} />
                <figcaption class="row tight picture-end">
                  <SaveLink call={call} index={index} />
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => void edit(call, index).catch(onError)}
                  >
                    Edit
                  </button>
                </figcaption>
              </figure>
            ))}
            {call.status === 'running' ? <Waiting number={Number(call.body['n'] ?? 1)} /> : null}
          </div>
        </Result>
      )}
    </CallPanel>
  );
}
