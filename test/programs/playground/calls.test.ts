import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { uploadLimit } from '../../../src/programs/playground/api.ts';
import type { CallInput } from '../../../src/programs/playground/protocol.ts';
import { createEmulator, type EmulatorOptions } from '../../../src/testing/index.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { ask, call, ended, open, order, watch } from './support.ts';

const image: CallInput = { kind: 'image', body: { model: 'm-image', prompt: 'A lighthouse' } };
const chat: CallInput = {
  kind: 'chat',
  body: { model: 'm-large', messages: [{ role: 'user', content: 'Hello' }] },
};
const video: CallInput = { kind: 'video', body: { model: 'm-video', prompt: 'A boat' } };
const id = 'call-0001';

/** A stand-in for a real gateway: the playground only has its address and its key. */
async function gateway(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ videoDuration: 0, ...options });
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  return {
    emulator,
    options: { baseURL: server.url, apiKey: emulator.apiKey, logLevel: 'off' as const },
  };
}

test('a fault after the charge: one charge with this client, two with openai, and an outcome', async () => {
  const playground = await open();

  const answer = await order(playground, id, { ...image, fault: 'cut-after-charge' });

  expect(answer.status).toBe(201);
  const view = await ended(playground, id);
  expect(view).toMatchObject({
    status: 'failed',
    problem: { name: 'APIConnectionError', outcome: 'unknown' },
    rivals: expect.arrayContaining([
      expect.objectContaining({ name: 'openai', requests: 2, charges: 2, ended: 'answer' }),
    ]),
  });
  expect(view.attempts).toHaveLength(1);
  expect(view.attempts?.[0]?.charged).toBeGreaterThan(0);
});

test('a metered call is retried by default, and not under the strict rule', async () => {
  const playground = await open();

  await order(playground, 'usual-001', { ...chat, fault: 'cut-after-charge' });
  await order(playground, 'strict-01', { ...chat, fault: 'cut-after-charge', strict: true });

  expect(await ended(playground, 'usual-001')).toMatchObject({
    status: 'done',
    verdict: 'complete',
  });
  expect((await call(playground, 'usual-001')).attempts).toHaveLength(2);
  expect(await ended(playground, 'strict-01')).toMatchObject({ problem: { outcome: 'unknown' } });
  expect((await call(playground, 'strict-01')).attempts).toHaveLength(1);
});

test('a fault affects only its own call, not a concurrent one', async () => {
  const playground = await open();

  await Promise.all([
    order(playground, 'faulty-01', { ...image, fault: 'status-499' }),
    order(playground, 'sound-001', image),
  ]);

  expect(await ended(playground, 'faulty-01')).toMatchObject({ status: 'failed' });
  expect(await ended(playground, 'sound-001')).toMatchObject({ status: 'done' });
});

test('the steps of a call are stored: each attempt, the wait between, the first token', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });
  emulator.fail({ fault: { type: 'rate-limit', retryAfter: 1 } });

  await order(playground, id, chat);

  const { steps } = await ended(playground, id);
  expect(steps).toEqual([
    { at: expect.any(Number), type: 'sent' },
    { at: expect.any(Number), type: 'failed', status: 429 },
    {
      at: expect.any(Number),
      type: 'waiting',
      retry: { number: 1, most: 2 },
      until: expect.any(Number),
    },
    { at: expect.any(Number), type: 'sent' },
    { at: expect.any(Number), type: 'answered', status: 200 },
    { at: expect.any(Number), type: 'first-token' },
  ]);
});

test('the price of calls is that of the price list, and missing if the list does not have one of them', async () => {
  const playground = await open();
  const estimate = async (...priced: object[]): Promise<unknown> =>
    (await ask(playground, 'estimate', { method: 'POST', body: JSON.stringify(priced) })).json();
  const three = { model: 'm-image', images: 3 };

  expect(await estimate(three)).toEqual({ price: '$0.006' });
  expect(await estimate(three, three)).toEqual({ price: '$0.012' });
  expect(await estimate(three, { model: 'm-large' })).toEqual({});
  expect(await estimate({ model: 'm-large' })).toEqual({});
  expect(await estimate({ model: 'missing' })).toEqual({});
  expect(await estimate({ model: 7 })).toEqual({});
});

