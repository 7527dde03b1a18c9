import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  experimental_generateVideo as generateVideo,
  experimental_transcribe as transcribe,
  generateImage,
  generateSpeech,
} from 'ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import { videoProcessor } from '../../src/adapters/bullmq/index.ts';
import { downloadVideo, saveTo } from '../../src/adapters/node/index.ts';
import { errorMessage } from '../../src/answers/objects.ts';
import { Gateway, memoryLedger, parseImageTaskRef, parseVideoTaskRef } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { encodeMp3 } from '../../src/testing/media/mp3.ts';
import { makeVideo } from '../../src/testing/media/mp4.ts';
import { paint } from '../../src/testing/media/painting.ts';
import { encodePng } from '../../src/testing/media/png.ts';
import { toTones } from '../../src/testing/media/tones.ts';
import { listen } from '../../src/testing/server/server.ts';
import { TestQueue } from '../helpers/bullmq-queue.ts';
import { collect } from '../helpers/clients.ts';
import { passTimeFaster } from '../helpers/fast-time.ts';
import { someOf } from '../helpers/some-cases.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { Machine } from '../programs/cli/run.ts';
import { type JobResult, McpMachine } from '../programs/mcp/run.ts';

passTimeFaster();

/*
 * The table of paid results: what gateways send (`kinds`), and where a caller receives it (`doors`). Each door must
 * deliver the bytes of the result, or report the failure of its kind.
 */

const files: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  '/out.png': await encodePng(paint('A boat', 16, 16)),
  '/in.png': await encodePng(paint('Mine', 16, 16)),
  '/out.mp4': await makeVideo({ prompt: 'A boat', seconds: 1, width: 64, height: 64 }),
  '/in.mp4': await makeVideo({ prompt: 'Mine', seconds: 1, width: 64, height: 64 }),
  '/out.mp3': encodeMp3(toTones('A boat at sea in the evening'), 'A boat'),
};
const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  mp4: 'video/mp4',
  mp3: 'audio/mpeg',
};

const fileAt = (path: string): Uint8Array<ArrayBuffer> => files[path] ?? new Uint8Array();

/** Answers a request, or not. */
type Answer = (request: {
  readonly method: string;
  readonly path: string;
  readonly origin: string;
}) => Response | undefined;

type Medium = 'image' | 'video' | 'speech';

interface Kind {
  readonly name: string;
  readonly medium: Medium;
  readonly answer: Answer;
  /** The reason that each door must report; the result must arrive otherwise. */
  readonly fails?: RegExp;
  /** `true` if the call sends `/in.png`. Doors that cannot send a URL are left out. */
  readonly sends?: true;
  /** The doors of this kind, by their names. All by default. */
  readonly at?: RegExp;
  /** `true` if the first door of the medium stands for all: the kind differs from another in its names only. */
  readonly isVariant?: boolean;
}

type Body = (origin: string) => object;

const answers =
  (
    medium: Medium,
    routes: readonly (readonly [
      method: string,
      path: RegExp,
      answer: (origin: string) => Response,
    ])[],
  ) =>
  (name: string, others: Partial<Kind> = {}): Kind => ({
    name,
    medium,
    answer: ({ method, path, origin }) =>
      routes.find(([verb, pattern]) => verb === method && pattern.test(path))?.[2](origin),
    ...others,
  });

const image = (body: Body) =>
  answers('image', [['POST', /images/, (origin) => Response.json(body(origin))]]);

const imageTask = (body: Body) =>
  answers('image', [
    ['POST', /images/, () => Response.json({ task_id: 'task_1', status: 'queued' })],
    ['GET', /images.*task_1/, (origin) => Response.json(body(origin))],
  ]);

const missing = () => Response.json({ error: { message: 'no such route' } }, { status: 404 });

const video = (body: Body, content: () => Response = missing) =>
  answers('video', [
    ['POST', /videos$/, () => Response.json({ id: 'task_1', status: 'queued' })],
    ['GET', /content$/, content],
    ['GET', /task_1$/, (origin) => Response.json(body(origin))],
  ]);

const speech = (answer: () => Response) => answers('speech', [['POST', /speech$/, answer]]);

const inputs = [
  'param',
  'paramJson',
  'requestParams',
  'request_body',
  'arguments',
  'payload_in',
  'inputs',
  'user_input',
  'origin',
  'sourceMedia',
  'referenceData',
  'thumbnails',
];

