import { SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { Gateway, parseVideoTaskRef } from '../../../src/index.ts';
import { PollMemory } from '../../../src/adapters/otel/videos.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { traced } from './support.ts';

const order = { model: 'sora-2', prompt: 'A boat' };
/** A model that remixes. */
const remixable = { ...order, model: 'm-video' };

describe('a video', () => {
  test('a video is one trace across processes, without a span for each poll', async () => {
    const { observer, calls, spans } = traced();
    const { client, emulator } = emulated({ observer }, { videoDuration: 4_000 });
    emulator.clock.hold();

    const { ref } = await client.videos.create(order);
    const stored = JSON.stringify(ref);

    // Another process, with an observer of its own.
    const other = traced();
    const { apiKey, baseURL, fetch } = emulator;
    const waiting = new Gateway({ apiKey, baseURL, fetch, observer: other.observer });
    const handle = parseVideoTaskRef(JSON.parse(stored));
    for (let poll = 0; poll < 20; poll += 1) {
      await waiting.videos.retrieve(handle);
      emulator.clock.advance(250);
    }
    await (await waiting.videos.downloadContent(handle)).arrayBuffer();

    const submission = calls()[0]?.spanContext();
    expect(spans()).toHaveLength(2);
    const seen = other.calls().map(({ attributes }) => attributes['model_gateway.video.status']);
    expect(seen.length).toBeLessThan(8);
    expect(seen[0]).toBe('queued');
    expect(new Set(seen)).toEqual(new Set(['queued', 'in_progress', 'completed', undefined]));
    for (const { links, name } of other.calls()) {
      expect(links.map((link) => link.context)).toEqual([
        {
          traceId: submission?.traceId,
          spanId: submission?.spanId,
          traceFlags: 1,
          isRemote: true,
        },
      ]);
      expect(name).toBe('fetch_response');
    }
    expect(other.calls()[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'fetch_response',
      'model_gateway.operation': 'videos.retrieve',
      'model_gateway.video.task_id': ref.id,
      'model_gateway.attempts': 1,
    });
  });

  test('a video with a wait has spans for the submission, the first poll, changes and the end', async () => {
    const { observer, calls } = traced();
    const { client } = emulated({ observer }, { videoDuration: 0 });

    await client.videos.createAndWait(order, { interval: { first: 250, min: 250 } });

    expect(calls().map(({ name }) => name)).toEqual(['generate_content sora-2', 'fetch_response']);
    expect(calls()[1]?.attributes['model_gateway.video.status']).toBe('completed');
    expect(calls()[1]?.links).toHaveLength(1);
  });

  test('the span of a remix links to the first video', async () => {
    const { observer, calls } = traced();
    const { client, emulator } = emulated({ observer });

    const { ref } = await client.videos.create(remixable);
    emulator.videos.complete(ref.id);
    const again = await client.videos.remix(ref, { prompt: 'At night' });

    const [first, remix] = calls();
    expect(remix?.links[0]?.context.spanId).toBe(first?.spanContext().spanId);
    expect(again.ref.trace).toContain(remix?.spanContext().spanId);
  });

  test('a video with a failed poll is recorded once', async () => {
    const { observer, calls } = traced();
    const { client, emulator } = emulated({ observer, maxRetries: 0 });

    const { ref } = await client.videos.create(order);
    emulator.fail({ fault: { type: 'task-not-exist' }, times: 3 });
    for (let poll = 0; poll < 3; poll += 1) await failureOf(client.videos.retrieve(ref));
    await client.videos.retrieve(ref);

    expect(calls().slice(1)).toMatchObject([
      { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'BadRequestError' } },
      { attributes: { 'model_gateway.video.status': 'queued' } },
    ]);
  });

  test('a video whose handle has no trace is polled without a link', async () => {
    const { observer, calls } = traced();
    const { client, emulator } = emulated();
    const { ref } = await client.videos.create(order);
    expect(ref).not.toHaveProperty('trace');
    const observed = client.withOptions({ observer });

    for (const trace of [undefined, 'nonsense', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`]) {
      emulator.videos.complete(ref.id);
      await observed.videos.retrieve({ ...ref, trace });
    }

    expect(calls()).toHaveLength(3);
    expect(calls().flatMap(({ links }) => links)).toEqual([]);
  });
});

test('memory for polls is limited', () => {
  const polls = new PollMemory();
  const before = polls.isChange('first', 'queued');
  for (let task = 0; task < 10_000; task += 1) polls.isChange(`task ${task}`, 'queued');

  expect(before).toBe(true);
  expect(polls.isChange('task 9999', 'queued')).toBe(false);
  expect(polls.isChange('first', 'queued')).toBe(true);
});
