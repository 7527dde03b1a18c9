import { isObject, parseJSON, toFields } from '../../../answers/objects.ts';
import {
  APIError,
  BadRequestError,
  type ChatCompletionMessageParam,
  type ChatCompletionTool,
  type Gateway,
  type GatewayProfile,
  GatewayError,
  type Operation,
  type VideoTask,
} from '../../../index.ts';
import { parseBody, type Exchange, isEvents } from './exchanges.ts';
import {
  chatFacts,
  chatStreamFacts,
  embeddingFacts,
  type Facts,
  geminiFacts,
  geminiStreamFacts,
  imageFacts,
  imageStreamFacts,
  readImageTask,
  readStreamEnd,
  speechFacts,
  toolFacts,
  transcriptFacts,
} from './facts.ts';
import type { ModelKind } from './models.ts';
import { createPicture, createSound, prompts, toDataURL } from './samples.ts';
import { contentFacts, vendorFacts, videoFacts } from './video-facts.ts';

/** The most that a call can be charged for. */
export interface Work {
  /** @defaultValue 1 */
  readonly requests?: number;
  /** Tokens of all requests; for speech, characters. */
  readonly input?: number;
  readonly output?: number;
  readonly images?: number;
  /** The call makes a video of the length of `videoSeconds()`. */
  readonly isVideo?: boolean;
}

/** Results of calls that later calls use. */
export interface Shared {
  /** The parameter that limits the output of the chat model. */
  tokenLimit: 'max_tokens' | 'max_completion_tokens';
  speech?: File;
  video?: VideoTask;
}

/** Everything that a call needs. */
interface CallContext {
  readonly client: Gateway;
  readonly profile: GatewayProfile | undefined;
  readonly model: string;
  readonly shared: Shared;
  /** The requests of the call so far, and their responses. */
  readonly exchanges: readonly Exchange[];
  /** Time limit of the call, in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Called with a task that continues if the report ends. */
  readonly onTask: (id: string) => void;
}

/** The response arrived, but not what was requested. */
export class CallFailure extends Error {
  readonly isUnsupported: boolean;

  constructor(message: string, isUnsupported = false) {
    super(message);
    this.isUnsupported = isUnsupported;
  }
}

/** A row that a call adds without another request. */
export interface ExtraRow {
  readonly id: string;
  readonly status: 'pass' | 'fail' | 'unsupported';
  readonly detail: string;
}

/** A call of a report. */
export interface ReportCall {
  readonly id: string;
  readonly operation: Operation;
  readonly kind: ModelKind;
  readonly work: Work;
  /** The time limit, in multiples of the limit of a free request. */
  readonly patience: number;
  /** Makes the call as a program would. Throws unless it returns what was requested. */
  readonly run: (context: CallContext) => Promise<unknown>;
  /** Reads the response of the last paid request that succeeded, or of the last request. */
  readonly facts: (answer: Exchange, context: CallContext) => Facts;
  readonly extraRows?: (answer: Exchange, context: CallContext) => readonly ExtraRow[];
  /** Returns the reason why the call cannot be made, if there is one. */
  readonly lacks?: (shared: Shared) => string | undefined;
  /** Errors which mean that the gateway serves something else on this route. */
  readonly foreign?: RegExp;
}

function must(holds: boolean, problem: string, isUnsupported = false): asserts holds {
  if (!holds) throw new CallFailure(problem, isUnsupported);
}

const ask = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }];

/**
 * Makes a chat request with a limit for its output.
 *
 * Models differ in the name of the limit. A request with the wrong one is rejected before any work.
 */
async function withLimit<T>(
  { shared }: CallContext,
  tokens: number,
  request: (limit: Partial<Record<Shared['tokenLimit'], number>>) => PromiseLike<T>,
): Promise<T> {
  try {
    return await request({ [shared.tokenLimit]: tokens });
  } catch (error) {
    const isName = BadRequestError.isInstance(error) && /max_completion_tokens/.test(error.message);
    if (!isName || shared.tokenLimit !== 'max_tokens') throw error;
    shared.tokenLimit = 'max_completion_tokens';
    return request({ [shared.tokenLimit]: tokens });
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function chat(
  context: CallContext,
  messages: readonly ChatCompletionMessageParam[],
  tokens: number,
  params: object = {},
) {
  const { client, model } = context;
  const completion = await withLimit(context, tokens, (limit) =>
    client.chat.completions.create({ model, messages: [...messages], ...limit, ...params }),
  );
  must(completion.choices.length > 0, 'the response has no choice');
  return completion;
}

const functionTool = (name: string): ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    description: `Returns the ${name.replace('get_', '')} in a city.`,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
});