/** Returns a response of kie's form, with the request beside the result. */
const repeated = (field: string, request: object, response: object) => ({
  code: 200,
  msg: 'success',
  data: {
    taskId: 'task_1',
    successFlag: 1,
    status: 'SUCCESS',
    [field]: /json/i.test(field) ? JSON.stringify(request) : request,
    response,
  },
});

const xml =
  '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The key is gone</Message></Error>';
const broken = JSON.stringify({
  error: {
    message: 'unexpected EOF (request id: r1)',
    type: 'one_api_error',
    code: 'copy_response_body_failed',
  },
});

const respond = (content: readonly (string | Uint8Array<ArrayBuffer>)[], type: string): Response =>
  // A stream, so that no length is sent.
  new Response(new Blob([...content]).stream(), { headers: { 'content-type': type } });

const refuse = (text: string, type: string): Response =>
  new Response(text, { status: 403, headers: { 'content-type': type } });

const half = (path: string): Uint8Array<ArrayBuffer> =>
  fileAt(path).slice(0, fileAt(path).length / 2);

const completed: Body = () => ({ id: 'task_1', status: 'completed' });

const filtered = {
  raiMediaFilteredCount: 1,
  raiMediaFilteredReasons: ['It shows a person.'],
};

/** What a gateway or a store sends with status 200 instead of a file, and the words that must reach the caller. */
const wrongFiles: readonly (readonly [
  name: string,
  answer: (path: string, type: string) => Response,
  fails: RegExp,
])[] = [
  ['a half', (path, type) => respond([half(path)], type), /although the file is longer/],
  [
    'a half with an error behind it',
    (path, type) => respond([half(path), broken], type),
    /unexpected EOF/,
  ],
  [
    'a half with an error in lines',
    (path, type) =>
      respond([half(path), `${JSON.stringify(JSON.parse(broken), undefined, 2)}\n`], type),
    /unexpected EOF/,
  ],
  ['XML', (_, type) => respond([xml], type), /The key is gone/],
  ['XML of its own type', () => respond([xml], 'application/xml'), /The key is gone/],
  ['a page', (_, type) => respond(['<!doctype html><title>Sign in</title>'], type), /HTML page/],
  ['JSON', (_, type) => respond(['{"detail":"not yet"}'], type), /JSON|not yet/],
  ['nothing', (_, type) => respond([], type), /empty/],
  ['a 403 of XML', () => refuse(xml, 'application/xml'), /The key is gone/],
  ['a 403 of XML in HTML', () => refuse(xml, 'text/html'), /The key is gone/],
  [
    'a 403 of JSON',
    () => refuse('{"message":"The key is gone"}', 'application/json'),
    /The key is gone/,
  ],
];

