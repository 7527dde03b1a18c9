import type { Gateway } from '../../src/index.ts';
import { collect } from '../helpers/clients.ts';
import { ask } from '../helpers/every-method.ts';
import { type Form, words } from './forms.ts';

const contents = { model: 'm-chat', contents: 'Hi' };
const say = { model: 'm', input: 'Hi' };
const order = { model: 'm-video', prompt: 'A boat' };
const picture = { model: 'm-image', prompt: 'A boat' };
const speech = { ...say, voice: 'alloy' };
const edit = { ...picture, image: 'https://pictures.test/a.png' };
const spoken = () => ({
  model: 'm',
  file: new File([new Uint8Array([0x49, 0x44, 0x33, 4])], 'a.mp3'),
});

/** What a caller asks a gateway for, by a client or a program. */
export interface Asked {
  /**
   * `whole`: one answer. `stream`: events. `poll`: polls a task until the wait ends. `status`: polls it
   * once. `submit`: creates one.
   */
  readonly kind: 'whole' | 'stream' | 'poll' | 'status' | 'submit';
  readonly charge: 'charged' | 'free';
  /**
   * What is a result here, whatever it says: text that is no page, any JSON too, or bytes. `json` is text, and JSON
   * that does not say that something failed; `events` are objects that do not say so.
   */
  readonly takes: 'text' | 'anything' | 'bytes' | 'json' | 'events' | undefined;
}

/** A way to ask a gateway for something, up to the end of the answer. */
export interface Door extends Asked {
  readonly name: string;
  readonly open: (client: Gateway) => Promise<unknown>;
}

/** Returns whether a form is a result of a door. */
export function isResult({ takes, kind }: Asked, form: Form): boolean {
  const { body, isMild, isTask, words: own } = form;
  // A paid task is not given up because of a body that does not say that something failed.
  if (kind === 'status') return isMild === true || isTask === true;
  if (takes === 'events') return isMild === true || body === '[{}]';
  if (takes === 'json' && (isMild === true || (typeof body === 'string' && !body.startsWith('<'))))
    return true;
  // Silence is an empty text.
  if (takes === 'anything' && (own === '' || (isMild === true && !own.includes(words))))
    return true;
  return takes !== undefined && typeof body === 'string' && /^[^<[n\s]/.test(body);
}

/** Returns whether nothing was done, so that nothing was paid. */
export function isFree({ kind }: Asked, { code, isRefused, isTaskError }: Form, isEvent: boolean) {
  if (isRefused === true || (kind === 'submit' && isTaskError === true)) return true;
  return isEvent && /^4\d\d$/.test(code ?? '');
}

const door = (
  name: string,
  kind: Door['kind'],
  charge: Door['charge'],
  open: Door['open'],
  takes?: Door['takes'],
): Door => ({ name, kind, charge, open, takes });

const read = async (stream: PromiseLike<AsyncIterable<unknown>>): Promise<unknown> =>
  collect(await stream);

export const doors: readonly Door[] = [
  door('chat', 'whole', 'charged', ({ chat }) => chat.completions.create(ask)),
  door('chat stream', 'stream', 'charged', ({ chat }) =>
    read(chat.completions.create({ ...ask, stream: true })),
  ),
  door('chat helper', 'stream', 'charged', ({ chat }) =>
    chat.completions.stream(ask).finalCompletion(),
  ),
  door('parse', 'whole', 'charged', ({ chat }) => chat.completions.parse(ask)),
  door('runTools', 'whole', 'charged', ({ chat }) =>
    chat.completions.runTools({ ...ask, tools: [] }).finalCompletion(),
  ),
  door('generate', 'whole', 'charged', ({ generate }) => generate.content(contents)),
  door('generate stream', 'stream', 'charged', ({ generate }) =>
    read(generate.contentStream(contents)),
  ),
  door('responses', 'whole', 'charged', ({ responses }) => responses.create(say)),
  door('responses stream', 'stream', 'charged', ({ responses }) =>
    read(responses.create({ ...say, stream: true })),
  ),
  door('embeddings', 'whole', 'charged', ({ embeddings }) => embeddings.create(say)),
  door('images', 'whole', 'charged', ({ images }) => images.generate(picture)),
  door('images stream', 'stream', 'charged', ({ images }) =>
    read(images.generate({ ...picture, stream: true })),
  ),
  door('edit', 'whole', 'charged', ({ images }) => images.edit(edit)),
  door('images poll', 'poll', 'charged', ({ images }) => images.wait('task')),
  door('speech', 'whole', 'charged', ({ audio }) => audio.speech.create(speech), 'bytes'),
  door('speech stream', 'stream', 'charged', ({ audio }) =>
    read(audio.speech.create({ ...speech, stream_format: 'sse' })),
  ),
  door(
    'transcription',
    'whole',
    'charged',
    ({ audio }) => audio.transcriptions.create(spoken()),
    'text',
  ),
  door(
    'transcription as text',
    'whole',
    'charged',
    ({ audio }) => audio.transcriptions.create({ ...spoken(), response_format: 'text' }),
    'anything',
  ),
  door(
    'transcription stream',
    'stream',
    'charged',
    ({ audio }) => read(audio.transcriptions.create({ ...spoken(), stream: true })),
    'text',
  ),
  door(
    'translation',
    'whole',
    'charged',
    ({ audio }) => audio.translations.create(spoken()),
    'text',
  ),
  door('video', 'submit', 'charged', ({ videos }) => videos.create(order)),
  door('remix', 'submit', 'charged', ({ videos }) => videos.remix('task', { prompt: 'A boat' })),
  door('video poll', 'poll', 'charged', ({ videos }) => videos.wait('task')),
  door('videos.waitAll()', 'poll', 'charged', async ({ videos }) => {
    for await (const result of videos.waitAll(['task'])) if (result.error) throw result.error;
  }),
  door('video status', 'status', 'free', ({ videos }) => videos.retrieve('task')),
  door('video content', 'whole', 'free', ({ videos }) => videos.downloadContent('task'), 'bytes'),
  door(
    'chat by path',
    'whole',
    'charged',
    (client) => client.post('/v1/chat/completions', { body: ask }),
    'json',
  ),
  door(
    'chat stream by path',
    'stream',
    'charged',
    (client) =>
      read(client.post('/v1/chat/completions', { body: { ...ask, stream: true }, stream: true })),
    'events',
  ),
  door('models', 'whole', 'free', ({ models }) => models.list()),
  door('model', 'whole', 'free', ({ models }) => models.retrieve('m')),
];
