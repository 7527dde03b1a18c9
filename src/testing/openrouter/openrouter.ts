import { isObject } from '../../answers/objects.ts';
import type { Operation } from '../../endpoints.ts';
import { createEmbeddings } from '../routes/embeddings.ts';
import { authenticate } from '../server/auth.ts';
import type { World } from '../server/call.ts';
import type { Family } from '../gateways/family.ts';
import type { RequestBody } from '../server/request-body.ts';
import { createRouter } from '../server/router.ts';
import { downloadVideo } from '../videos/videos.ts';
import { readCredits, readGeneration, readKey } from './account.ts';
import { createOpenRouterSpeech, createOpenRouterTranscription } from './audio.ts';
import { completeOpenRouterChat } from './chat.ts';
import { notFound, openRouterErrors } from './errors.ts';
import { createOpenRouterImages } from './images.ts';
import { listOpenRouterModels, retrieveOpenRouterModel } from './models.ts';
import { createMessage } from '../messages/messages.ts';
import { createResponse } from '../responses/responses.ts';
import { createOpenRouterVideo, retrieveOpenRouterVideo, videoModels } from './videos.ts';

const root = '/api/v1';

const paths: Partial<Record<Operation, string>> = {
  'models.list': `${root}/models`,
  'models.retrieve': `${root}/model/{author}/{slug}`,
  'chat.completions.create': `${root}/chat/completions`,
  'responses.create': `${root}/responses`,
  'messages.create': `${root}/messages`,
  'embeddings.create': `${root}/embeddings`,
  'images.generate': `${root}/images`,
  'audio.speech.create': `${root}/audio/speech`,
  'audio.transcriptions.create': `${root}/audio/transcriptions`,
  'videos.create': `${root}/videos`,
  'videos.retrieve': `${root}/videos/{task_id}`,
  'videos.downloadContent': `${root}/videos/{task_id}/content`,
};

/** Routes that are not operations of the client. */
const otherRoutes: Readonly<Record<string, (world: World, query: URLSearchParams) => unknown>> = {
  [`${root}/credits`]: readCredits,
  [`${root}/key`]: readKey,
  [`${root}/generation`]: (world, query) => readGeneration(world, query.get('id') ?? ''),
  [`${root}/videos/models`]: videoModels,
};

const findOperation = createRouter(paths);

/** Image edits and video continuations share the routes of new images and videos. */
function operationFor(operation: Operation, body: RequestBody): Operation {
  const value = body.kind === 'json' && isObject(body.value) ? body.value : {};
  if (operation === 'images.generate' && value['input_references']) return 'images.edit';
  return operation === 'videos.create' && value['previous_job_id'] ? 'videos.remix' : operation;
}

function answerOther(request: Request, world: World, apiKey: string): Response {
  const { pathname, searchParams } = new URL(request.url);
  const isKnown = request.method === 'GET' && Object.hasOwn(otherRoutes, pathname);
  const answer = isKnown ? otherRoutes[pathname] : undefined;
  if (answer === undefined) throw notFound(`No route ${request.method} ${pathname}`);
  authenticate(request, apiKey);
  const value = answer(world, searchParams);
  return value instanceof Response ? value : Response.json(value);
}

/** OpenRouter: https://openrouter.ai/docs/api-reference. */
export const openRouter: Family = {
  paths,
  otherPaths: Object.keys(otherRoutes),
  handlers: {
    'models.list': listOpenRouterModels,
    'models.retrieve': retrieveOpenRouterModel,
    'chat.completions.create': completeOpenRouterChat,
    'responses.create': createResponse,
    'messages.create': createMessage,
    'embeddings.create': createEmbeddings,
    'images.generate': createOpenRouterImages,
    'images.edit': createOpenRouterImages,
    'audio.speech.create': createOpenRouterSpeech,
    'audio.transcriptions.create': createOpenRouterTranscription,
    'videos.create': createOpenRouterVideo,
    'videos.remix': createOpenRouterVideo,
    'videos.retrieve': retrieveOpenRouterVideo,
    'videos.downloadContent': downloadVideo,
  },
  findRoute: (method, path) =>
    Object.hasOwn(otherRoutes, path) ? undefined : findOperation(method, path),
  operationFor,
  answerOther,
  errors: openRouterErrors,
  nextRequestId: (ids, now) => ids.next(`gen-${Math.floor(now / 1_000)}-`, 20),
  headers: (requestId) => (requestId === undefined ? {} : { 'x-generation-id': requestId }),
  quirks: {
    heartbeatEvery: 8,
    heartbeatText: ': OPENROUTER PROCESSING',
    chatReasoning: 'reasoning',
    reportedCost: 'usage',
    videoPollError: 'none',
    contentNeedsKey: true,
    contentLimit: 0,
  },
};