test('a request that the browser repeats makes one call', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });

  const answers = await Promise.all([1, 2, 3].map(() => order(playground, id, image)));
  await ended(playground, id);
  const late = await order(playground, id, image);

  expect(answers.map(({ status }) => status).filter((status) => status === 201)).toEqual([201]);
  expect(late.status).toBe(200);
  expect(emulator.charges).toHaveLength(1);
});

test('a reloaded page shows the paid results', async () => {
  const { emulator, options } = await gateway({ quirks: { eventDelay: 2 } });
  const playground = await open({ gateway: options });
  const first = await ask(playground, 'events');
  await order(playground, id, chat);
  await first.body?.cancel();

  const view = await ended(playground, id);

  expect(view.text).toBe('You said: "Hello" This is the answer of m-large.');
  expect(view).toMatchObject({ status: 'done', verdict: 'complete', finishReason: 'stop' });
  expect((await call(playground, id)).text).toBe(view.text);
  expect(emulator.charges).toHaveLength(1);
});

test('each chunk of a stream reaches every page once', async () => {
  const { options } = await gateway({ quirks: { eventDelay: 1 } });
  const playground = await open({ gateway: options });
  const input = {
    kind: 'chat',
    body: { model: 'm-reasoning', messages: [{ role: 'user', content: '[long]' }] },
  };
  const over = (calls: ReadonlyMap<string, { status: string }>): boolean =>
    calls.get(id)?.status === 'done';
  const pages = [watch(playground, over), watch(playground, over)];
  await order(playground, id, { ...input, kind: 'chat' });

  const texts = (await Promise.all(pages)).map((calls) => calls.get(id));

  const whole = await call(playground, id);
  expect(whole.text.length).toBeGreaterThan(2_000);
  for (const seen of texts) {
    expect(seen?.text).toBe(whole.text);
    expect(seen?.reasoning).toBe(whole.reasoning);
  }
});

test('a stopped call keeps the received text', async () => {
  const { options } = await gateway({ quirks: { eventDelay: 5 } });
  const playground = await open({ gateway: options });
  await order(playground, id, {
    kind: 'chat',
    body: { model: 'm', messages: [{ role: 'user', content: '[long]' }] },
  });
  await watch(playground, (calls) => (calls.get(id)?.text.length ?? 0) > 50);

  await ask(playground, `calls/${id}/stop`, { method: 'POST' });

  const view = await ended(playground, id);
  expect(view.status).toBe('stopped');
  expect(view.text.length).toBeGreaterThan(50);
});

test('images are stored on the server, and served with their own type', async () => {
  const playground = await open();
  await order(playground, id, { ...image, body: { ...image.body, n: 2 } });

  const { files } = await ended(playground, id);

  expect(files.map(({ name, type }) => `${name} ${type}`)).toEqual([
    'image-1.png image/png',
    'image-2.png image/png',
  ]);
  const file = await ask(playground, `calls/${id}/files/1`);
  expect(file.headers.get('content-type')).toBe('image/png');
  expect((await file.arrayBuffer()).byteLength).toBe(files[1]?.bytes);
  expect((await ask(playground, `calls/${id}/files/2`)).status).toBe(404);
});

test("a file of an unknown type is served with a type that browsers don't open", async () => {
  const { emulator, options } = await gateway();
  emulator.respondOnce(
    'audio.speech.create',
    () => new Response('xyz '.repeat(100), { headers: { 'content-type': 'application/xhtml' } }),
  );
  const playground = await open({ gateway: options });
  await order(playground, id, {
    kind: 'speech',
    body: { model: 'm-speech', input: 'Hi', voice: 'alloy' },
  });
  await ended(playground, id);

  const file = await ask(playground, `calls/${id}/files/0`);

  expect(file.headers.get('content-type')).toBe('application/octet-stream');
  expect(file.headers.get('content-disposition')).toBe('attachment');
});