const kinds: readonly Kind[] = [
  ...inputs.map((field) =>
    imageTask((at) =>
      repeated(field, { filesUrl: [`${at}/in.png`] }, { resultUrls: [`${at}/out.png`] }),
    )(`a picture beside ${field}`),
  ),
  imageTask((at) =>
    repeated(
      'paramJson',
      { filesUrl: [`${at}/in.png`] },
      { info: { resultImageUrl: `${at}/out.png` } },
    ),
  )('info.resultImageUrl beside paramJson'),
  image((at) => ({ originImageUrl: `${at}/in.png`, resultImageUrl: `${at}/out.png` }))(
    'resultImageUrl beside originImageUrl',
  ),
  image((at) => ({ image: `${at}/in.png`, assets: [`${at}/out.png`] }))(
    'a picture beside the one that was sent',
    {
      sends: true,
    },
  ),
  imageTask((at) => repeated('paramJson', { filesUrl: [`${at}/in.png`] }, {}))(
    'a task with the input only',
    {
      fails: /no image|contains no/i,
    },
  ),
  ...inputs.map((field) =>
    video((at) =>
      repeated(field, { videoUrl: `${at}/in.mp4` }, { resultVideoUrl: `${at}/out.mp4` }),
    )(`a film beside ${field}`, { isVariant: field !== 'paramJson' }),
  ),
  video((at) => ({
    data: { taskId: 'task_1', successFlag: 1, response: { resultVideoUrl: `${at}/out.mp4` } },
  }))('a film with a flag instead of a status'),
  video((at) => ({
    id: 'task_1',
    status: 'completed',
    clip: `${at}/out.mp4`,
    first: `${at}/in.png`,
    video: `${at}/in.png`,
  }))('a film beside the picture that was sent', { sends: true }),
  ...wrongFiles.map(([name, answer, fails]) =>
    answers('image', [
      ['POST', /images/, (at) => Response.json({ data: [{ url: `${at}/store/a.png` }] })],
      ['GET', /store/, () => answer('/out.png', 'image/png')],
    ])(`${name} at the URL of a picture`, { fails }),
  ),
  ...wrongFiles.map(([name, answer, fails]) =>
    video(completed, () => answer('/out.mp4', 'video/mp4'))(`${name} as a film`, { fails }),
  ),
  image(() => ({ data: [{ b64_json: Buffer.from('This is not a picture.').toString('base64') }] }))(
    'bytes of a picture that are text',
    { fails: /is not a picture/, at: /command line|MCP/ },
  ),
  video(completed, () => respond(['This is not a film.'], 'video/mp4'))('a film that is text', {
    fails: /is not a video/,
    at: /command line|MCP/,
  }),
  speech(() => respond(['This is not speech.'], 'audio/mpeg'))('speech that is text', {
    fails: /is not sound/,
    at: /command line|MCP/,
  }),
  image(() => ({ data: [] }))('no picture', {
    fails: /returned 0 of 1 image/,
    at: /command line|MCP/,
  }),
  video(() => ({
    id: 'task_1',
    done: true,
    response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['It shows a person.'] },
  }))('a film that Veo has filtered', { fails: /It shows a person/ }),
  ...Object.entries({
    'below generateVideoResponse': () => ({
      name: 'operations/task_1',
      done: true,
      response: { generateVideoResponse: filtered },
    }),
    'beside the status of the gateway': () => ({ ...completed(''), response: filtered }),
    'in a record of the gateway': () => ({
      data: { task_id: 'task_1', status: 'SUCCESS', data: { done: true, response: filtered } },
    }),
    'as a list of one': () => [{ ...completed(''), response: filtered }],
  }).map(([name, body]) =>
    video(body)(`a film that Veo has filtered, ${name}`, {
      fails: /It shows a person/,
      isVariant: true,
    }),
  ),
  video((at) => ({
    ...completed(at),
    response: {
      ...filtered,
      generatedSamples: [{ video: { uri: `${at}/out.mp4` } }],
    },
  }))('a film beside one that Veo has filtered'),
  video((at) => [{ ...completed(at), url: `${at}/out.mp4` }])('a film in a list of one'),
  video((at) => ({ id: 'task_1', status: 'Ready', result: { sample: `${at}/out.mp4` } }))(
    'a film that is ready',
  ),
  video((at) => ({
    status: 'MEDIA_GENERATION_STATUS_SUCCESSFUL',
    video: { url: `${at}/out.mp4` },
  }))('a film with a long word', { isVariant: true }),
  ...['nsfw', 'unsuccessful', '失败', 'MEDIA_GENERATION_STATUS_FAILED'].map((status) =>
    video(() => ({ id: 'task_1', status, error: 'because of the prompt' }))(
      `a film with the status ${status}`,
      { fails: /because of the prompt/, isVariant: status !== 'nsfw' },
    ),
  ),
  ...['', null, ' '].map((b64_json) =>
    answers('image', [
      [
        'POST',
        /images/,
        () =>
          respond(
            [`data: ${JSON.stringify({ type: 'image_generation.completed', b64_json })}\n\n`],
            'text/event-stream',
          ),
      ],
    ])(`a streamed picture that is ${JSON.stringify(b64_json)}`, {
      fails: /no image|no picture|without|contains no/i,
      isVariant: b64_json !== '',
    }),
  ),
  ...wrongFiles
    // The length of an MP3 is not in it.
    .filter(([name]) => name !== 'a half')
    .map(([name, answer, fails]) =>
      speech(() => answer('/out.mp3', 'audio/mpeg'))(`${name} as speech`, { fails }),
    ),
];

/** What a caller received. */
type Delivered = { readonly bytes: Buffer } | { readonly problem: string };

interface Gate {
  readonly url: string;
  readonly client: Gateway;
  readonly folder: string;
  readonly sent: string | undefined;
}

type Door = (gate: Gate) => Promise<Delivered>;

const read = (path: string): Delivered => ({ bytes: readFileSync(path) });

