import { Gateway } from '../../src/index.ts';
import type { Method } from '../../src/options/methods.ts';
import { untyped } from './untyped.ts';

export const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
const contents = { model: 'm-chat', contents: 'Hi' };
const say = { model: 'm', input: 'Hi' };
const order = { model: 'm-video', prompt: 'A boat' };
const picture = { model: 'm-image', prompt: 'A boat' };
const file = new File([new Uint8Array([0x49, 0x44, 0x33, 4])], 'a.mp3');
const spoken = { model: 'm-audio', file };

export type Call = (client: Gateway, options: never) => unknown;

/** Each method, called with options as JavaScript can. */
export const calls: Readonly<Record<Method, Call>> = {
  client: (_, options) => new Gateway(options),
  account: ({ account }, options) => account.balance(options),
  request: (client, options) => client.post('/v1/responses', options),
  'models.list': ({ models }, options) => models.list(options),
  'models.retrieve': ({ models }, options) => models.retrieve('m', options),
  'chat.completions.create': ({ chat }, options) => chat.completions.create(ask, options),
  'chat.completions.parse': ({ chat }, options) => chat.completions.parse(ask, options),
  'chat.completions.stream': ({ chat }, options) => chat.completions.stream(ask, options).done(),
  'chat.completions.runTools': ({ chat }, options) =>
    chat.completions.runTools({ ...ask, tools: [] }, options).done(),
  'responses.create': ({ responses }, options) => responses.create(say, options),
  'responses.parse': ({ responses }, options) => responses.parse(say, options),
  'generate.content': ({ generate }, options) => generate.content(contents, options),
  'generate.contentStream': ({ generate }, options) => generate.contentStream(contents, options),
  'generate.runTools': ({ generate }, options) =>
    generate.runTools({ ...contents, functions: [] }, options),
  'embeddings.create': ({ embeddings }, options) =>
    embeddings.create({ model: 'm', input: 'Hi' }, untyped<object>(options)),
  'embeddings.createForEngine': ({ embeddings }, options) =>
    embeddings.createForEngine({ model: 'm', input: 'Hi' }, untyped<object>(options)),
  'embeddings.createMany': ({ embeddings }, options) =>
    embeddings.createMany({ model: 'm', input: ['Hi'] }, options),
  'audio.speech.create': ({ audio }, options) =>
    audio.speech.create({ model: 'm', voice: 'alloy', input: 'Hi' }, untyped<object>(options)),
  'audio.transcriptions.create': ({ audio }, options) =>
    audio.transcriptions.create(spoken, options),
  'audio.translations.create': ({ audio }, options) => audio.translations.create(spoken, options),
  'images.generate': ({ images }, options) => images.generate(picture, options),
  'images.edit': ({ images }, options) =>
    images.edit({ ...picture, image: 'https://pictures.test/a.png' }, options),
  'images.generateMany': ({ images }, options) => images.generateMany([picture], options).next(),
  'images.wait': ({ images }, options) => images.wait('task', options),
  'images.step': ({ images }, options) => images.step('task', undefined, options),
  'videos.create': ({ videos }, options) => videos.create(order, options),
  'videos.remix': ({ videos }, options) => videos.remix('task', order, options),
  'videos.retrieve': ({ videos }, options) => videos.retrieve('task', options),
  'videos.retrieveFromVendor': ({ videos }, options) =>
    videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: 'task' }, options),
  'videos.downloadContent': ({ videos }, options) => videos.downloadContent('task', options),
  'videos.wait': ({ videos }, options) => videos.wait('task', options),
  'videos.waitAll': ({ videos }, options) => videos.waitAll(['task'], options).next(),
  'videos.watch': ({ videos }, options) => videos.watch('task', options).next(),
  'videos.step': ({ videos }, options) => videos.step('task', undefined, options),
  'videos.createAndWait': ({ videos }, options) => videos.createAndWait(order, options),
  'videos.remixAndWait': ({ videos }, options) => videos.remixAndWait('task', order, options),
  'videos.createAndWaitAll': ({ videos }, options) =>
    videos.createAndWaitAll([order], options).next(),
};

/** Every method, with its call. */
export const everyMethod = Object.entries(calls).map(([method, call]) => ({
  method: untyped<Method>(method),
  call,
}));

/** Calls a method. Errors that it throws become rejections. */
export const start = (call: Call, client: Gateway, options: object): Promise<unknown> =>
  Promise.resolve().then(async () => call(client, untyped<never>(options)));
