import { toFields } from '../../../../answers/objects.ts';
import type { CallContext, ExtraRow, ReportCall, Shared } from './call.ts';
import { type Exchange, isEvents, isPost, parseBody } from './exchanges.ts';
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
  responseFacts,
  responseStreamFacts,
  speechFacts,
  toolFacts,
  transcriptFacts,
  transcriptStreamFacts,
} from './facts.ts';
import {
  editAsForm,
  editAsJSON,
  makeImage,
  makeVideo,
  readContent,
  readFromVendor,
  speak,
  streamImage,
  streamTranscript,
  transcribe,
  translate,
  videoSeconds,
} from './media-calls.ts';
import {
  askAboutPicture,
  askBySchema,
  askForObject,
  askForWord,
  askWithCache,
  embed,
  embeddingInputs,
  generate,
  reason,
  respond,
  sendInvalidChat,
  streamChat,
  streamGeneration,
  streamResponse,
  useTools,
} from './text-calls.ts';
import { contentFacts, vendorFacts, videoFacts } from './video-facts.ts';

const formatFacts = (exchanges: readonly Exchange[]): Facts =>
  exchanges.some(({ status, text }) => status >= 400 && text.includes('response_format'))
    ? ['rejects response_format']
    : [];

function imageRows(_: Exchange, { exchanges }: CallContext): readonly ExtraRow[] {
  const id = 'call.image-task';
  const first = exchanges.findIndex((exchange) => isPost(exchange) && exchange.status < 300);
  const task = readImageTask(exchanges.slice(Math.max(0, first)));
  if (task === undefined) {
    return [{ id, status: 'unsupported', detail: 'the response has the images, not a task' }];
  }
  const detail = `${task.shape}; ${task.route}`;
  return [{ id, status: task.isFound ? 'pass' : 'fail', detail }];
}

const needsVideo = ({ video }: Shared): string | undefined =>
  video === undefined ? 'requires a completed video' : undefined;

/** Errors about formats of JSON. */
const formats = /json|response[ _]format/i;

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
    facts: (answer) => embeddingFacts(answer, 'float', embeddingInputs.length),
  },
  {
    ...embedding,
    id: 'embeddings-base64',
    operation: 'embeddings.create',
    run: (context) => embed(context, 'create', 'base64'),
    facts: (answer) => embeddingFacts(answer, 'base64', embeddingInputs.length),
  },
  {
    ...embedding,
    id: 'embeddings-tokens',
    operation: 'embeddings.create',
    run: (context) => embed(context, 'create', 'float', [[9906], [1917]]),
    facts: (answer) => embeddingFacts(answer, 'float', embeddingInputs.length),
    // Gemini's models take texts alone.
    otherModel: /contents? (is|are) required|input (is|must be)|token ids/i,
  },
  {
    ...embedding,
    id: 'embeddings-engine',
    operation: 'embeddings.createForEngine',
    run: (context) => embed(context, 'createForEngine', 'float'),
    facts: (answer) => embeddingFacts(answer, 'float', embeddingInputs.length),
    foreign: /contents is required/i,
  },
  {
    ...embedding,
    id: 'embeddings-engine-base64',
    operation: 'embeddings.createForEngine',
    run: (context) => embed(context, 'createForEngine', 'base64'),
    facts: (answer) => embeddingFacts(answer, 'base64', embeddingInputs.length),
    foreign: /contents is required/i,
  },
  {
    ...text,
    id: 'chat',
    work: { input: 50, output: 16 },
    run: askForWord,
    facts: chatFacts,
  },
  {
    ...text,
    id: 'chat-stream',
    work: { input: 60, output: 120 },
    run: streamChat,
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
      const streamed = exchanges.find((exchange) => isPost(exchange) && exchange.status < 300);
      return toolFacts(streamed ?? answer);
    },
  },
  {
    ...text,
    id: 'json-schema',
    work: { input: 150, output: 64 },
    run: askBySchema,
    facts: chatFacts,
    tested: formats,
  },
  {
    ...text,
    id: 'json-object',
    work: { input: 60, output: 64 },
    run: askForObject,
    facts: chatFacts,
    tested: formats,
  },
  {
    ...text,
    id: 'reasoning',
    kind: 'reasoning',
    work: { input: 50, output: 400 },
    run: reason,
    facts: chatFacts,
  },
  {
    ...text,
    id: 'cache-control',
    work: { input: 60, output: 16 },
    run: askWithCache,
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
    run: askAboutPicture,
    facts: chatFacts,
  },
  {
    ...text,
    id: 'invalid-request',
    work: { input: 50, output: 50 },
    run: sendInvalidChat,
    facts: () => [],
  },
  {
    id: 'responses',
    operation: 'responses.create',
    kind: 'chat',
    patience: 6,
    work: { input: 50, output: 16 },
    run: respond,
    facts: responseFacts,
  },
  {
    id: 'responses-stream',
    operation: 'responses.create',
    kind: 'chat',
    patience: 6,
    work: { input: 60, output: 120 },
    run: streamResponse,
    facts: responseStreamFacts,
  },
  {
    id: 'gemini',
    operation: 'generate.content',
    kind: 'gemini',
    patience: 6,
    work: { input: 50, output: 16 },
    run: generate,
    facts: geminiFacts,
  },
  {
    id: 'gemini-stream',
    operation: 'generate.contentStream',
    kind: 'gemini',
    patience: 6,
    work: { input: 60, output: 64 },
    run: streamGeneration,
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
    run: transcribe,
    facts: (answer) => transcriptFacts(answer, true),
  },
  {
    id: 'transcription-stream',
    operation: 'audio.transcriptions.create',
    kind: 'transcription',
    patience: 12,
    work: { input: 200, output: 50 },
    run: streamTranscript,
    facts: transcriptStreamFacts,
  },
  {
    id: 'translation',
    operation: 'audio.translations.create',
    kind: 'transcription',
    patience: 12,
    work: { input: 200, output: 50 },
    run: translate,
    facts: (answer) => transcriptFacts(answer, false),
  },
  {
    ...image,
    id: 'image',
    operation: 'images.generate',
    run: makeImage,
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
    facts: (answer, { exchanges }) => [...formatFacts(exchanges), ...imageFacts(answer)],
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