async function program(gate: Gate, words: readonly string[], name: string): Promise<Delivered> {
  const machine = new Machine({ url: gate.url, key: 'sk-test' });
  const { code, stderr } = await machine.run([...words, '-o', name]);
  const path = join(machine.folder, name);
  const isSaved = existsSync(path);
  return code === 0 && isSaved ? read(path) : { problem: `exit ${code}: ${stderr}` };
}

async function mcp({ url }: Gate, tool: string, args: Record<string, unknown>): Promise<Delivered> {
  const machine = McpMachine.at(url, createEmulator());
  const session = await machine.connect();
  let result: JobResult = await session.call(tool, args);
  while (result.state === 'running' || result.state === 'submitted') {
    result = await session.call('wait_video', { call_id: result.call_id });
  }
  const [file] = result.files ?? [];
  const isDone = result.state === 'done' && !result.isError && file !== undefined;
  return isDone ? read(file.path) : { problem: result.text };
}

const model = 'm-1';
const prompt = 'A boat';

const imageParams = ({ sent }: Gate) => (sent === undefined ? [] : ['--image', sent]);

const doors: Readonly<Record<Medium, Readonly<Record<string, Door>>>> = {
  image: {
    async saveTo({ client, folder, sent }) {
      const { data } = await (sent === undefined
        ? client.images.generate({ model, prompt })
        : client.images.edit({ model, prompt, image: sent }));
      const { path } = await saveTo(data[0] ?? {}, join(folder, 'a.png'));
      expect(data).toHaveLength(1);
      return read(path);
    },
    'the command line': (gate) =>
      program(
        gate,
        [
          gate.sent === undefined ? 'image' : 'edit',
          '-m',
          model,
          prompt,
          '-y',
          ...imageParams(gate),
        ],
        'a.png',
      ),
    MCP: (gate) => mcp(gate, 'create_image', { model, prompt }),
    async 'the AI SDK'({ client }) {
      const provider = createModelGateway({ client });
      const { image: made } = await generateImage({
        model: provider.imageModel(model),
        prompt,
        maxRetries: 0,
      });
      return { bytes: Buffer.from(made.uint8Array) };
    },
  },
  video: {
    async 'createAndWait and downloadVideo'({ client, folder, sent }) {
      const task = await client.videos.createAndWait({
        model,
        prompt,
        ...(sent !== undefined && { input_reference: sent }),
      });
      const { path } = await downloadVideo(client, task, {
        to: join(folder, 'a.mp4'),
        maxRetries: 0,
      });
      return read(path);
    },
    async 'create, wait and downloadContent'({ client, sent }) {
      const { ref } = await client.videos.create({
        model,
        prompt,
        ...(sent !== undefined && { input_reference: sent }),
      });
      const task = await client.videos.wait(ref);
      const response = await client.videos.downloadContent(task, { maxRetries: 0 });
      return { bytes: Buffer.from(await response.arrayBuffer()) };
    },
    'the command line': (gate) =>
      program(gate, ['video', 'create', '-m', model, prompt, '-y', ...imageParams(gate)], 'a.mp4'),
    MCP: (gate) => mcp(gate, 'create_video', { model, prompt }),
    async 'the AI SDK'({ client }) {
      const provider = createModelGateway({ client });
      const { video: made } = await generateVideo({
        model: provider.videoModel(model),
        poll: { intervalMs: 100 },
        prompt,
        maxRetries: 0,
      });
      return { bytes: Buffer.from(made.uint8Array) };
    },
    async BullMQ({ client, folder, sent }) {
      const path = join(folder, 'a.mp4');
      const processor = videoProcessor(client, {
        ledger: memoryLedger(),
        interval: 1_000,
        saveTo: () => path,
        maxRetries: 0,
      });
      const queue = new TestQueue();
      queue.add('boat', {
        params: { model, prompt, ...(sent !== undefined && { input_reference: sent }) },
      });
      const { error } = await queue.finish('boat', processor);
      return existsSync(path) ? read(path) : { problem: String(error) };
    },
  },
  speech: {
    async 'the client'({ client }) {
      const response = await client.audio.speech.create({ model, voice: 'alloy', input: prompt });
      return { bytes: Buffer.from(await response.arrayBuffer()) };
    },
    async saveTo({ client, folder }) {
      const response = await client.audio.speech.create({ model, voice: 'alloy', input: prompt });
      const { path } = await saveTo(response, join(folder, 'a.mp3'));
      return read(path);
    },
    'the command line': (gate) => program(gate, ['speak', '-m', model, prompt], 'a.mp3'),
    MCP: (gate) => mcp(gate, 'create_speech', { model, text: prompt }),
    async 'the AI SDK'({ client }) {
      const provider = createModelGateway({ client });
      const { audio } = await generateSpeech({
        model: provider.speechModel(model),
        text: prompt,
        maxRetries: 0,
      });
      return { bytes: Buffer.from(audio.uint8Array) };
    },
  },
};

