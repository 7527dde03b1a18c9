import type { VideoCreateAndWaitOptions, VideoWaitOptions } from '../../../src/index.ts';
import { makeRef, parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import { testTasks } from '../../helpers/task-contract.ts';
import { untyped } from '../../helpers/untyped.ts';

const id = 'task_1';
const prompt = 'A paper boat';

testTasks({
  name: 'videos',
  prefix: 'Video',
  resultField: 'video',
  first: 5_000,
  limit: 1_800_000,
  prompt,
  submitted: { id, status: 'queued' },
  completed: { id, status: 'completed', metadata: { url: 'https://cdn.test/v.mp4' } },
  createRef: () => makeRef({ id, baseURL: 'https://gateway.test', createdAt: Date.now() }),
  submit: ({ videos }, options, text = prompt) =>
    videos.createAndWait(
      { model: 'm-video', prompt: text },
      untyped<VideoCreateAndWaitOptions>(options),
    ),
  submitWithin: ({ videos }, timeout, options) =>
    videos.createAndWait(
      { model: 'm-video', prompt },
      { ...untyped<VideoCreateAndWaitOptions>(options), timeout },
    ),
  wait: ({ videos }, task, options) =>
    videos.wait(
      typeof task === 'string' ? task : parseVideoTaskRef(task),
      untyped<VideoWaitOptions>(options),
    ),
  step: ({ videos }, task, state, options) =>
    videos.step(
      typeof task === 'string' ? task : parseVideoTaskRef(task),
      state,
      untyped<VideoWaitOptions>(options),
    ),
});