test('an edit sends the image and its mask', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });
  await order(playground, 'first-001', image);
  await ended(playground, 'first-001');
  const bytes = await (await ask(playground, 'calls/first-001/files/0')).blob();
  const files = { image: new File([bytes], 'a.png'), mask: new File([bytes], 'mask.png') };

  await order(playground, id, image, files);

  expect(await ended(playground, id)).toMatchObject({ status: 'done', operation: 'images.edit' });
  const { body } = emulator.requests.find(({ operation }) => operation === 'images.edit') ?? {};
  expect(body?.kind === 'multipart' && body.files.map(({ field }) => field)).toEqual([
    'image',
    'mask',
  ]);
});

test('speech becomes a file, which becomes text or English text', async () => {
  const playground = await open();
  await order(playground, 'speech-01', {
    kind: 'speech',
    body: { model: 'm-speech', input: 'Light', voice: 'alloy' },
  });
  const { files } = await ended(playground, 'speech-01');
  expect(files).toMatchObject([{ name: 'speech.mp3', type: 'audio/mpeg' }]);
  const sound = await (await ask(playground, 'calls/speech-01/files/0')).blob();

  for (const kind of ['transcription', 'translation'] as const) {
    for (const format of ['json', 'text', 'srt']) {
      const input: CallInput = { kind, body: { model: 'm', response_format: format } };
      await order(playground, `${kind}-${format}`, input, { file: new File([sound], 'a.mp3') });
      const { text, steps } = await ended(playground, `${kind}-${format}`);
      expect(text, `${kind} ${format}`).toContain('Light');
      expect(steps?.map(({ type }) => type)).toEqual(['sent', 'answered']);
    }
  }
});

test('embeddings become a table of similarities', async () => {
  const playground = await open();
  const input = ['a boat', 'a boat', 'bread'];
  await order(playground, id, { kind: 'embeddings', body: { model: 'm-embedding', input } });

  const { similarity } = await ended(playground, id);

  expect(similarity?.rows).toHaveLength(3);
  expect(similarity?.rows[0]?.[1]).toBeCloseTo(1);
  expect(similarity?.rows[0]?.[2]).toBe(similarity?.rows[2]?.[0]);
  expect(similarity?.rows[0]?.[2]).toBeLessThan(0.9);
});

test('a failed comparison has the error and the advice of its request', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });
  emulator.fail({ fault: { type: 'error', status: 400, message: 'No such thing' } });

  const input = ['A boat', 'A ship'];
  await order(playground, id, { kind: 'embeddings', body: { model: 'm-embedding', input } });

  const { problem } = await ended(playground, id);
  expect(problem).toMatchObject({
    name: 'BadRequestError',
    message: expect.stringMatching(/^400 No such thing/),
    advice: 'The gateway rejected the request, so no charge is expected.',
    outcome: 'rejected',
  });
});

test('a video is submitted once, awaited, and remixed', { timeout: 30_000 }, async () => {
  const playground = await open();
  await ask(playground, 'clock', { method: 'POST', body: '{"speed":100}' });
  await order(playground, id, video);
  const first = await ended(playground, id);
  expect(first).toMatchObject({ status: 'done', files: [{ type: 'video/mp4' }] });

  await order(playground, 'remix-001', {
    kind: 'video',
    body: { model: 'm-video', prompt: 'At night' },
    remixOf: id,
  });

  const remix = await ended(playground, 'remix-001');
  expect(remix).toMatchObject({ status: 'done', operation: 'videos.remix' });
  expect(remix.video?.ref.remixOf).toBe(first.video?.ref.id);
  expect(remix.attempts).toHaveLength(1);
});

