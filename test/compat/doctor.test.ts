// `doctor` at gateways of other projects: each row is compared with what plain requests find.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints, type Operation } from '../../src/endpoints.ts';
import type { DoctorReport } from '../../src/programs/cli/doctor/report-schema.ts';
import { runDoctor } from './run-doctor.ts';
import { type OtherGateway, startAimock, startPortkey } from './gateways.ts';

/** Requests a path without the client. */
async function request(
  { url, key, headers }: OtherGateway,
  path: string,
  body?: object,
  authorization = `Bearer ${key}`,
): Promise<Response> {
  const sent = new Headers(authorization === '' ? {} : { authorization });
  for (const line of headers.split('\n')) {
    const [name = '', value = ''] = line.split(': ');
    if (name !== '') sent.set(name, value);
  }
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) sent.set('content-type', 'application/json');
  return fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: sent,
    body: body === undefined || isForm ? (body ?? null) : JSON.stringify(body),
  });
}

const form = (fields: Record<string, string | File>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
};

const messages = [{ role: 'user', content: 'Hello' }];
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
const sound = new File(['ID3 sound'], 'fox.mp3', { type: 'audio/mpeg' });
const picture = new File(['a picture'], 'fox.png', { type: 'image/png' });
const image = { prompt: 'A fox' };

/** A correct request of each operation: its path, and its body. */
const correct: Readonly<
  Record<Operation, (models: Models, video: string) => readonly [path: string, body?: object]>
> = {
  'models.list': () => ['/v1/models'],
  'models.retrieve': ({ chat }) => [`/v1/models/${chat}`],
  'chat.completions.create': ({ chat }) => ['/v1/chat/completions', { model: chat, messages }],
  'responses.create': ({ chat }) => ['/v1/responses', { model: chat, input: 'Hello' }],
  'messages.create': ({ chat }) => ['/v1/messages', { model: chat, max_tokens: 20, messages }],
  'generate.content': ({ gemini }) => [`/v1beta/models/${gemini}:generateContent`, { contents }],
  'generate.contentStream': ({ gemini }) => [
    `/v1beta/models/${gemini}:streamGenerateContent?alt=sse`,
    { contents },
  ],
  'embeddings.create': ({ embedding }) => ['/v1/embeddings', { model: embedding, input: 'Hello' }],
  'embeddings.createForEngine': ({ embedding, engines }) => [
    `${engines}/engines/${embedding}/embeddings`,
    { model: embedding, input: 'Hello' },
  ],
  'rerank.create': () => ['/v1/rerank', { model: 'm-rerank', query: 'a', documents: ['a', 'b'] }],
  'images.generate': (models) => ['/v1/images/generations', { ...image, model: models.image }],
  'images.edit': (models) => [
    '/v1/images/edits',
    form({ ...image, model: models.image, image: picture }),
  ],
  'audio.speech.create': ({ speech }) => [
    '/v1/audio/speech',
    { model: speech, input: 'Hello', voice: 'alloy' },
  ],
  'audio.transcriptions.create': ({ transcription }) => [
    '/v1/audio/transcriptions',
    form({ model: transcription, file: sound }),
  ],
  'audio.translations.create': ({ transcription }) => [
    '/v1/audio/translations',
    form({ model: transcription, file: sound }),
  ],
  'videos.create': ({ video }) => ['/v1/videos', form({ model: video, prompt: 'A fox' })],
  'videos.retrieve': (_, video) => [`/v1/videos/${video}`],
  'videos.downloadContent': (_, video) => [`/v1/videos/${video}/content`],
  'videos.remix': (_, video) => [`/v1/videos/${video}/remix`, { prompt: 'At night' }],
  'videos.retrieveFromVendor': (_, video) => [`/kling/v1/videos/text2video/${video}`],
};

interface Models {
  readonly chat: string;
  readonly gemini: string;
  readonly embedding: string;
  readonly image: string;
  readonly speech: string;
  readonly transcription: string;
  readonly video: string;
  /** The path before `/engines`. */
  readonly engines: string;
}

/** A gateway, its models, and operations of which no free probe can tell whether it serves them. */
const cases = [
  {
    name: 'aimock',
    start: startAimock,
    models: {
      chat: 'm-large',
      gemini: 'gemini-flash',
      embedding: 'm-embedding',
      image: 'm-image',
      speech: 'm-tts',
      transcription: 'm-whisper',
      video: 'm-video',
      engines: '',
    },
    undecided: [],
  },
  {
    // It answers 500 to each body that it cannot read, also on routes that it does not have.
    name: 'Portkey',
    start: startPortkey,
    models: {
      chat: 'm-large',
      gemini: 'm-flash',
      embedding: 'm-embedding',
      image: 'm-image',
      speech: 'm-speech',
      transcription: 'm-translation',
      video: 'm-video',
      engines: '/v1',
    },
    undecided: [
      'messages.create',
      'embeddings.createForEngine',
      'rerank.create',
      'images.edit',
      'audio.transcriptions.create',
      'audio.translations.create',
      'videos.create',
      'videos.remix',
    ],
  },
] as const;

