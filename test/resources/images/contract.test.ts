import type { ImageRequestOptions } from '../../../src/index.ts';
import { makeImageRef, parseImageTaskRef } from '../../../src/tasks/ref.ts';
import { testTasks } from '../../helpers/task-contract.ts';
import { untyped } from '../../helpers/untyped.ts';

const id = 'task_1';
const prompt = 'A paper boat';

testTasks({
  name: 'images',
  prefix: 'Image',
  resultField: 'images',
  first: 2_000,
  limit: 600_000,
  prompt,
  submitted: { task_id: id, status: 'queued' },
  completed: { id, status: 'completed', data: [{ url: 'https://cdn.test/a.png' }] },
  createRef: () => makeImageRef({ id, baseURL: 'https://gateway.test', createdAt: Date.now() }),
  submit: ({ images }, options, text = prompt) =>
    images.generate({ model: 'm-image', prompt: text }, untyped<ImageRequestOptions>(options)),
  submitWithin: ({ images }, taskTimeout, options) =>
    images.generate(
      { model: 'm-image', prompt },
      { ...untyped<ImageRequestOptions>(options), taskTimeout },
    ),
  wait: ({ images }, task, options) =>
    images.wait(typeof task === 'string' ? task : parseImageTaskRef(task), options),
  step: ({ images }, task, state, options) =>
    images.step(typeof task === 'string' ? task : parseImageTaskRef(task), state, options),
});
