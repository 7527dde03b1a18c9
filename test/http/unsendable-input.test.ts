// Input that cannot be read, or that JSON would write as something else, is refused by name, unsent.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toWellFormedJSON } from '../../src/http/json.ts';
import { type Gateway, tool } from '../../src/index.ts';
import { collect, emulated, failureOf, json, scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const gone = new Error('the database is gone');

/** Adds a field whose getter throws. */
function withThrowing<Value extends object>(value: Value, name: string): Value {
  return Object.defineProperty(value, name, {
    enumerable: true,
    configurable: true,
    get() {
      throw gone;
    },
  });
}

const ask = () => ({ model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] });
const order = () => ({ model: 'm', prompt: 'A boat' });
const gemini = () => ({ model: 'm', contents: 'Hi' });
const file = () => new File(['ID3'], 'a.mp3');
const first = (loop: AsyncGenerator): Promise<unknown> => loop.next();

/** Calls with a parameter that is broken, and the field that the error names. */
type Call = (client: Gateway, spoil: <Params extends object>(params: Params) => Params) => unknown;

const calls: Record<string, Call> = {
  'chat.completions.create': ({ chat }, spoil) => chat.completions.create(spoil(ask())),
  'chat.completions.parse': ({ chat }, spoil) => chat.completions.parse(spoil(ask())),
  'chat.completions.stream': ({ chat }, spoil) => chat.completions.stream(spoil(ask())).done(),
  'chat.completions.runTools': ({ chat }, spoil) =>
    chat.completions.runTools(spoil({ ...ask(), tools: [] })).done(),
  'generate.content': ({ generate }, spoil) => generate.content(spoil(gemini())),
  'generate.contentStream': ({ generate }, spoil) => generate.contentStream(spoil(gemini())),
  'generate.runTools': ({ generate }, spoil) =>
    generate.runTools(spoil({ ...gemini(), functions: [] })),
  'embeddings.create': ({ embeddings }, spoil) =>
    embeddings.create(spoil({ model: 'm', input: 'Hi' })),
  'embeddings.createForEngine': ({ embeddings }, spoil) =>
    embeddings.createForEngine(spoil({ model: 'm', input: 'Hi' })),
  'embeddings.createMany': ({ embeddings }, spoil) =>
    embeddings.createMany(spoil({ model: 'm', input: ['Hi'] })),
  'images.generate': ({ images }, spoil) => images.generate(spoil(order())),
  'images.edit': ({ images }, spoil) => images.edit(spoil({ ...order(), image: file() })),
  'audio.speech.create': ({ audio }, spoil) =>
    audio.speech.create(spoil({ model: 'm', input: 'Hi', voice: 'alloy' })),
  'audio.transcriptions.create': ({ audio }, spoil) =>
    audio.transcriptions.create(spoil({ model: 'm', file: file() })),
  'videos.create': ({ videos }, spoil) => videos.create(spoil(order())),
  'videos.createAndWait': ({ videos }, spoil) => videos.createAndWait(spoil(order())),
  'videos.remix': ({ videos }, spoil) => videos.remix('task', spoil(order())),
  'videos.remixAndWait': ({ videos }, spoil) => videos.remixAndWait('task', spoil(order())),
};

const many: Record<string, Call> = {
  'images.generateMany': ({ images }, spoil) => first(images.generateMany([spoil(order())])),
  'videos.createAndWaitAll': ({ videos }, spoil) =>
    first(videos.createAndWaitAll([spoil(order())])),
};

const fails = async (work: () => unknown): Promise<unknown> =>
  failureOf(Promise.resolve().then(async () => work()));

describe.each(Object.entries(calls))('%s', (_name, call) => {
  // Both what it reads itself and what it only passes on.
  test.each(['model', 'stream', 'stream_options', 'n', 'messages', 'user', 'toolContext'])(
    'names the parameter "%s" whose getter throws',
    async (name) => {
      const { client, emulator } = emulated();
      let made: unknown;

      // It rejects, and does not throw.
      expect(() => (made = call(client, (params) => withThrowing(params, name)))).not.toThrow();
      const error = await failureOf(Promise.resolve(made));

      expect(error).toMatchObject({
        name: 'InvalidInputError',
        field: name,
        message: `${name}: cannot be read: the database is gone.`,
        cause: gone,
        outcome: 'not_sent',
      });
      expect(emulator.requests).toEqual([]);
    },
  );
});

