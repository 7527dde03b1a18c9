import { expect, test, vi } from 'vitest';
import { Gateway } from '../../../src/index.ts';
import type { Job } from '../../../src/programs/mcp/jobs/job.ts';
import { Jobs } from '../../../src/programs/mcp/jobs/jobs.ts';
import { JobStore } from '../../../src/programs/mcp/jobs/store.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

passTimeFaster(100);

test('a job that has ended since its record was read is not downloaded again', async () => {
  const folder = await temporaryFolder();
  const store = await JobStore.open(folder);
  const emulator = createEmulator({ videoDuration: 0 });
  emulator.quirks.contentStatus = 403;
  emulator.quirks.videoUrl = 'missing';
  const client = new Gateway({
    apiKey: emulator.apiKey,
    baseURL: emulator.baseURL,
    fetch: emulator.fetch,
  });
  const jobs = new Jobs({
    store,
    spareFolder: folder,
    runWorker: () => Promise.resolve(0),
    settings: {},
    concurrency: 1,
    openClient: () => Promise.resolve(client),
  });
  const params = { prompt: 'A paper boat' };
  const job: Job = {
    tool: 'create_video',
    params,
    callId: 'boat',
    model: 'm-video',
    inputs: {},
    digest: '',
    folder,
    name: 'boat',
    label: 'A paper boat',
  };
  const { ref } = await client.videos.create({ model: job.model, ...params });
  await store.create(job);
  await store.update(job.callId, { state: 'submitted', charged: 'yes', ref });
  const submitted = await store.read(job.callId);
  const wait = { timeout: 3_600_000, signal: new AbortController().signal };
  const ended = await jobs.wait(job.callId, wait);
  const requests = emulator.requests.length;
  vi.spyOn(store, 'read').mockResolvedValueOnce(submitted);

  const waitedAgain = await jobs.wait(job.callId, wait);

  expect(ended).toMatchObject({ state: 'failed', status: 'completed, not downloaded' });
  expect(waitedAgain).toEqual(ended);
  expect(emulator.requests).toHaveLength(requests);
});
