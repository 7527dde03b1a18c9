import { Gateway, tool } from '../../src/index.ts';
import type { Method } from '../../src/options/methods.ts';
import { untyped } from './untyped.ts';

export const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
const contents = { model: 'm-chat', contents: 'Hi' };
const say = { model: 'm', input: 'Hi' };
const order = { model: 'm-video', prompt: 'A boat' };
const picture = { model: 'm-image', prompt: 'A boat' };
const file = new File([new Uint8Array([0x49, 0x44, 0x33, 4])], 'a.mp3');
const find = tool({ name: 'find', execute: () => 'found' });
const spoken = { model: 'm-audio', file };

/** Calls a method with options, and with more fields among its parameters. */
export type Call = (client: Gateway, options: never, more: object) => unknown;

/** Each method, called with options as JavaScript can. */
export const calls: Readonly<Record<Method, Call>> = {
  client: (_, options) => new Gateway(options),
  account: ({ account }, options) => account.balance(options),
  request: (client, options) => client.post('/v1/responses', options),
  'models.list': ({ models }, options) => models.list(options),
  'models.retrieve': ({ models }, options) => models.retrieve('m', options),
  'chat.completions.create': ({ chat }, options, more) =>
    chat.completions.create({ ...ask, ...more }, options),
  'chat.completions.parse': ({ chat }, options, more) =>
    chat.completions.parse({ ...ask, ...more }, options),
  'chat.completions.stream': ({ chat }, options, more) =>
    chat.completions.stream({ ...ask, ...more }, options).done(),
  'chat.completions.runTools': ({ chat }, options, more) =>
    chat.completions.runTools({ ...ask, tools: [find], ...more }, options).done(),
  'responses.create': ({ responses }, options, more) =>
    responses.create({ ...say, ...more }, options),
  'responses.parse': ({ responses }, options, more) =>
    responses.parse({ ...say, ...more }, options),
  'generate.content': ({ generate }, options, more) =>
    generate.content({ ...contents, ...more }, options),
  'generate.contentStream': ({ generate }, options, more) =>
    generate.contentStream({ ...contents, ...more }, options),
  'generate.runTools': ({ generate }, options, more) =>
    generate.runTools({ ...contents, functions: [find], ...more }, options),
  'embeddings.create': ({ embeddings }, options, more) =>
    embeddings.create({ ...say, ...more }, untyped<object>(options)),
  'embeddings.createForEngine': ({ embeddings }, options, more) =>
    embeddings.createForEngine({ ...say, ...more }, untyped<object>(options)),
  'embeddings.createMany': ({ embeddings }, options, more) =>
    embeddings.createMany({ model: 'm', input: ['Hi'], ...more }, options),
  'audio.speech.create': ({ audio }, options, more) =>
    audio.speech.create({ ...say, voice: 'alloy', ...more }, untyped<object>(options)),
  'audio.transcriptions.create': ({ audio }, options, more) =>
    audio.transcriptions.create({ ...spoken, ...more }, options),
  'audio.translations.create': ({ audio }, options, more) =>
    audio.translations.create({ ...spoken, ...more }, options),
  'images.generate': ({ images }, options, more) =>
    images.generate({ ...picture, ...more }, options),
  'images.edit': ({ images }, options, more) =>
    images.edit({ ...picture, image: 'https://pictures.test/a.png', ...more }, options),
  'images.generateMany': ({ images }, options, more) =>
    images.generateMany([{ ...picture, ...more }], options).next(),
  'images.wait': ({ images }, options) => images.wait('task', options),
  'images.step': ({ images }, options) => images.step('task', undefined, options),
  'videos.create': ({ videos }, options, more) => videos.create({ ...order, ...more }, options),
  'videos.remix': ({ videos }, options, more) =>
    videos.remix('task', { ...order, ...more }, options),
  'videos.retrieve': ({ videos }, options) => videos.retrieve('task', options),
  'videos.retrieveFromVendor': ({ videos }, options) =>
    videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: 'task' }, options),
  'videos.downloadContent': ({ videos }, options) => videos.downloadContent('task', options),
  'videos.wait': ({ videos }, options) => videos.wait('task', options),
  'videos.waitAll': ({ videos }, options) => videos.waitAll(['task'], options).next(),
  'videos.watch': ({ videos }, options) => videos.watch('task', options).next(),
  'videos.step': ({ videos }, options) => videos.step('task', undefined, options),
  'videos.createAndWait': ({ videos }, options, more) =>
    videos.createAndWait({ ...order, ...more }, options),
  'videos.remixAndWait': ({ videos }, options, more) =>
    videos.remixAndWait('task', { ...order, ...more }, options),
  'videos.createAndWaitAll': ({ videos }, options, more) =>
    videos.createAndWaitAll([{ ...order, ...more }], options).next(),
};

/** Every method, with its call. */
export const everyMethod = Object.entries(calls).map(([method, call]) => ({
  method: untyped<Method>(method),
  call,
}));

/** Calls a method. Errors that it throws become rejections. */
export const start = (
  call: Call,
  client: Gateway,
  options?: object,
  more: object = {},
): Promise<unknown> =>
  Promise.resolve().then(async () => call(client, untyped<never>(options), more));