test.each(Object.entries(many))('%s also names the path', async (_name, call) => {
  const { client } = emulated();

  const error = await fails(() => call(client, (params) => withThrowing(params, 'size')));

  expect(error).toMatchObject({ name: 'InvalidInputError', field: 'params[0].size' });
});

test('an iterable that throws rejects the loop', async () => {
  const { client, emulator } = emulated();
  const list = (function* () {
    yield order();
    throw gone;
  })();

  const loop = client.images.generateMany(list);

  expect(await failureOf(collect(loop))).toMatchObject({
    name: 'InvalidInputError',
    message: expect.stringContaining('the database is gone'),
    cause: gone,
  });
  expect(emulator.requests).toEqual([]);
});

test('an extra body and a body whose getter throws are named', async () => {
  const { client } = emulated();
  const extraBody = withThrowing({}, 'user');
  const error = await fails(() => client.chat.completions.create(ask(), { extraBody }));
  expect(error).toMatchObject({ name: 'InvalidInputError', field: 'extraBody.user' });
  const body = withThrowing({}, 'user');
  const refusal = await fails(() => client.post('/v1/x', { body }));
  expect(refusal).toMatchObject({ name: 'InvalidInputError', field: 'body.user' });
});

const circular: { self?: unknown } = {};
circular.self = circular;

describe('inside a body', () => {
  const advice = {
    bytes:
      /contains bytes, which JSON cannot represent; pass base64 text, or a list created by Array\.from\(\)\.$/,
    promise: /is a promise; put "await" before it\.$/,
  };

  test.each<{ what: string; value: unknown; message: RegExp }>([
    { what: 'a typed array', value: new Uint8Array([1, 2]), message: advice.bytes },
    { what: 'floats', value: new Float32Array([0.5]), message: advice.bytes },
    { what: 'an empty typed array', value: new Uint8Array(), message: advice.bytes },
    { what: 'a Buffer', value: Buffer.from('hello'), message: advice.bytes },
    { what: 'an ArrayBuffer', value: new ArrayBuffer(2), message: advice.bytes },
    { what: 'a Blob', value: new Blob(['x']), message: advice.bytes },
    { what: 'a File', value: file(), message: advice.bytes },
    { what: 'a promise', value: Promise.resolve('text'), message: advice.promise },
    { what: 'a request', value: emulated().client.models.list(), message: advice.promise },
    {
      what: 'a Map',
      value: new Map([['a', 1]]),
      message: /is a Map, which JSON cannot represent; pass an object or a list\.$/,
    },
    { what: 'a Set', value: new Set(['a']), message: /is a Set, which JSON cannot represent/ },
    {
      what: 'a BigInt',
      value: 1n,
      message: /is a BigInt, which JSON cannot represent; pass a number or text\.$/,
    },
    { what: 'an object in itself', value: circular, message: /contains itself\.$/ },
    {
      what: 'a getter that throws',
      value: withThrowing({}, 'x'),
      message: /\.x: cannot be read: the database is gone\.$/,
    },
    {
      what: 'a toJSON() that throws',
      value: {
        toJSON() {
          throw gone;
        },
      },
      message: /cannot be read: the database is gone\.$/,
    },
  ])('$what is rejected by name', async ({ value, message }) => {
    const { client, emulator } = emulated();
    const metadata = untyped<Record<string, string>>({ deep: [{ 'two words': value }] });
    const place = 'metadata.deep[0]["two words"]';
    const failing: readonly (readonly [string, () => unknown])[] = [
      [place, () => client.chat.completions.create({ ...ask(), metadata })],
      [`body.${place}`, () => client.post('/v1/responses', { body: { metadata } })],
      [place, () => client.images.generate(order(), { extraBody: { metadata } })],
      [place, () => client.videos.create({ ...order(), metadata })],
    ];

    for (const [field, work] of failing) {
      const error = await fails(work);
      expect(error).toMatchObject({ name: 'InvalidInputError', outcome: 'not_sent' });
      expect(Reflect.get(Object(error), 'message')).toMatch(message);
      expect(Reflect.get(Object(error), 'field')).toContain(field);
    }
    expect(emulator.requests).toEqual([]);
  });

  test('names the body itself', async () => {
    const { client } = emulated();

    const error = await fails(() => client.post('/v1/x', { body: new Map() }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'body' });
  });

  test('sends values that JSON can represent', async () => {
    const { client, emulator } = emulated();
    const metadata = {
      empty: {},
      list: [],
      numbered: { 0: 'a', 1: 'b' },
      buffer: { type: 'Buffer', data: [1] },
      text: '{} {"0":1}',
      when: new Date(0),
      url: new URL('https://example.com/'),
      own: Object.assign(new Uint8Array(1), { toJSON: undefined }).length,
    };

    await client.post('/v1/chat/completions', { body: { ...ask(), metadata } });

    const sent = emulator.requests[0]?.body;
    expect(sent).toMatchObject({ value: { metadata: JSON.parse(JSON.stringify(metadata)) } });
  });
});

