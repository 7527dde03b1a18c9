// Models of vendors that gateways of this family serve since the end of 2026, each from submission to file.
import { describe, expect, test, vi } from 'vitest';
import { VideoFailedError } from '../../../src/index.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';

interface Row {
  readonly model: string;
  /** The duration of the video that a gateway makes of `seconds: "10"`. */
  readonly made: string;
  readonly size?: string;
  /** Further fields of the vendor. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

const content = [{ type: 'text', text: 'A paper boat' }];
const rows: readonly Row[] = [
  { model: 'sora-2-pro', made: '10' },
  { model: 'kling-v2-6', made: '10' },
  { model: 'wan2.6-t2v', made: '10' },
  { model: 'viduq2', made: '10' },
  { model: 'jimeng_ti2v_v30_pro', made: '10' },
  { model: 'doubao-seedance-1-5-pro', made: '10', extraBody: { content, duration: 10 } },
  { model: 'MiniMax-Hailuo-2.3', made: '10', size: '1366x768' },
  { model: 'veo-3.1-generate-001', made: '10' },
];

const quick = { interval: 250 };

/** Parameters and options of a row. */
function order({ model, size, extraBody }: Row, prompt = 'A paper boat') {
  const params = { model, prompt, seconds: '10', ...(size && { size }) };
  const options = extraBody === undefined ? {} : { extraBody, bodyFormat: 'json' as const };
  return [params, { ...quick, ...options }] as const;
}

describe.each(['2025', '2026'] as const)('new-api of %s', (edition) => {
  test.each(rows)('$model: one charge, and a file', async (row) => {
    const { client, emulator } = emulated({}, { edition, videoDuration: 0 });

    const video = await client.videos.createAndWait(...order(row));
    const file = await client.videos.downloadContent(video.ref);

    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(0);
    expect(emulator.charges).toMatchObject([{ model: row.model }]);
    expect(emulator.videos.list).toMatchObject([{ seconds: row.made }]);
  });

  test.each(rows)('$model: a failed video has the reason of its vendor', async (row) => {
    const { client, emulator } = emulated({}, { edition, videoDuration: 0 });

    const failure = await failureOf(client.videos.createAndWait(...order(row, 'A [[fail]] boat')));

    expect(failure).toBeInstanceOf(VideoFailedError);
    expect(emulator.charges).toHaveLength(1);
    expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

test('grok-imagine-video: a submission with a request id, polls without a body, and a URL', async () => {
  const url = 'https://vidgen.example/boat.mp4';
  const { client, requests } = scripted([
    json({ request_id: 'd97415a1-5796-b7ec-379f-4e6819e08fdf' }),
    () => new Response(null, { status: 202 }),
    json({ status: 'done', video: { url, duration: 10 }, model: 'grok-imagine-video' }),
  ]);
  const params = { model: 'grok-imagine-video', prompt: 'A paper boat', seconds: '10' };

  const video = await client.videos.createAndWait(params, quick);

  expect(video).toMatchObject({ status: 'completed', url });
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
});

describe('a Hailuo model without a size', () => {
  const ask = { model: 'MiniMax-Hailuo-2.3', prompt: 'A paper boat' };
  test.each([
    ['is warned about once', [ask, ask], {}, 1],
    ['is fine with a size', [{ ...ask, size: '1366x768' }], {}, 0],
    ['is fine with a size in extraBody', [ask], { extraBody: { size: '1366x768' } }, 0],
    ['of another vendor is not warned about', [{ ...ask, model: 'kling-v2-6' }], {}, 0],
  ])('%s', async (_, all, options, count) => {
    const warn = vi.fn<(message: string) => void>();
    const logger = { error: vi.fn(), warn, info: vi.fn(), debug: vi.fn() };
    const { client } = emulated({ logger, logLevel: 'warn' });

    for (const params of all) await client.videos.create(params, options);

    expect(warn).toHaveBeenCalledTimes(count);
    if (count > 0) expect(warn.mock.calls[0]?.[0]).toContain('size');
  });
});
