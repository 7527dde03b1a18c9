import { expect, test } from 'vitest';
import { memoryLedger } from '../../../src/index.ts';
import { collect, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { Models3D } from './models.ts';

fakeWaitingTime();

/** The resource, on the transport of a client whose requests receive these responses. */
function models(...answers: Parameters<typeof scripted>[0]) {
  const { client, requests } = scripted(answers);
  const methods = (): string[] => requests.map(({ method }) => method);
  return { resource: new Models3D(client.videos.transport), methods };
}

const prompt = 'A chair';
const submitted = json({ id: 'm1', status: 'queued' });
const running = json({ id: 'm1', status: 'running', progress: 40 });
const done = json({ id: 'm1', status: 'done', url: 'https://cdn.test/chair.glb' });
const failed = json({ id: 'm1', status: 'failed', error: { message: 'Content policy violation' } });

test('a new kind of task is submitted, handed over and waited for', async () => {
  const { resource, methods } = models(submitted, running, done);
  const refs: unknown[] = [];
  const task = await resolved(
    resource.createAndWait({ prompt }, { onSubmitted: (ref) => void refs.push(ref) }),
  );

  expect(task).toMatchObject({ status: 'completed', url: 'https://cdn.test/chair.glb' });
  expect(refs).toMatchObject([{ kind: 'model', id: 'm1' }]);
  expect(methods()).toEqual(['POST', 'GET', 'GET']);
});

test('a new kind of task is submitted once with a ledger', async () => {
  const { resource, methods } = models(submitted, done);
  const options = { ledger: memoryLedger(), callId: 'job-1' };
  await resolved(resource.createAndWait({ prompt }, options));
  const again = await resolved(resource.createAndWait({ prompt }, options));
  const other = await rejected(resource.createAndWait({ prompt: 'A table' }, options));

  expect(again.status).toBe('completed');
  expect(other).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
  expect(methods().filter((method) => method === 'POST')).toHaveLength(1);
  expect(await options.ledger.entry('job-1')).toMatchObject({ ref: { kind: 'model' } });
});

test('a new kind of task has errors, steps, events and waits for many', async () => {
  const error = await rejected(models(submitted, failed).resource.createAndWait({ prompt }));
  const step = await resolved(models(running).resource.step('m1'));
  const events = await resolved(collect(models(done).resource.watch('m1')));
  const all = await resolved(collect(models(done).resource.waitAll(['m1', 'm2'])));

  expect(error).toMatchObject({ name: 'ModelFailedError', moderated: true, ref: { id: 'm1' } });
  expect(step).toMatchObject({ state: { polls: 1, progress: 40 }, next: { delayMs: 5_000 } });
  expect(events).toMatchObject([{ type: 'submitted' }, { type: 'update' }, { type: 'completed' }]);
  expect(all).toMatchObject([{ task: { status: 'completed' } }, { task: { status: 'completed' } }]);
});
