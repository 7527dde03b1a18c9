// The page of an app, as its author writes it. Vite and Next build it.
import { APIError, Gateway, GatewayError, type ImagesResponse } from 'model-gateway';

// Next loads this on its server too.
const client = new Gateway({ apiKey: null, baseURL: '/api', maxRetries: 0, logLevel: 'off' });

/** The end of a call. */
export interface Told {
  readonly value?: unknown;
  readonly error?: string;
  readonly outcome?: string | undefined;
  readonly message?: string;
  /** The text on the page. */
  readonly said?: unknown;
}

let stop = new AbortController();

async function chat(content: string): Promise<string> {
  const params = { model: 'any', messages: [{ role: 'user' as const, content }] };
  const stream = await client.chat.completions.create(
    { ...params, stream: true },
    { signal: stop.signal },
  );
  const shown = document.createElement('output');
  document.body.append(shown);
  for await (const chunk of stream) shown.append(chunk.choices[0]?.delta.content ?? '');
  return shown.textContent;
}

/** Shows a picture. @returns its width */
async function show({ data: [image] }: ImagesResponse): Promise<number> {
  const shown = new Image();
  shown.src = image?.url ?? `data:image/png;base64,${image?.b64_json ?? ''}`;
  document.body.append(shown);
  await shown.decode();
  return shown.naturalWidth;
}

const calls = {
  chat,
  async whole(content: string) {
    const params = { model: 'any', messages: [{ role: 'user' as const, content }] };
    const { choices } = await client.chat.completions.create(params, { signal: stop.signal });
    return choices[0]?.message.content;
  },
  async draw(prompt: string) {
    return show(await client.images.generate({ model: 'any', prompt }));
  },
  async edit(prompt: string) {
    const canvas = new OffscreenCanvas(64, 64);
    canvas.getContext('2d')?.fillRect(0, 0, 64, 64);
    const image = await canvas.convertToBlob();
    return show(await client.images.edit({ model: 'any', prompt, image }));
  },
  async speak(input: string) {
    const speech = await client.audio.speech.create({ model: 'any', voice: 'alloy', input });
    const bytes = new Uint8Array(await speech.arrayBuffer());
    return { type: speech.headers.get('content-type'), first: [...bytes.subarray(0, 3)] };
  },
  video: async (prompt: string) => (await client.videos.create({ model: 'any', prompt })).status,
  embed: async (input: string) =>
    (await client.embeddings.create({ model: 'any', input })).data.length,
  generate: async (contents: string) =>
    (await client.generate.content({ model: 'any', contents })).text,
  /** Forbidden by a strict policy. */
  async makeCode(code: string) {
    // Scripts injected from outside bypass the policy, and so does everything after them.
    await new Promise((resolve) => setTimeout(resolve));
    return Reflect.apply(Reflect.construct(Function, [code]), undefined, []);
  },
};

/** Commands to the page. */
export const app = {
  use(apiKey: string | null, baseURL: string): void {
    const asked = apiKey === null ? null : () => apiKey;
    Object.assign(client, { apiKey: asked, baseURL });
  },
  stop: (): void => stop.abort(),
  async call(name: keyof typeof calls, words: string): Promise<Told> {
    stop = new AbortController();
    try {
      return { value: await calls[name](words) };
    } catch (caught) {
      if (!GatewayError.isInstance(caught)) return { message: String(caught) };
      const { name: error, outcome, message } = caught;
      const said = APIError.isInstance(caught) ? Object(caught.error).message : undefined;
      return { error, outcome, message, said };
    }
  },
};

/** Lets the page be told. */
export function start(): void {
  Object.assign(globalThis, { app });
  document.title = 'Ready';
}