test('resumes an unwatched video without a charge', { timeout: 30_000 }, async () => {
  const playground = await open();
  await ask(playground, 'clock', { method: 'POST', body: '{"hold":true}' });
  await order(playground, id, video);
  await watch(playground, (calls) => calls.get(id)?.video !== undefined);
  await ask(playground, `calls/${id}/stop`, { method: 'POST' });
  expect(await ended(playground, id)).toMatchObject({
    status: 'stopped',
    problem: { advice: expect.stringMatching(/Wait for it again with "Continue checking"\.$/) },
  });

  await ask(playground, 'clock', { method: 'POST', body: '{"advance":20000}' });
  expect((await ask(playground, `calls/${id}/resume`, { method: 'POST' })).status).toBe(200);

  const view = await ended(playground, id);
  expect(view).toMatchObject({ status: 'done', files: [{ name: 'video.mp4' }] });
  expect(view.problem).toBeUndefined();
  expect(view.attempts).toHaveLength(1);
});

test('paid results survive a restart of the server', async () => {
  const folder = await temporaryFolder();
  const { emulator, options } = await gateway();
  const first = await open({ gateway: options, folder });
  await order(first, id, image);
  const { files } = await ended(first, id);
  await first[Symbol.asyncDispose]();

  const second = await open({ gateway: options, folder });

  expect(await call(second, id)).toMatchObject({ status: 'done', files });
  const file = await ask(second, `calls/${id}/files/0`);
  expect((await file.arrayBuffer()).byteLength).toBe(files[0]?.bytes);
  expect(emulator.charges).toHaveLength(1);
  expect((await ask(second, `calls/${id}`, { method: 'DELETE' })).status).toBe(200);
  expect(readdirSync(folder)).toEqual([]);
});

test('a paid video is awaited by the next server', { timeout: 30_000 }, async () => {
  const folder = await temporaryFolder();
  const { emulator, options } = await gateway({ videoDuration: 60_000 });
  emulator.clock.hold();
  const onSubmitted = vi.fn(() => Promise.reject(new Error('The disk is full')));
  const first = await open({ gateway: options, folder, onSubmitted });
  await order(first, id, video);
  await watch(first, (calls) => calls.get(id)?.video !== undefined);
  await expect.poll(() => onSubmitted).toHaveBeenCalledOnce();
  const left = JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));
  expect(left).toMatchObject({ status: 'running', video: { ref: { kind: 'video' } } });
  await first[Symbol.asyncDispose]();

  emulator.clock.advance(60_000);
  const second = await open({ gateway: options, folder });

  expect(await ended(second, id)).toMatchObject({
    status: 'done',
    files: [{ type: 'video/mp4' }],
  });
  expect(emulator.charges).toHaveLength(1);
  expect(onSubmitted).toHaveBeenCalledOnce();
});