/** Calls of the report, and the operation that each makes on the path of the profile. */
const calls: Readonly<Record<string, Operation>> = {
  embeddings: 'embeddings.create',
  chat: 'chat.completions.create',
  'chat-stream': 'chat.completions.create',
  tools: 'chat.completions.create',
  'json-schema': 'chat.completions.create',
  'json-object': 'chat.completions.create',
  responses: 'responses.create',
  'responses-stream': 'responses.create',
  gemini: 'generate.content',
  'gemini-stream': 'generate.contentStream',
  speech: 'audio.speech.create',
  transcription: 'audio.transcriptions.create',
  translation: 'audio.translations.create',
  image: 'images.generate',
  'image-edit-form': 'images.edit',
  video: 'videos.create',
  'video-content': 'videos.downloadContent',
};

describe.each(cases)('doctor at $name', ({ start, models, undecided }) => {
  let gateway: OtherGateway;
  let report: DoctorReport;
  let video = '';
  /** Status of a correct request of each operation. */
  const found = new Map<string, number>();

  const row = (id: string) => report.rows.find((each) => each.id === id);
  const isServed = (operation: string): boolean => {
    const status = found.get(operation) ?? 0;
    return status >= 200 && status < 300;
  };

  beforeAll(async () => {
    gateway = await start();
    gateway.emulator?.clock.hold();
    const timer = setInterval(() => gateway.emulator?.clock.advance(60_000), 500);
    const operations = Object.entries(correct);
    for (const [operation, create] of operations) {
      const response = await request(gateway, ...create(models, video));
      found.set(operation, response.status);
      const text = await response.text();
      if (operation !== 'videos.create' || !response.ok) continue;
      video = JSON.parse(text).id;
      gateway.emulator?.clock.advance(60_000);
      // The gateway polls the vendor while a client polls it.
      await request(gateway, `/v1/videos/${video}`);
    }
    report = await runDoctor({ ...gateway, profile: 'openai' });
    clearInterval(timer);
  }, 120_000);

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
  });

  test.each(Object.keys(endpoints))('route.%s', (operation) => {
    const { status } = row(`route.${operation}`) ?? {};
    if (status === 'unknown') expect(undecided).toContain(operation);
    else expect(status).toBe(isServed(operation) ? 'yes' : 'no');
  });

  test.each(Object.entries(calls))('call.%s', (id, operation) => {
    const { status } = row(`call.${id}`) ?? {};
    expect(status === 'pass').toBe(isServed(operation));
    if (!isServed(operation)) expect(status).toMatch(/^(unsupported|skip)$/);
  });

  test('the doctor leaves only these routes unknown', () => {
    const unknown = report.rows.filter(
      ({ id, status }) => id.startsWith('route.') && status === 'unknown',
    );
    expect(unknown.map(({ id }) => id.slice('route.'.length))).toEqual([...undecided]);
  });

  test('videos, and the key for their content', async () => {
    const routes = ['videos.create', 'videos.retrieve'];
    const isProven = !undecided.some((operation) => routes.includes(operation));
    const expected = isProven ? 'ok' : 'skip';
    expect(row('videos')?.status).toBe(routes.every(isServed) ? expected : 'warn');
    const content = `/v1/videos/${video}/content`;
    const { status } = await request(gateway, content, undefined, '');
    const needsKey = status === 401 || status === 403 ? 'yes' : 'no';
    const shown = row('content-key')?.status;
    expect(shown).toBe(isServed('videos.downloadContent') ? needsKey : 'unknown');
  });

  test('the key, the models and the id of a request', async () => {
    const listed = await request(gateway, '/v1/models');
    const { data }: { data: unknown[] } = await listed.json();
    const { status } = await request(gateway, '/v1/models', undefined, 'Bearer sk-wrong');

    expect(status).toBe(401);
    expect(row('key')).toMatchObject({ status: 'ok' });
    expect(row('models')?.detail).toBe(`${data.length} models`);
    const { detail = '' } = row('request-id') ?? {};
    expect(listed.headers.get(detail)).toEqual(expect.any(String));
  });

  test('the calls cost what the gateway was asked for', () => {
    expect(report.spend?.chargedUSD ?? 0).toBeLessThan(20);
    const passed = report.rows.filter(
      ({ id, status }) => id.startsWith('call.') && status === 'pass',
    );
    expect(passed.length).toBeGreaterThan(12);
  });
});
