import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fileOf, order } from '../api.ts';
import { draft } from '../draft.ts';
import { textOf } from '../format.ts';
import type { CallView } from '../../protocol.ts';
import { FaultField, FileField, ModelField, modelsFor, Select, TextField } from '../fields.tsx';
import { Charged, Empty, Heading, OrderProblem } from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import { callsOf } from '../state.ts';
import { MaskCanvas } from './mask.tsx';
import { Picture, Result, SaveLink } from './results.tsx';

const form = draft('images', { prompt: '', size: '', n: '1', quality: '' });

/** The places of pictures that are still being made. */
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

/** Making pictures, and changing parts of them. */
export function Images(): JSX.Element {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [mask, setMask] = useState<File | undefined>();
  const [fault, setFault] = useState('');
  const [error, setError] = useState<unknown>();
  const model = recalled('model', modelsFor('image')[0] ?? '');
  const { prompt, size, n, quality } = form.value;
  const set = (change: Partial<typeof form.value>): void => {
    form.value = { ...form.value, ...change };
  };
  const isEdit = files.length > 0;
  const make = async (): Promise<void> => {
    setError(undefined);
    const body = {
      model,
      prompt,
      ...(n === '1' ? {} : { n: Number(n) }),
      ...(size === '' ? {} : { size }),
      ...(quality === '' ? {} : { quality }),
    };
    await order(
      { kind: 'image', body, ...(fault === '' ? {} : { fault }) },
      isEdit ? { image: files, ...(mask === undefined ? {} : { mask: [mask] }) } : {},
    ).catch(setError);
  };
  const edit = async (call: CallView, index: number): Promise<void> => {
    const file = call.files[index];
    if (file === undefined) return;
    const { blob } = await fileOf(call.id, index);
    setFiles([new File([blob], file.name, { type: file.type })]);
    document.querySelector<HTMLElement>('main h1')?.focus();
    scrollTo({ top: 0 });
  };
  const made = callsOf('image');
  return (
    <>
      <Heading title="Images">
        Make a picture, or give one and paint over what may change. Every picture is charged, and
        asked for once.
      </Heading>
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <TextField
          label={isEdit ? 'What shall be in its place' : 'Prompt'}
          value={prompt}
          placeholder="A lighthouse at dusk, in watercolours"
          onInput={(value) => set({ prompt: value })}
          onSend={() => void make()}
        />
        <div class="row">
          <ModelField kind="image" value={model} onChange={(value) => remember('model', value)} />
          <Select
            label="Size"
            value={size}
            options={['', '1024x1024', '1536x1024', '1024x1536', '512x512']}
            onChange={(value) => set({ size: value })}
          />
          <Select
            label="Quality"
            value={quality}
            options={['', 'low', 'medium', 'high']}
            onChange={(value) => set({ quality: value })}
          />
          <Select
            label="Pictures"
            value={n}
            options={['1', '2', '3', '4']}
            onChange={(value) => set({ n: value })}
          />
          <FaultField kind="image" value={fault} onChange={setFault} />
        </div>
        <FileField label="Change this picture" accept="image/*" files={files} onChange={setFiles} />
        {files[0] === undefined ? null : <MaskCanvas file={files[0]} onMask={setMask} />}
        <div class="row tight">
          <button type="submit" class="primary" disabled={prompt.trim() === ''}>
            {isEdit ? 'Change the picture' : 'Make a picture'}
          </button>
          <Charged>{Number(n) > 1 ? `${n} pictures are charged.` : 'It is charged.'}</Charged>
        </div>
        <OrderProblem error={error} />
      </form>
      {made.length === 0 ? (
        <Empty title="No pictures yet">They stay here when the page is reloaded.</Empty>
      ) : (
        <ul class="stack">
          {made.map((call) => (
            <Result key={call.id} call={call} title={textOf(call.body['prompt'])}>
              <div class="pictures">
                {call.files.map(({ name }, index) => (
                  <figure key={name}>
                    <Picture call={call} index={index} />
                    <figcaption class="row tight picture-end">
                      <SaveLink call={call} index={index} />
                      <button
                        type="button"
                        class="quiet"
                        onClick={() => void edit(call, index).catch(setError)}
                      >
                        Change it
                      </button>
                    </figcaption>
                  </figure>
                ))}
                {call.status === 'running' ? (
                  <Waiting number={Number(call.body['n'] ?? 1)} />
                ) : null}
              </div>
            </Result>
          ))}
        </ul>
      )}
    </>
  );
}
