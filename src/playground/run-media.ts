import type {
  EmbeddingsCreateManyParams,
  Gateway,
  ImageEditParamsNonStreaming,
  ImagesResponse,
  SpeechCreateParamsFile,
  TranslationCreateParams,
} from '../index.ts';
import { formatOfBytes, mainExtension } from '../answers/bytes.ts';
import type { LiveCall } from './live-call.ts';

/** What a file is, by its bytes first. A page must never take what a gateway sends for a page. */
function describe(bytes: Uint8Array, stated: string): { type: string; extension: string } {
  const format = formatOfBytes(bytes);
  const extension = format === undefined ? 'bin' : mainExtension(format);
  const known = format?.types[extension];
  const [named = ''] = stated.split(';');
  const isMedia = /^(image|audio|video)\/[\w.+-]+$/.test(named);
  return { type: known ?? (isMedia ? named : 'application/octet-stream'), extension };
}

/** How long an image that the gateway names by its address may take, in milliseconds. */
const downloadTime = 60_000;

/** The bytes of an image; nothing when its address cannot be read. The key stays here. */
async function download(url: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(downloadTime) });
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined;
  } catch {
    return undefined;
  }
}

function requestImages(call: LiveCall, gateway: Gateway): PromiseLike<ImagesResponse> {
  const { files, signal } = call;
  const image = files.get('image');
  if (image === undefined) {
    return gateway.images.generate(call.params, { signal });
  }
  const mask = files.get('mask')?.[0];
  const params: ImageEditParamsNonStreaming = call.params;
  return gateway.images.edit(
    {
      ...params,
      image: image.length === 1 && image[0] !== undefined ? image[0] : image,
      ...(mask === undefined ? {} : { mask }),
    },
    { signal },
  );
}

/** Makes or edits images, and keeps each of them. */
export async function runImages(call: LiveCall, gateway: Gateway): Promise<void> {
  const { data, usage, _request_id: requestId } = await requestImages(call, gateway);
  if (requestId != null) call.set({ requestId });
  if (usage) call.set({ usage: { input: usage.input_tokens, output: usage.output_tokens } });
  const said = data.find(({ revised_prompt: text = '' }) => text !== '')?.revised_prompt;
  if (said !== undefined) call.set({ text: said });
  for (const [index, { b64_json: base64 = '', url = '' }] of data.entries()) {
    const bytes =
      base64 === '' ? await download(url) : new Uint8Array(Buffer.from(base64, 'base64'));
    if (bytes === undefined) call.set({ links: [...call.view.links, url] });
    else {
      const { type, extension } = describe(bytes, '');
      await call.keep(`image-${index + 1}.${extension}`, type, bytes);
    }
  }
}

/** Speaks a text, and keeps the sound. */
export async function runSpeech(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: SpeechCreateParamsFile = call.params;
  const answer = await gateway.audio.speech.create(params, { signal: call.signal });
  call.set({ firstAt: Date.now() });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const stated = answer.headers.get('content-type') ?? '';
  const { type, extension } = describe(bytes, stated);
  await call.keep(`speech.${extension}`, type, bytes);
}

/** Translates what is said in a file. */
export async function runTranslation(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: Omit<TranslationCreateParams, 'file'> = call.params;
  const [file] = call.files.get('file') ?? [];
  // Without a file the client says what is missing.
  const wanted: TranslationCreateParams = { ...params, file: file ?? new File([], '') };
  const answer = await gateway.audio.translations.create(wanted, { signal: call.signal });
  call.add(typeof answer === 'string' ? answer : answer.text, '');
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, squaresOfA, squaresOfB] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x = 0, y = 0] = [a[index], b[index]];
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  return product / (Math.sqrt(squaresOfA * squaresOfB) || 1);
}

/** Embeds texts, and says how alike they are. */
export async function runEmbeddings(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: EmbeddingsCreateManyParams = call.params;
  const { vectors, usage } = await gateway.embeddings.createMany(params, { signal: call.signal });
  const rows = vectors.map((a) => vectors.map((b) => Math.round(cosine(a, b) * 1e4) / 1e4));
  call.set({
    similarity: { dimensions: vectors[0]?.length ?? 0, rows },
    usage: { input: usage.prompt_tokens, output: 0 },
  });
}