const tools = [functionTool('get_weather'), functionTool('get_time')];

/** Lets the model call tools in a stream, and sends it their results. */
async function useTools(context: CallContext): Promise<void> {
  const { client, model } = context;
  const messages = ask(prompts.tools);
  const first = await withLimit(context, 100, (limit) =>
    client.chat.completions.stream({ model, messages, tools, ...limit }).finalChatCompletion(),
  );
  const message = first.choices[0]?.message;
  const calls = message?.tool_calls?.filter((call) => call.type === 'function') ?? [];
  must(message !== undefined && calls.length > 0, 'the model called no tool');
  const hasArguments = calls.every((call) => isObject(parseJSON(call.function.arguments)));
  must(hasArguments, 'the arguments of a tool are not JSON');
  const results = calls.map(({ id }): ChatCompletionMessageParam => ({
    role: 'tool',
    tool_call_id: id,
    content: '{"value":"18"}',
  }));
  await chat(context, [...messages, message, ...results], 32, { tools });
}

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, country: { type: 'string' } },
  required: ['city', 'country'],
  additionalProperties: false,
} as const;

async function askForJSON(
  context: CallContext,
  format: object,
  mode: 'json_schema' | 'json_object',
) {
  const client = context.client.withOptions({ structuredOutput: mode });
  const completion = await chat({ ...context, client }, ask(prompts.schema), 64, {
    response_format: format,
  });
  const text = completion.choices[0]?.message.content ?? '';
  must(isObject(parseJSON(text)), 'the content is not a JSON object');
}

/** Returns whether a completion shows that the model has reasoned. */
function showsReasoning(facts: Facts, answer: Exchange): boolean {
  const { completion_tokens_details: details } = toFields(parseBody(answer)['usage']);
  const count = toFields(details)['reasoning_tokens'];
  return (
    facts.some((fact) => fact.startsWith('reasoning')) || (typeof count === 'number' && count > 0)
  );
}

const inputs = [prompts.firstText, prompts.secondText] as const;

/** Requests the vectors of two inputs. */
async function embed(
  { client, model }: CallContext,
  method: 'create' | 'createForEngine',
  encoding: 'float' | 'base64',
  input: readonly string[] | readonly (readonly number[])[] = inputs,
): Promise<void> {
  const params = { model, input, encoding_format: encoding };
  const { data } = await client.embeddings[method](params);
  must(data.length === inputs.length, 'not one vector for each input');
  must(
    data.every(({ embedding }) => embedding.length > 0),
    'a vector is empty',
  );
}

/** Qualities of models that know this parameter. Others may reject it. */
const cheapest = (model: string): object => (/gpt-image/i.test(model) ? { quality: 'low' } : {});

const mayHavePicture = ({ data }: { readonly data: readonly object[] }): boolean => data.length > 0;

const imageOptions = ({ timeout }: CallContext) => ({ taskTimeout: timeout });

/** Returns whether a gateway has a parameter of an operation. */
const hasParam = (
  profile: GatewayProfile | undefined,
  operation: Operation,
  name: string,
): boolean => profile?.requests?.[operation]?.names?.[name] !== null;

async function editAsForm(context: CallContext): Promise<void> {
  const { client, model, profile } = context;
  const isJSON = profile?.requests?.['images.edit']?.body === 'json';
  must(!isJSON, 'this gateway takes edits as JSON alone', true);
  const params = { model, prompt: prompts.edit, image: await createPicture(), ...cheapest(model) };
  let response;
  try {
    response = await client.images.edit(
      { ...params, response_format: 'b64_json' },
      imageOptions(context),
    );
  } catch (error) {
    const isFormat =
      GatewayError.isInstance(error) &&
      error.outcome === 'rejected' &&
      /response_format/.test(error.message);
    if (!isFormat) throw error;
    response = await client.images.edit(params, imageOptions(context));
  }
  must(mayHavePicture(response), 'the response has no image');
}

async function editAsJSON(context: CallContext): Promise<void> {
  const { client, model } = context;
  const image_url = await toDataURL(await createPicture());
  const params = { model, prompt: prompts.edit, images: [{ image_url }], ...cheapest(model) };
  must(
    mayHavePicture(await client.images.edit(params, imageOptions(context))),
    'the response has no image',
  );
}

