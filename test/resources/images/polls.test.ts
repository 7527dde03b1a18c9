// Polls of tasks for images: their time limit, their route, and what they find.
import { expect, test, vi } from 'vitest';
import { scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

const params = { model: 'm', prompt: 'A cat' };
const url = 'https://pictures.test/cat.png';
const running = () => Response.json({ status: 'processing', progress: 40 });
const done = () => Response.json({ status: 'completed', data: [{ url }] });
const accepted = () => Response.json({ code: 200, status: 'success', data: null });

fakeWaitingTime();

test('images.generate() ends an attempt of a poll after its own timeout', async () => {
  let polls = 0;
  const { client } = scripted([
    ({ method }) => {
      if (method === 'POST') return Response.json({ task_id: 't-1', status: 'queued' });
      polls += 1;
      return polls === 1 ? new Promise<never>(() => {}) : done();
    },
  ]);
  const begun = performance.now();

  const { value } = await settle(client.images.generate(params, { timeout: 500, maxRetries: 0 }));

  expect(value).toHaveProperty('data', [{ url }]);
  expect(performance.now() - begun).toBeLessThan(15_000);
});

test('a handle has the path of the status URL, without its secrets', async () => {
  const statusURL = 'https://gateway.test/v1/jobs/t-1?region=eu&api_key=sk-1';
  const { client } = scripted([
    ({ method }) =>
      method === 'POST'
        ? Response.json({ task_id: 't-1', status: 'queued', status_url: statusURL })
        : done(),
  ]);
  const onSubmitted = vi.fn<(ref: object) => void>();

  await settle(client.images.generate(params, { onSubmitted }));

  expect(onSubmitted.mock.calls).toEqual([
    [expect.objectContaining({ path: '/v1/jobs/{id}?region=eu' })],
  ]);
});

test('several tasks are done once none of them runs', async () => {
  let polls = 0;
  const { client } = scripted([
    ({ url: path }) => {
      polls += 1;
      return path.endsWith('/b') && polls < 4 ? running() : done();
    },
  ]);

  const wait = client.images.wait({
    v: 1,
    kind: 'image',
    id: 'a',
    ids: ['a', 'b'],
    baseURL: 'https://gateway.test',
    createdAt: 1,
    requestId: 'r-1',
  });
  const { value } = await settle(wait);

  expect(value).toMatchObject({ data: [{ url }, { url }], _request_id: 'r-1' });
});

test('success without an id and images is that of the request', async () => {
  const { client, requests } = scripted([accepted, done]);

  const { value } = await settle(client.images.wait('t-1'));

  expect(value).toHaveProperty('data', [{ url }]);
  expect(requests).toHaveLength(2);
});