/** Doors through which a URL cannot be sent. */
const withoutURL = /MCP|AI SDK/;

const results = { image: '/out.png', video: '/out.mp4', speech: '/out.mp3' } as const;

const cases = kinds.flatMap((kind) =>
  Object.entries(doors[kind.medium])
    .filter(([name]) => kind.sends === undefined || !withoutURL.test(name))
    .filter(([name]) => kind.at === undefined || kind.at.test(name))
    .filter((_, index) => kind.isVariant !== true || index === 0)
    .map(([door, deliver]) => ({ kind, door, deliver })),
);

async function open({ answer, sends }: Kind): Promise<Gate> {
  const server = await listen(
    async (request) => {
      const { pathname, origin } = new URL(request.url);
      await request.arrayBuffer();
      const made = answer({ method: request.method, path: pathname, origin });
      if (made !== undefined) return made;
      const bytes = files[pathname];
      if (bytes === undefined) return missing();
      return new Response(bytes, { headers: { 'content-type': types[pathname.slice(-3)] ?? '' } });
    },
    0,
    '127.0.0.1',
  );
  onTestFinished(() => server.close());
  const { url } = server;
  const client = new Gateway({ apiKey: 'sk-test', baseURL: url, logLevel: 'off' });
  return { url, client, folder: await temporaryFolder(), sent: sends && `${url}/in.png` };
}

describe('a paid result', () => {
  test.each(someOf(cases))('$kind.name, at $door', async ({ kind, deliver }) => {
    const gate = await open(kind);

    const delivered = await deliver(gate).catch((error: unknown) => ({
      problem: errorMessage(error),
    }));

    if (kind.fails === undefined) {
      expect('problem' in delivered ? delivered.problem : '').toBe('');
      const expected = Buffer.from(fileAt(results[kind.medium]));
      expect('bytes' in delivered && delivered.bytes.equals(expected)).toBe(true);
    } else {
      expect(delivered).toEqual({ problem: expect.stringMatching(kind.fails) });
      // Nothing that nobody can open is left under the name of a result.
      expect(readdirSync(gate.folder)).toEqual([]);
    }
  });
});

describe('speech that breaks off', () => {
  const broke = speech(() => respond([half('/out.mp3'), broken], 'audio/mpeg'))('speech');

  test('speech that breaks off is kept up to there by the command line', async () => {
    const { url } = await open(broke);
    const machine = new Machine({ url, key: 'sk-test' });

    const named = await machine.run(['speak', '-m', model, prompt, '-o', 'a.mp3']);
    const unnamed = await machine.run(['speak', '-m', model, prompt, '--json']);

    for (const { code, stdout, stderr } of [named, unnamed]) {
      expect(code).toBe(3);
      expect(stdout).not.toContain('path');
      const [, path = ''] = /the part before the failure is saved in (\S+)/.exec(stderr) ?? [];
      expect(readFileSync(path)).toEqual(Buffer.from(half('/out.mp3')));
    }
    expect(named.stderr).toContain('a.mp3.response.mp3');
    expect(existsSync(join(machine.folder, 'a.mp3'))).toBe(false);
  });

  test('speech that breaks off is kept up to there by MCP', async () => {
    const { url } = await open(broke);
    const session = await McpMachine.at(url, createEmulator()).connect();

    const {
      state,
      text,
      files: kept,
    } = await session.call('create_speech', { model, text: prompt });

    expect(state).toBe('unknown');
    expect(text).toContain('The part before the failure is saved in');
    expect(kept).toHaveLength(1);
    expect(readFileSync(kept?.[0]?.path ?? '')).toEqual(Buffer.from(half('/out.mp3')));
  });
});

