// User code with types for everything: it has to compile under every compiler.
import OpenAI, {
  APIError,
  Gateway,
  GatewayError,
  InvalidInputError,
  RateLimitError,
  StreamTruncatedError,
  VideoSubmitUnknownError,
  parseVideoTaskRef,
  toFile,
  toStreamingFile,
  type ChatCompletion,
  type ChatCompletionChunk,
  type Drift,
  type GatewayOptions,
  type Outcome,
  type RequestOptions,
  type Stream,
  type Uploadable,
  type VideoTask,
  type VideoTaskRef,
} from 'model-gateway';
import { Chat, createGateway } from 'model-gateway/core';
import { createEmulator, type Emulator } from 'model-gateway/testing';

const emulator: Emulator = createEmulator({ videoDuration: 0 });
const { apiKey, baseURL, fetch } = emulator;
const drifts: Drift[] = [];
const options: GatewayOptions = {
  apiKey,
  baseURL,
  fetch,
  dangerouslyAllowBrowser: true,
  onDrift: (drift) => drifts.push(drift),
};
const client = new Gateway(options);
const alias: Gateway = new OpenAI(options);
const chatAlone = createGateway(options, { chat: Chat });
const request: RequestOptions = { maxRetries: 1, timeout: 10_000, signal: null };

async function chat(): Promise<string> {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'Say hello' },
  ];
  const params: OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming = {
    model: 'm-large',
    messages,
  };
  const completion: ChatCompletion = await client.chat.completions.create(params, request);
  const same: OpenAI.Chat.ChatCompletion = await chatAlone.chat.completions.create(params);
  const calls: OpenAI.Chat.ChatCompletionMessageFunctionToolCall.Function[] = [];
  const limits: OpenAI.RequestOptions & OpenAI.ClientOptions = { maxRetries: calls.length };
  const stream: Stream<ChatCompletionChunk> = await alias.chat.completions.create(
    { ...params, stream: true },
    limits,
  );
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  if (text !== same.choices[0]?.message.content) throw new Error('The texts differ');
  return text;
}

async function media(): Promise<number> {
  const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const image: Uploadable = await toFile(bytes, 'cat.png');
  const streamed: Uploadable = toStreamingFile(new Blob([bytes]).stream(), 'mask.png');
  const edited = await client.images.edit({
    model: 'm-image',
    prompt: 'A hat',
    image,
    mask: streamed,
  });
  const { data } = await client.embeddings.create({ model: 'm-embedding', input: ['a', 'b'] });
  const vector: number[] = data[0]?.embedding ?? [];
  return edited.data.length + vector.length;
}

async function video(): Promise<VideoTask> {
  let saved: VideoTaskRef | undefined;
  try {
    await client.videos.createAndWait(
      { model: 'm-video', prompt: 'A boat', seconds: 4 },
      { onSubmitted: (ref) => void (saved = ref), interval: 250 },
    );
  } catch (error) {
    if (VideoSubmitUnknownError.isInstance(error)) console.error(error.advice);
    throw error;
  }
  return client.videos.retrieve(parseVideoTaskRef(JSON.parse(JSON.stringify(saved))));
}

function explain(error: unknown): string {
  if (RateLimitError.isInstance(error)) return `wait: ${String(error.headers?.get('retry-after'))}`;
  if (StreamTruncatedError.isInstance(error)) return error.verdict;
  if (error instanceof InvalidInputError) return error.field;
  if (APIError.isInstance(error)) return `${String(error.status)} ${String(error.code)}`;
  if (GatewayError.isInstance(error)) {
    const outcome: Outcome = error.outcome;
    return outcome;
  }
  return String(error);
}

async function main(): Promise<void> {
  const text = await chat();
  const count = await media();
  const task = await video();
  const wrong = client.embeddings.create({ model: '', input: '' });
  const field = await wrong.then(() => 'none', explain);
  console.log(`consumer: ${text.length > 0} ${count > 1} ${task.status} ${field}`);
}

await main();