async function streamImage(context: CallContext): Promise<void> {
  const { client, model, profile } = context;
  const partial = hasParam(profile, 'images.generate', 'partial_images')
    ? { partial_images: 1 }
    : {};
  const params = {
    model,
    prompt: prompts.image,
    stream: true,
    ...partial,
    ...cheapest(model),
  } as const;
  const events = await collect(await client.images.generate(params, imageOptions(context)));
  must(events.length > 0, 'the stream has no image');
  const answer = context.exchanges.findLast(({ method }) => method === 'POST');
  must(answer !== undefined && isEvents(answer), 'JSON in place of events', true);
}

const rejectsFormat = ({ exchanges }: CallContext): Facts =>
  exchanges.some(({ status, text }) => status >= 400 && text.includes('response_format'))
    ? ['rejects response_format']
    : [];

function imageRows(_: Exchange, { exchanges }: CallContext): readonly ExtraRow[] {
  const id = 'call.image-task';
  const posts = exchanges.findIndex(({ method, status }) => method === 'POST' && status < 300);
  const task = readImageTask(exchanges.slice(Math.max(0, posts)));
  if (task === undefined) {
    return [{ id, status: 'unsupported', detail: 'the response has the images, not a task' }];
  }
  const detail = `${task.shape}; ${task.route}`;
  return [{ id, status: task.isFound ? 'pass' : 'fail', detail }];
}

async function speak(context: CallContext): Promise<void> {
  const { client, model, shared } = context;
  const params = { model, voice: 'alloy', input: prompts.speech, response_format: 'mp3' } as const;
  const response = await client.audio.speech.create(params);
  const bytes = await response.arrayBuffer();
  must(bytes.byteLength > 0, 'the file is empty');
  shared.speech = new File([bytes], 'speech.mp3', { type: 'audio/mpeg' });
}

const soundFor = ({ shared }: CallContext): File => shared.speech ?? createSound();

/** Lengths that vendors of videos accept, in seconds, the shortest of each. */
const shortest: readonly (readonly [names: RegExp, seconds: string])[] = [
  [/sora|veo/i, '4'],
  [/hailuo|minimax/i, '6'],
];

/** Returns the length of the video that a report requests from a model, in seconds. */
export const videoSeconds = (model: string): string =>
  shortest.find(([names]) => names.test(model))?.[1] ?? '5';

/** Submits a video once as a form, and as JSON if the form was rejected before any work. */
async function submitVideo({ client, model, profile }: CallContext): Promise<VideoTask> {
  const params = { model, prompt: prompts.video, seconds: videoSeconds(model) };
  try {
    return await client.videos.create(params);
  } catch (error) {
    const isJSON = profile?.requests?.['videos.create']?.body === 'json';
    const isRejected = BadRequestError.isInstance(error) && error.outcome === 'rejected';
    const isForm = APIError.isInstance(error) && error.status === 415;
    if (isJSON || !(isRejected || isForm)) throw error;
    return client.videos.create(params, { bodyFormat: 'json' });
  }
}

async function makeVideo(context: CallContext): Promise<void> {
  const { client, shared, timeout, signal, onTask } = context;
  const task = await submitVideo(context);
  onTask(task.id);
  // Shows what the gateway sends before a video is made.
  await client.videos.retrieve(task, { signal }).catch(() => undefined);
  shared.video = await client.videos.wait(task, { timeout, signal });
}

async function readContent({ client, shared }: CallContext): Promise<void> {
  const { video } = shared;
  if (video === undefined) return;
  const response = await client.videos.downloadContent(
    video,
    {},
    { headers: { range: 'bytes=0-99' } },
  );
  const reader = response.body?.getReader();
  const first = await reader?.read();
  // A gateway that ignores the range sends the whole video.
  await reader?.cancel();
  must(first?.done === false, 'the file is empty');
}

async function readFromVendor({ client, shared }: CallContext): Promise<void> {
  const { video } = shared;
  if (video === undefined) return;
  await client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: video.id });
}

const needsVideo = ({ video }: Shared): string | undefined =>
  video === undefined ? 'requires a completed video' : undefined;

const text = { kind: 'chat', operation: 'chat.completions.create', patience: 6 } as const;
const embedding = { kind: 'embedding', patience: 6, work: { input: 50 } } as const;
const image = { kind: 'image', patience: 30, work: { images: 1 } } as const;

