// Makes an image at a gateway that returns a task in place of the image, and waits for it in another process.
// The ledger has the task, so a second call with the same id waits for it and is not charged again.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Gateway,
  type ImageTaskRef,
  ImageWaitAbortedError,
  parseImageTaskRef,
} from 'model-gateway';
import { fileLedger, saveTo } from 'model-gateway/node';

const client = new Gateway();
const params = { model: 'gpt-image-1', prompt: 'A lighthouse at dusk' };

/** Submits the task and waits for its image in a child process, then makes the same call again. */
async function submit(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'image-task-'));
  const call = { ledger: fileLedger(join(folder, 'ledger')), callId: 'poster-7' };
  const store = join(folder, 'task.json');
  const controller = new AbortController();
  const onSubmitted = async (ref: ImageTaskRef): Promise<void> => {
    await writeFile(store, JSON.stringify(ref));
    console.log(`Submitted ${ref.id}`);
    // Stops only the wait: the task continues.
    controller.abort();
  };
  try {
    const { signal } = controller;
    await client.images.generate(params, { ...call, signal, onSubmitted });
    console.log('This gateway returned the image directly.');
    return;
  } catch (error) {
    if (!ImageWaitAbortedError.isInstance(error)) throw error;
  }

  await once(fork(import.meta.filename, [store]), 'exit');

  const { data } = await client.images.generate(params, {
    ...call,
    onSubmitted: ({ id }) => console.log(`A second call has task ${id}`),
  });
  console.log(`${data.length} image`);
}

/** Waits for the task of another process. */
async function wait(store: string): Promise<void> {
  const ref = parseImageTaskRef(JSON.parse(await readFile(store, 'utf8')));
  console.log(`Another process waits for ${ref.id}`);
  const { data } = await client.images.wait(ref);
  const [image] = data;
  if (image === undefined) throw new Error('The task has no image.');
  const { path, bytes } = await saveTo(image, 'lighthouse.png');
  console.log(`Saved ${path}, ${bytes} bytes`);
}

const [, , store] = process.argv;
if (store === undefined) await submit();
else await wait(store);