/** Counts the requests that may be charged. */
function counted(kind: Kind): { readonly kind: Kind; readonly count: () => number } {
  let count = 0;
  const answer: Answer = (request) => {
    count += Number(request.method === 'POST');
    return kind.answer(request);
  };
  return { kind: { ...kind, answer }, count: () => count };
}

const unread =
  'data: {"kind":"sound","blob":"AAAA"}\n\ndata: {"kind":"end","cost":3}\n\ndata: [DONE]\n\n';

const anyAnswer = (answer: () => Response) => answers('image', [['POST', /./, answer]])('anything');

/** Commands and tools that may be paid for, and receive a file or a text. */
const programs: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly args: Readonly<Record<string, unknown>>;
}[] = [
  { name: 'create_image', words: ['image', prompt, '-y'], args: { prompt } },
  { name: 'create_speech', words: ['speak', prompt], args: { text: prompt } },
  { name: 'transcribe_audio', words: ['transcribe', 'talk.mp3'], args: { path: 'talk.mp3' } },
];

async function runCommand(kind: Kind, words: readonly string[]) {
  const { url } = await open(kind);
  const machine = new Machine({ url, key: 'sk-test' });
  writeFileSync(join(machine.folder, 'talk.mp3'), fileAt('/out.mp3'));
  const run = () => machine.run([...words, '-m', model]);
  return { run, folder: machine.folder };
}

async function callTool(kind: Kind, name: string, args: Readonly<Record<string, unknown>>) {
  const { url } = await open(kind);
  const machine = McpMachine.at(url, createEmulator());
  writeFileSync(join(machine.workspace, 'talk.mp3'), fileAt('/out.mp3'));
  const session = await machine.connect();
  return () => session.call(name, { model, ...args });
}

describe('a paid stream that is not understood', () => {
  const kind = anyAnswer(() => respond([unread], 'text/event-stream'));

  test.each(programs)(
    'a paid stream that is not understood is saved whole by the command: $words',
    async ({ words }) => {
      const { run } = await runCommand(kind, words);

      const { code, stdout, stderr } = await run();

      expect([code, stdout]).toEqual([3, '']);
      const [, path = ''] = /all of it is saved in (\S+)/.exec(stderr) ?? [];
      expect(readFileSync(path, 'utf8')).toBe(unread);
    },
  );

  test.each(programs)(
    'a paid stream that is not understood is saved whole by the tool $name',
    async ({ name, args }) => {
      const call = await callTool(kind, name, args);

      const { state, text, files: saved = [] } = await call();

      expect(state).toBe('unknown');
      expect(text).toContain('All of the response is saved in');
      expect(saved.map(({ path }) => readFileSync(path, 'utf8'))).toEqual([unread]);
    },
  );
});

describe('XML in place of a transcript', () => {
  const kind = anyAnswer(() => respond([xml], 'application/xml'));
  const file = new File([fileAt('/out.mp3')], 'talk.mp3');
  const forms = [{}, { response_format: 'text' }, { response_format: 'srt' }] as const;

  test.each(forms)('XML in place of a transcript is an error of the client: %o', async (form) => {
    const { client } = await open(kind);

    await expect(client.audio.transcriptions.create({ model, file, ...form })).rejects.toThrow(
      'The key is gone',
    );
    await expect(client.audio.translations.create({ model, file, ...form })).rejects.toThrow(
      'The key is gone',
    );
  });

  test('XML in place of a transcript is an error of a stream', async () => {
    const { client } = await open(kind);

    const stream = client.audio.transcriptions.create({ model, file, stream: true });

    await expect(stream.then(collect)).rejects.toThrow('The key is gone');
  });

  test('XML in place of a transcript is an error of the AI SDK', async () => {
    const { client } = await open(kind);
    const provider = createModelGateway({ client });

    const transcript = transcribe({
      model: provider.transcriptionModel(model),
      audio: fileAt('/out.mp3'),
      maxRetries: 0,
    });

    await expect(transcript).rejects.toThrow('The key is gone');
  });

  test('XML in place of a transcript is an error of the programs', async () => {
    const { run } = await runCommand(kind, ['transcribe', 'talk.mp3']);

    expect(await run()).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('The key is gone'),
    });
    const call = await callTool(kind, 'transcribe_audio', { path: 'talk.mp3' });
    expect(await call()).toMatchObject({
      state: 'unknown',
      text: expect.stringContaining('The key is gone'),
    });
  });
});

