// The playground on each kind of gateway: one charge for each call, and its cost in US dollars where it is known.
import { describe, expect, onTestFinished, test } from 'vitest';
import { toCurl, toTypeScript } from '../../../src/programs/playground/page/code.ts';
import type { CallInput, CallView, Hello } from '../../../src/programs/playground/protocol.ts';
import { createEmulator, type EmulatedGateway } from '../../../src/testing/index.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { modes } from '../../helpers/modes.ts';
import { ask, ended, open, order } from './support.ts';

const id = 'call-0001';
const prompt = 'A lighthouse';
const picture = new File([mediaHeads.png], 'lighthouse.png', { type: 'image/png' });
const messages = [{ role: 'user', content: prompt }];

interface Row {
  readonly input: CallInput;
  readonly files?: Readonly<Record<string, File>>;
  /** Gateways whose responses report no cost, although others do. */
  readonly unreported?: readonly EmulatedGateway[];
  readonly result: object;
}

const rows: Readonly<Record<string, Row>> = {
  chat: {
    input: { kind: 'chat', body: { model: 'm-large', messages } },
    result: { verdict: 'complete', text: expect.stringContaining(prompt) },
  },
  image: {
    input: { kind: 'image', body: { model: 'm-image', prompt, size: '64x64' } },
    result: { files: [{ name: 'image-1.png' }] },
  },
  'edited image': {
    input: { kind: 'image', body: { model: 'm-image', prompt, size: '64x64' } },
    files: { image: picture },
    result: { operation: 'images.edit', files: [{ name: 'image-1.png' }] },
    unreported: ['litellm'],
  },
  speech: {
    input: { kind: 'speech', body: { model: 'm-speech', input: prompt, voice: 'alloy' } },
    result: { files: [{ name: 'speech.mp3' }] },
    unreported: ['openrouter', 'litellm'],
  },
  embeddings: {
    input: { kind: 'embeddings', body: { model: 'm-embedding', input: ['a', 'b'] } },
    result: {
      similarity: {
        rows: [
          [1, expect.any(Number)],
          [expect.any(Number), 1],
        ],
      },
    },
  },
};

async function openAt(gateway: EmulatedGateway) {
  const emulator = createEmulator({ gateway, videoDuration: 0 });
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const { apiKey } = emulator;
  const options = { baseURL: server.url, apiKey, gateway, logLevel: 'off' as const };
  return { emulator, playground: await open({ gateway: options }) };
}

const reports = (gateway: EmulatedGateway): boolean =>
  gateway === 'openrouter' || gateway === 'litellm';

describe.each(modes)('%s', (gateway) => {
  test.each(Object.entries(rows))(
    '%s is charged once, with its cost',
    async (_, { input, files, result, unreported = [] }) => {
      const { emulator, playground } = await openAt(gateway);

      await order(playground, id, input, files);
      const view = await ended(playground, id);

      expect(view.problem).toBeUndefined();
      expect(view).toMatchObject({ status: 'done', ...result });
      expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect(emulator.charges).toHaveLength(1);
      const cost = (emulator.charges[0]?.amount ?? 0) / 500_000;
      const isReported = reports(gateway) && !unreported.includes(gateway);
      expect(view.cost).toEqual(isReported ? expect.closeTo(cost, 9) : undefined);
    },
  );

  test('the usage log has the charge of each call', async () => {
    const { emulator, playground } = await openAt(gateway);
    const { chat, speech } = rows;
    for (const [index, row] of [chat, speech].entries()) {
      if (row === undefined) continue;
      await order(playground, `call-000${index}`, row.input);
      await ended(playground, `call-000${index}`);
    }

    const log = await (await ask(playground, 'usage-log')).json();

    if (gateway === 'openai') {
      expect(log).toMatchObject({ charges: {}, problem: { name: 'UnsupportedByGatewayError' } });
      return;
    }
    const charges = emulator.charges.map(({ requestId, amount }) => [
      requestId,
      reports(gateway) ? `$${amount / 500_000}` : `${amount} quota`,
    ]);
    expect(log.charges).toEqual(Object.fromEntries(charges));
  });

  test('a translation is sent, or rejected with advice before it is sent', async () => {
    const { emulator, playground } = await openAt(gateway);
    const file = new File([mediaHeads.wav], 'speech.wav', { type: 'audio/wav' });
    const body = { model: 'm-translation', response_format: 'json' };

    await order(playground, id, { kind: 'translation', body }, { file });
    const view = await ended(playground, id);

    const isServed = gateway === 'new-api' || gateway === 'openai';
    expect(emulator.charges).toHaveLength(isServed ? 1 : 0);
    if (isServed) expect(view.problem).toBeUndefined();
    else {
      expect(view.problem).toMatchObject({
        outcome: 'not_sent',
        advice: expect.stringContaining('Use the panel Transcription'),
      });
    }
  });
});