const ignore = (): void => undefined;

/** A logger that collects warnings. */
function listen() {
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  return { warnings, logger: { error: ignore, warn, info: ignore, debug: ignore } };
}

/** Half of an emoji, as text has that was cut in its middle. */
const half = 'cut \uD83D';

describe('half of a character', () => {
  const metadata = { notes: ['whole 🌍', half], [`key ${half}`]: String.raw`\ud83d` };
  const written = { notes: ['whole 🌍', 'cut \uFFFD'], 'key cut \uFFFD': String.raw`\ud83d` };
  // Without functions it sends nothing.
  const { 'generate.runTools': _, ...sending } = calls;

  test.each(Object.entries({ ...sending, ...many }))(
    'half of a character is sent as U+FFFD by %s',
    async (__, work) => {
      const { logger, warnings } = listen();
      const { client, requests } = scripted([json({ error: { message: 'No' } }, 400)], {
        logger,
        logLevel: 'warn',
      });

      await Promise.resolve(work(client, (params) => ({ ...params, metadata }))).catch(() => {});

      const [request] = requests;
      const isJSON = request?.headers.get('content-type') === 'application/json';
      if (isJSON) expect(await request.json()).toMatchObject({ metadata: written });
      // Forms are written as UTF-8, which has no halves.
      else expect(await request?.text()).toContain('cut \uFFFD');
      // A form names its own fields.
      const field = isJSON ? /metadata\.notes\[1\] contains half/ : /metadata\S* contains half/;
      expect(warnings.filter((warning) => field.test(warning))).toHaveLength(1);
    },
  );

  test('names the message, once, and the result of a tool does not end a run', async () => {
    const { logger, warnings } = listen();
    const { client, emulator } = emulated({ logger, logLevel: 'warn' });
    const cut = tool({ name: 'cut', execute: () => half });
    const cutToo = tool({ name: 'cutToo', execute: () => ({ text: half }) });

    for (const each of [cut, cutToo, cut]) {
      await client.chat.completions.runTools({ ...ask(), tools: [each] }).done();
    }

    const sent = emulator.requests.map(({ body }) => JSON.stringify(body));
    expect(sent[1]).toContain('"content":"cut \uFFFD"');
    expect(sent[3]).toContain(String.raw`{\"text\":\"cut ${'\uFFFD'}\"}`);
    expect(warnings).toEqual([expect.stringContaining('messages[2].content contains half')]);
  });

  test('half of a character is nothing that whole text has, however it is escaped', () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (value, text) => {
          const sent = JSON.stringify([value, text, JSON.stringify(text)]);
          const expected: unknown = JSON.parse(sent);
          expect(JSON.parse(toWellFormedJSON(sent))).toEqual(expected);
        },
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
        (text) => {
          const expected = new TextDecoder().decode(new TextEncoder().encode(text));
          expect(JSON.parse(toWellFormedJSON(JSON.stringify(text)))).toBe(expected);
        },
      ),
    );
  });
});