describe('fewer pictures than were asked for', () => {
  const one = image((at) => ({ data: [{ url: `${at}/out.png` }] }))('one picture');
  const none = image(() => ({ data: [] }))('no picture');

  test('the command line counts fewer pictures than were asked for', async () => {
    const { run, folder } = await runCommand(one, ['image', prompt, '-n', '2', '-y', '-o', 'out/']);

    const { code, stdout, stderr } = await run();

    expect([code, JSON.parse(stdout).paths]).toEqual([0, [expect.stringContaining(folder)]]);
    expect(stderr).toContain('The gateway returned 1 of 2 images.');
  });

  test('MCP counts fewer pictures than were asked for', async () => {
    const call = await callTool(one, 'create_image', { prompt, n: 2 });

    const { state, text, files: saved } = await call();

    expect(state).toBe('done');
    expect(saved).toHaveLength(1);
    expect(text).toContain('The gateway returned 1 of 2 images.');
    expect(text).not.toMatch(/safety|filter/i);
  });

  test('a second run with the call id is not paid for after fewer pictures, or none', async () => {
    const { kind, count } = counted(none);
    const { run } = await runCommand(kind, ['image', prompt, '-y', '--call-id', 'boat-1']);

    const [first, second] = [await run(), await run()];

    expect([first.code, second.code]).toEqual([3, 3]);
    // The first run counts as a running one here, because both are in one process.
    expect(second.stderr).toContain('boat-1');
    expect(count()).toBe(1);
  });

  test('a repeated call of MCP is not paid for after fewer pictures, or none', async () => {
    const { kind, count } = counted(none);
    const call = await callTool(kind, 'create_image', { prompt, call_id: 'boat-1' });

    const [first, second] = [await call(), await call()];

    expect([first.state, second.state]).toEqual(['failed', 'failed']);
    expect(second.text).toContain('returned 0 of 1 image');
    expect(count()).toBe(1);
  });
});

/** Returns a handle as another process reads it. */
const stored = (ref: unknown): unknown => JSON.parse(JSON.stringify(ref));

describe('a wait in another process, after a call that sent a URL', () => {
  test('returns the film, and not the picture that was sent', async () => {
    const {
      url,
      client,
      sent = '',
    } = await open({
      ...video((at) => ({
        id: 'task_1',
        status: 'completed',
        video: `${at}/in.png`,
        clip: `${at}/out.mp4`,
      }))('a film'),
      sends: true,
    });
    const { ref } = await client.videos.create({ model, prompt, input_reference: sent });
    const other = new Gateway({ apiKey: 'sk-test', baseURL: url, logLevel: 'off' });

    const task = await other.videos.wait(parseVideoTaskRef(stored(ref)));

    expect(task.url).toBe(`${url}/out.mp4`);
    expect(JSON.stringify([ref, task.ref])).not.toContain('in.png');
    expect(task.ref.sent).toEqual(ref.sent);
  });

  test('returns the picture that was made, and not the one that was sent', async () => {
    const {
      url,
      client,
      sent = '',
    } = await open({
      ...imageTask((at) => ({
        task_id: 'task_1',
        status: 'completed',
        image: `${at}/in.png`,
        images: [`${at}/in.png`, `${at}/out.png`],
      }))('a picture'),
      sends: true,
    });
    const refs: unknown[] = [];
    const edited = await client.images.edit(
      { model, prompt, image: sent },
      { onSubmitted: (ref) => void refs.push(stored(ref)) },
    );
    const other = new Gateway({ apiKey: 'sk-test', baseURL: url, logLevel: 'off' });

    const waited = await other.images.wait(parseImageTaskRef(refs[0]));

    const made = [{ url: `${url}/out.png` }];
    expect([edited.data, waited.data]).toEqual([made, made]);
    expect(JSON.stringify(refs)).not.toContain('in.png');
  });

  test('differs by one character', async () => {
    const {
      url,
      client,
      sent = '',
    } = await open({
      ...video((at) => ({ id: 'task_1', status: 'completed', url: `${at}/in.png?2` }))('a film'),
      sends: true,
    });
    const { ref } = await client.videos.create({ model, prompt, input_reference: `${sent}?1` });

    const task = await client.videos.retrieve(parseVideoTaskRef(stored(ref)));

    expect(task.url).toBe(`${url}/in.png?2`);
  });
});