test('images in a chat response are stored', async () => {
  const { emulator, playground } = await openAt('openrouter');
  const body = { model: 'm-large', messages, modalities: ['image', 'text'] };

  await order(playground, id, { kind: 'chat', body });
  const { files, text } = await ended(playground, id);

  expect(text).toContain(prompt);
  expect(files).toMatchObject([{ name: 'image-1.png', type: 'image/png' }]);
  const file = await ask(playground, `calls/${id}/files/0`);
  const head = new Uint8Array(await file.arrayBuffer()).subarray(0, 4);
  expect(head).toEqual(mediaHeads.png.subarray(0, 4));
  expect(emulator.charges).toHaveLength(1);
});

test('a video with a reference is charged once, with its cost', async () => {
  const body = { model: 'm-video', prompt, seconds: '4', size: '1280x720' };
  await Promise.all(
    modes.map(async (gateway) => {
      const { emulator, playground } = await openAt(gateway);

      await order(playground, id, { kind: 'video', body }, { input_reference: picture });
      const view = await ended(playground, id);

      expect(view).toMatchObject({ status: 'done', files: [{ type: 'video/mp4' }] });
      expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect(emulator.charges).toHaveLength(1);
      const cost = (emulator.charges[0]?.amount ?? 0) / 500_000;
      expect(view.cost).toEqual(gateway === 'openrouter' ? expect.closeTo(cost, 9) : undefined);
    }),
  );
});

test('a remix continues the job at OpenRouter', async () => {
  const { emulator, playground } = await openAt('openrouter');
  await order(playground, id, { kind: 'video', body: { model: 'm-video', prompt } });
  await ended(playground, id);

  const remix = { kind: 'video', body: { prompt: 'At night' }, remixOf: id } as const;
  await order(playground, 'call-0002', remix);
  const view = await ended(playground, 'call-0002');

  expect(view.problem).toBeUndefined();
  expect(emulator.charges).toHaveLength(2);
  const sent = emulator.requests.findLast(({ method }) => method === 'POST');
  expect(sent).toMatchObject({
    path: '/api/v1/videos',
    body: { value: { model: 'm-video', previous_job_id: emulator.videos.list[0]?.id } },
  });
});

test.each(modes)('%s: copied code calls the same gateway', async (gateway) => {
  const { playground } = await openAt(gateway);
  const hello: Hello = await (await ask(playground, 'hello')).json();
  const views: CallView[] = [];
  for (const [index, name] of ['chat', 'image'].entries()) {
    const input = rows[name]?.input;
    if (input !== undefined) await order(playground, `call-000${index}`, input);
    views.push(await ended(playground, `call-000${index}`));
  }
  const [chat, image] = views;
  if (chat === undefined || image === undefined) throw new Error('Missing calls');

  const option = gateway === 'new-api' ? '' : `{ gateway: '${gateway}' }`;
  expect(toTypeScript(chat, hello)).toContain(`new Gateway(${option});`);
  const isOpenRouter = gateway === 'openrouter';
  const url = isOpenRouter
    ? new URL('/api/v1/chat/completions', hello.baseURL).href
    : '$GATEWAY_BASE_URL/v1/chat/completions';
  expect(toCurl(chat, hello)).toContain(`curl "${url}"`);
  expect(toCurl(image, hello)).toMatch(isOpenRouter ? /^# OpenRouter/ : /images\/generations"/);
});
