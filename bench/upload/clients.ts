import { openAsBlob, createReadStream } from 'node:fs';
import type { Column } from '../lib/packages.ts';

/** Uploads a file on disk and gives the number of bytes that the server received. */
export type Upload = (file: string) => Promise<number>;

/** As a `File` whose bytes stay on disk, and as a stream. */
type Uploads = Readonly<Record<'file' | 'stream', Upload>>;
type UploadingClient = (baseURL: string) => Promise<Partial<Uploads>>;

const apiKey = 'benchmark';
const model = 'translation-model';

async function fileOf(path: string): Promise<File> {
  return new File([await openAsBlob(path)], 'speech.mp3', { type: 'audio/mpeg' });
}

export const clients: Readonly<Partial<Record<Column, UploadingClient>>> = {
  'model-gateway': async (baseURL) => {
    const { Gateway } = await import('../lib/model-gateway.ts');
    const { translations } = new Gateway({ apiKey, baseURL }).audio;
    return {
      file: async (path) =>
        Number((await translations.create({ model, file: await fileOf(path) })).text),
      stream: async (path) =>
        Number((await translations.create({ model, file: createReadStream(path) })).text),
    };
  },
  floor: async (baseURL) => ({
    file: async (path) => {
      const body = new FormData();
      body.set('model', model);
      body.set('file', await fileOf(path));
      const response = await fetch(`${baseURL}/audio/translations`, { method: 'POST', body });
      const { text }: { text: string } = JSON.parse(await response.text());
      return Number(text);
    },
  }),
  openai: async (baseURL) => {
    const { default: OpenAI } = await import('openai');
    const { translations } = new OpenAI({ apiKey, baseURL }).audio;
    const send = async (file: File | ReturnType<typeof createReadStream>): Promise<number> =>
      Number((await translations.create({ model, file })).text);
    return {
      file: async (path) => send(await fileOf(path)),
      stream: (path) => send(createReadStream(path)),
    };
  },
  'groq-sdk': async (baseURL) => {
    const { default: Groq } = await import('groq-sdk');
    const { translations } = new Groq({ apiKey, baseURL: baseURL.replace(/\/v1$/, '') }).audio;
    const send = async (file: File | ReturnType<typeof createReadStream>): Promise<number> =>
      Number((await translations.create({ model, file })).text);
    return {
      file: async (path) => send(await fileOf(path)),
      stream: (path) => send(createReadStream(path)),
    };
  },
};