/** The calls of a report, in their order. */
export const reportCalls: readonly ReportCall[] = [
  {
    ...embedding,
    id: 'embeddings',
    operation: 'embeddings.create',
    run: (context) => embed(context, 'create', 'float'),
    facts: (answer) => embeddingFacts(answer, 'float', inputs.length),
  },
  {
    ...embedding,
    id: 'embeddings-base64',
    operation: 'embeddings.create',
    run: (context) => embed(context, 'create', 'base64'),
    facts: (answer) => embeddingFacts(answer, 'base64', inputs.length),
  },
  {
    ...embedding,
    id: 'embeddings-tokens',
    operation: 'embeddings.create',
    run: (context) => embed(context, 'create', 'float', [[9906], [1917]]),
    facts: (answer) => embeddingFacts(answer, 'float', inputs.length),
  },
  {
    ...embedding,
    id: 'embeddings-engine',
    operation: 'embeddings.createForEngine',
    run: (context) => embed(context, 'createForEngine', 'float'),
    facts: (answer) => embeddingFacts(answer, 'float', inputs.length),
    foreign: /contents is required/i,
  },
  {
    ...embedding,
    id: 'embeddings-engine-base64',
    operation: 'embeddings.createForEngine',
    run: (context) => embed(context, 'createForEngine', 'base64'),
    facts: (answer) => embeddingFacts(answer, 'base64', inputs.length),
    foreign: /contents is required/i,
  },
  {
    ...text,
    id: 'chat',
    work: { input: 50, output: 16 },
    run: (context) => chat(context, ask(prompts.word), 16),
    facts: chatFacts,
  },
  {
    ...text,
    id: 'chat-stream',
    work: { input: 60, output: 120 },
    run: async (context) => {
      const { client, model } = context;
      const stream = await withLimit(context, 120, (limit) =>
        client.chat.completions.create({
          model,
          messages: ask(prompts.count),
          stream: true,
          stream_options: { include_usage: true },
          ...limit,
        }),
      );
      await collect(stream);
    },
    facts: chatStreamFacts,
    extraRows: (answer) => {
      if (!isEvents(answer)) return [];
      const { isComplete, facts } = readStreamEnd(answer);
      const status = isComplete ? 'pass' : 'fail';
      return [{ id: 'call.chat-stream-end', status, detail: facts.join('; ') }];
    },
  },
  {
    ...text,
    id: 'tools',
    work: { requests: 2, input: 600, output: 132 },
    run: useTools,
    facts: (answer, { exchanges }) => {
      const streamed = exchanges.find(({ method, status }) => method === 'POST' && status < 300);
      return toolFacts(streamed ?? answer);
    },
  },
  {
    ...text,
    id: 'json-schema',
    work: { input: 150, output: 64 },
    run: (context) =>
      askForJSON(
        context,
        { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
        'json_schema',
      ),
    facts: chatFacts,
  },
  {
    ...text,
    id: 'json-object',
    work: { input: 60, output: 64 },
    run: (context) => askForJSON(context, { type: 'json_object' }, 'json_object'),
    facts: chatFacts,
  },
  {
    ...text,
    id: 'reasoning',
    kind: 'reasoning',
    work: { input: 50, output: 400 },
    run: async (context) => {
      await chat(context, ask(prompts.think), 400);
      const answer = context.exchanges.findLast(({ status }) => status < 300);
      const isShown = answer !== undefined && showsReasoning(chatFacts(answer), answer);
      must(isShown, 'neither reasoning nor a count of its tokens', true);
    },
    facts: chatFacts,
  },
  {
    ...text,
    id: 'cache-control',
    work: { input: 60, output: 16 },
    run: (context) => {
      const cache_control = { type: 'ephemeral' } as const;
      const content = [{ type: 'text', text: prompts.word, cache_control } as const];
      return chat(context, [{ role: 'user', content }], 16);
    },
    facts: (answer) => {
      const { prompt_tokens_details: details } = toFields(parseBody(answer)['usage']);
      const isCounted = toFields(details)['cached_tokens'] !== undefined;
      return [...chatFacts(answer), ...(isCounted ? ['usage counts cached tokens'] : [])];
    },
  },
  {
    ...text,
    id: 'vision',
    work: { input: 2_000, output: 16 },
    run: async (context) => {
      const url = await toDataURL(await createPicture());
      const parts = [
        { type: 'text', text: prompts.picture },
        { type: 'image_url', image_url: { url } },
      ] as const;
      return chat(context, [{ role: 'user', content: [...parts] }], 16);
    },
    facts: chatFacts,
  },
  {
    ...text,
    id: 'invalid-request',
    work: { input: 50, output: 50 },
    run: async ({ client, model }) => {
      const sent = client.post('/v1/chat/completions', { body: { model } });
      const error: unknown = await sent.then(
        () => new CallFailure('a request without messages is accepted'),
        (reason: unknown) => reason,
      );
      if (!APIError.isInstance(error) || (error.status ?? 0) < 400) throw error;
    },
    facts: () => [],
  },
  {
    id: 'gemini',
    operation: 'generate.content',
    kind: 'gemini',
    patience: 6,
    work: { input: 50, output: 16 },
    run: async ({ client, model }) => {
      const generationConfig = { maxOutputTokens: 16 };
      const { candidates } = await client.generate.content({
        model,
        contents: prompts.word,
        generationConfig,
      });
      must((candidates?.length ?? 0) > 0, 'the response has no candidate');
    },
    facts: geminiFacts,
  },
  {
    id: 'gemini-stream',
    operation: 'generate.contentStream',
    kind: 'gemini',
    patience: 6,
    work: { input: 60, output: 64 },
    run: async ({ client, model }) => {
      const generationConfig = { maxOutputTokens: 64 };
      const stream = await client.generate.contentStream({
        model,
        contents: prompts.count,
        generationConfig,
      });
      must((await collect(stream)).length > 0, 'the stream is empty');
    },
    facts: geminiStreamFacts,
  },
  {
    id: 'speech',
    operation: 'audio.speech.create',
    kind: 'speech',
    patience: 12,
    work: { input: 20, output: 500 },
    run: speak,
    facts: (_, { exchanges }) => speechFacts(exchanges),
  },
  {
    id: 'transcription',
    operation: 'audio.transcriptions.create',
    kind: 'transcription',
    patience: 12,
    work: { input: 200, output: 50 },
    run: async (context) => {
      const { client, model } = context;
      await client.audio.transcriptions.create({ model, file: soundFor(context) });
    },
    facts: (answer) => transcriptFacts(answer, true),
  },
  {
    id: 'translation',
    operation: 'audio.translations.create',
    kind: 'transcription',
    patience: 12,
    work: { input: 200, output: 50 },
    run: async (context) => {
      const { client, model } = context;
      await client.audio.translations.create({
        model,
        file: soundFor(context),
        response_format: 'vtt',
      });
    },
    facts: (answer) => transcriptFacts(answer, false),
  },
  {
    ...image,
    id: 'image',
    operation: 'images.generate',
    run: async (context) => {
      const { client, model } = context;
      const params = { model, prompt: prompts.image, ...cheapest(model) };
      must(
        mayHavePicture(await client.images.generate(params, imageOptions(context))),
        'the response has no image',
      );
    },
    facts: imageFacts,
    extraRows: imageRows,
  },
  {
    ...image,
    id: 'image-stream',
    operation: 'images.generate',
    run: streamImage,
    facts: imageStreamFacts,
  },
  {
    ...image,
    id: 'image-edit-form',
    operation: 'images.edit',
    run: editAsForm,
    facts: (answer, context) => [...rejectsFormat(context), ...imageFacts(answer)],
  },
  {
    ...image,
    id: 'image-edit-json',
    operation: 'images.edit',
    run: editAsJSON,
    facts: imageFacts,
  },
  {
    id: 'video',
    operation: 'videos.create',
    kind: 'video',
    patience: 90,
    work: { isVideo: true },
    run: makeVideo,
    facts: (_, { exchanges, model }) => videoFacts(exchanges, videoSeconds(model)),
  },
  {
    id: 'video-content',
    operation: 'videos.downloadContent',
    kind: 'video',
    patience: 12,
    work: { requests: 0 },
    lacks: needsVideo,
    run: readContent,
    facts: (_, { exchanges }) => contentFacts(exchanges),
  },
  {
    id: 'video-vendor',
    operation: 'videos.retrieveFromVendor',
    kind: 'video',
    patience: 6,
    work: { requests: 0 },
    lacks: needsVideo,
    run: readFromVendor,
    facts: vendorFacts,
  },
];