test('a call that was pending when the server was killed has an unknown outcome, and is not sent again', async () => {
  const folder = await temporaryFolder();
  const { emulator, options } = await gateway();
  emulator.fail({ operation: 'images.generate', fault: { type: 'hang', charged: true } });
  const first = await open({ gateway: options, folder });
  await order(first, id, image);
  await expect.poll(() => emulator.charges).toHaveLength(1);
  const copy = await temporaryFolder();
  copyFileSync(join(folder, `${id}.json`), join(copy, `${id}.json`));

  const second = await open({ gateway: options, folder: copy });

  expect(await call(second, id)).toMatchObject({
    status: 'failed',
    problem: { outcome: 'unknown', advice: expect.stringContaining('before you send it again') },
  });
  expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('a result that cannot be stored is kept in memory, and the page is notified', async () => {
  const folder = await temporaryFolder();
  const { emulator, options } = await gateway();
  const playground = await open({
    folder,
    gateway: {
      ...options,
      // The call has been written down by now, and its result has not.
      async fetch(input, init) {
        const answer = await fetch(input, init);
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
        return answer;
      },
    },
  });
  await order(playground, id, { ...image, body: { ...image.body, n: 2 } });

  // The last write fails after the call has ended.
  await watch(playground, (calls) => calls.get(id)?.problem !== undefined);
  const view = await call(playground, id);

  expect(view).toMatchObject({ status: 'done', files: [{}, {}], problem: { outcome: 'unknown' } });
  expect(view.problem?.message).toContain('does not exist');
  for (const [index, { bytes }] of view.files.entries()) {
    const file = await ask(playground, `calls/${id}/files/${index}`);
    expect((await file.arrayBuffer()).byteLength).toBe(bytes);
  }
  const refused = await order(playground, 'call-0002', image);
  expect(refused.status).toBe(500);
  expect(emulator.charges).toHaveLength(1);
});

test('no response of the server contains the key', async () => {
  const { emulator, options } = await gateway({ apiKey: 'sk-very-secret' });
  const playground = await open({ gateway: options });
  emulator.fail({
    operation: 'images.generate',
    fault: { type: 'error', status: 401, message: 'Bad key sk-very-secret' },
  });
  await order(playground, id, image);
  await ended(playground, id);

  for (const path of ['hello', 'models', 'calls', `calls/${id}`]) {
    expect(await (await ask(playground, path)).text(), path).not.toContain('very-secret');
  }
});

test.each([
  {
    trouble: 'a wrong key',
    gateway: async () => ({ ...(await gateway()).options, apiKey: 'sk-wrong' }),
    name: 'AuthenticationError',
  },
  {
    trouble: 'a gateway that is not there',
    gateway: async () => {
      const emulator = createEmulator();
      const server = await emulator.listen();
      await server.close();
      return { baseURL: server.url, apiKey: 'sk', maxRetries: 0 };
    },
    name: 'APIConnectionError',
  },
  {
    trouble: 'a web page in place of a gateway',
    gateway: async () => {
      const server = createServer((_, answer) =>
        answer.setHeader('content-type', 'text/html').end('<html>'),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      return { baseURL: `http://127.0.0.1:${port}`, apiKey: 'sk' };
    },
    name: 'UnexpectedResponseError',
  },
])('$trouble is reported with advice', async ({ gateway: make, name }) => {
  const playground = await open({ gateway: { ...(await make()), logLevel: 'off' } });

  const listed = await (await ask(playground, 'models')).json();
  await order(playground, id, image);
  const { problem } = await ended(playground, id);

  expect(listed.models).toEqual([]);
  expect(listed.problem.name).toMatch(name);
  expect(problem?.name).toMatch(name);
  expect(problem?.message.length).toBeGreaterThan(20);
});

test('a model of the wrong kind is reported with the gateway’s message', async () => {
  const playground = await open();
  await order(playground, id, {
    kind: 'image',
    body: { model: 'missing-model', prompt: 'A boat' },
  });

  const { problem, attempts } = await ended(playground, id);

  expect(problem).toMatchObject({ outcome: 'rejected' });
  expect(problem?.message).toContain('missing-model');
  expect(attempts?.every(({ charged }) => charged === 0)).toBe(true);
});

test('invalid parameters are reported before anything is sent', async () => {
  const playground = await open();
  await order(playground, id, { kind: 'image', body: { model: 'm-image', prompt: '' } });

  expect(await ended(playground, id)).toMatchObject({
    status: 'failed',
    attempts: [],
    problem: {
      name: 'InvalidInputError',
      outcome: 'not_sent',
      message: expect.stringContaining('prompt'),
    },
  });
});

test.each([
  { input: { kind: 'music', body: {} }, says: 'kind: must be one of' },
  { input: { kind: 'chat' }, says: 'body: must be an object' },
  { input: { ...image, fault: 'none-such' }, says: 'fault: must be one of' },
  { input: { ...image, times: 1.5 }, says: 'times: must be a whole number' },
  { input: undefined, says: 'input: is not valid JSON' },
])('invalid input is rejected with "$says"', async ({ input, says }) => {
  const playground = await open();
  const form = new FormData();
  form.set('input', JSON.stringify(input) ?? 'x');

  const answer = await ask(playground, `calls/${id}`, { method: 'PUT', body: form });

  expect(answer.status).toBe(400);
  expect((await answer.json()).message).toContain(says);
  expect((await ask(playground, `calls/${id}`)).status).toBe(404);
});

test('the usage log of a real gateway shows the charge of each call', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });
  await order(playground, id, image);
  const { requestId = '' } = await ended(playground, id);

  const log = await (await ask(playground, 'usage-log')).json();

  expect(log.problem).toBeUndefined();
  expect(log.charges[requestId]).toMatch(/^[1-9][\d,]* quota$/);
  expect(Object.keys(log.charges)).toEqual(emulator.charges.map((charge) => charge.requestId));
});

