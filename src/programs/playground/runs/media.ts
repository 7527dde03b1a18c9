import type {
  EmbeddingsCreateManyParams,
  Gateway,
  Image,
  ImageEditParamsNonStreaming,
  ImagesResponse,
  SpeechCreateParamsFile,
  TranscriptionCreateParamsNonStreaming,
  TranslationCreateParams,
} from '../../../index.ts';
import { findFormatByBytes, defaultExtension } from '../../../answers/bytes.ts';
import { type LiveCall, countTokens } from '../live-call.ts';

/** Returns the type of a file, detected from its bytes. Never a type that a browser would run as a page. */
function describe(bytes: Uint8Array, contentType: string): { type: string; extension: string } {
  const format = findFormatByBytes(bytes);
  const extension = format === undefined ? 'bin' : defaultExtension(format);
  const known = format?.types[extension];
  const [declared = ''] = contentType.split(';');
  const isMedia = /^(image|audio|video)\/[\w.+-]+$/.test(declared);
  return { type: known ?? (isMedia ? declared : 'application/octet-stream'), extension };
}

/** Time limit for the download of an image, in milliseconds. */
const downloadTime = 60_000;

/** Downloads an image without the key. Returns `undefined` if that fails. */
async function download(url: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(downloadTime) });
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined;
  } catch {
    return undefined;
  }
}

/** Stores images. Those that cannot be downloaded become links. */
export async function keepImages(call: LiveCall, images: readonly Image[]): Promise<void> {
  for (const [index, { b64_json: base64 = '', url = '' }] of images.entries()) {
    const bytes =
      base64 === '' ? await download(url) : new Uint8Array(Buffer.from(base64, 'base64'));
    if (bytes === undefined) call.set({ links: [...call.view.links, url] });
    else {
      const { type, extension } = describe(bytes, '');
      await call.keep(`image-${index + 1}.${extension}`, type, bytes);
    }
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

/** Creates or edits images, and stores them. */
export async function runImages(call: LiveCall, gateway: Gateway): Promise<void> {
  const { data, usage, _request_id: requestId } = await requestImages(call, gateway);
  if (requestId != null) call.set({ requestId });
  if (usage) call.set({ usage: countTokens(usage) });
  const revisedPrompt = data.find(({ revised_prompt: text = '' }) => text !== '')?.revised_prompt;
  if (revisedPrompt !== undefined) call.set({ text: revisedPrompt });
  await keepImages(call, data);
}

/** Converts text to speech, and stores the audio. */
export async function runSpeech(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: SpeechCreateParamsFile = call.params;
  const { data: answer, request_id: requestId } = await gateway.audio.speech
    .create(params, { signal: call.signal })
    .withResponse();
  if (requestId !== null) call.set({ requestId });
  call.set({ firstAt: Date.now() });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const contentType = answer.headers.get('content-type') ?? '';
  const { type, extension } = describe(bytes, contentType);
  await call.keep(`speech.${extension}`, type, bytes);
}

/** Transcribes the speech in a file. */
export async function runTranscription(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: Omit<TranscriptionCreateParamsNonStreaming, 'file'> = call.params;
  const [file] = call.files.get('file') ?? [];
  // Without a file, the client throws an error that names the parameter.
  const withFile: TranscriptionCreateParamsNonStreaming = {
    ...params,
    file: file ?? new File([], ''),
  };
  const { data: answer, request_id: requestId } = await gateway.audio.transcriptions
    .create(withFile, { signal: call.signal })
    .withResponse();
  if (requestId !== null) call.set({ requestId });
  if (typeof answer === 'string') call.add(answer, '');
  else if ('text' in answer) call.add(answer.text, '');
}

/** Translates the speech in a file. */
export async function runTranslation(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: Omit<TranslationCreateParams, 'file'> = call.params;
  const [file] = call.files.get('file') ?? [];
  // Without a file, the client throws an error that names the parameter.
  const withFile: TranslationCreateParams = { ...params, file: file ?? new File([], '') };
  const { data: answer, request_id: requestId } = await gateway.audio.translations
    .create(withFile, { signal: call.signal })
    .withResponse();
  if (requestId !== null) call.set({ requestId });
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

/** Embeds texts, and computes their similarity. */
export async function runEmbeddings(call: LiveCall, gateway: Gateway): Promise<void> {
  const params: EmbeddingsCreateManyParams = call.params;
  const { vectors, usage } = await gateway.embeddings.createMany(params, { signal: call.signal });
  const rows = vectors.map((a) => vectors.map((b) => Math.round(cosine(a, b) * 1e4) / 1e4));
  call.set({
    similarity: { dimensions: vectors[0]?.length ?? 0, rows },
    usage: countTokens(usage),
  });
}