test('a gateway without a usage log is reported', async () => {
  const { options } = await gateway({ quirks: { accountRoutes: [] } });
  const playground = await open({ gateway: options });

  const { charges, problem } = await (await ask(playground, 'usage-log')).json();

  expect(charges).toEqual({});
  expect(problem.message).toMatch(/books|404/);
});

test('a real gateway rejects faults', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });

  const answer = await order(playground, id, { ...image, fault: 'cut-after-charge' });

  expect(answer.status).toBe(400);
  expect((await answer.json()).message).toContain('--emulator');
  expect(emulator.requests).toEqual([]);
});

test('files that are too large are rejected before anything is sent, with and without a length', async () => {
  const { emulator, options } = await gateway();
  const playground = await open({ gateway: options });
  const large = new File([new Uint8Array(uploadLimit + 1)], 'a.png');
  const declared = await order(playground, id, image, { image: large });
  const piece = new Uint8Array(4 * 1024 * 1024);
  const head = '--x\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\n';
  let left = 20;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      left -= 1;
      if (left === 19) controller.enqueue(new TextEncoder().encode(head));
      else if (left > 0) controller.enqueue(piece);
      else controller.close();
    },
  });
  const init: RequestInit & { duplex: 'half' } = {
    method: 'PUT',
    headers: {
      'x-playground-token': playground.token,
      'content-type': 'multipart/form-data; boundary=x',
    },
    body: endless,
    duplex: 'half',
  };
  const undeclared = await fetch(`${playground.origin}/api/calls/call-0002`, init);

  expect(declared.status).toBe(413);
  expect((await declared.json()).message).toContain('Choose smaller ones');
  expect(undeclared.status).toBe(413);
  expect(emulator.requests).toEqual([]);
});

test('calls are removed on request, but not while they run', async () => {
  const playground = await open();
  await ask(playground, 'clock', { method: 'POST', body: '{"hold":true}' });
  await order(playground, 'ended-001', image);
  await ended(playground, 'ended-001');
  await order(playground, 'video-001', video);

  expect((await ask(playground, 'calls/video-001', { method: 'DELETE' })).status).toBe(409);
  await ask(playground, 'calls', { method: 'DELETE' });

  const left = await (await ask(playground, 'calls')).json();
  expect(left.map((one: { id: string }) => one.id)).toEqual(['video-001']);
});

test.each(['usage', 'header'] as const)(
  'a call shows the cost that the gateway reports in the %s',
  async (reportedCost) => {
    const { options } = await gateway({ quirks: { reportedCost } });
    const playground = await open({ gateway: options });

    await order(playground, 'image-001', image);
    await order(playground, 'video-001', video);

    expect(await ended(playground, 'image-001')).toMatchObject({ cost: 0.002 });
    expect((await ended(playground, 'video-001')).cost).toBeGreaterThan(0);
  },
);
