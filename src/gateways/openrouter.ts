import { costInAnswer } from '../answers/cost.ts';
import { isObject } from '../answers/objects.ts';
import { openRouterAccount } from './openrouter-account.ts';
import * as write from './openrouter-requests.ts';
import type { GatewayProfile } from '../options/gateway-profile.ts';

const useChat = 'Use chat.completions.create(), which serves the same models.';

/** Image parameters without a field at OpenRouter. */
const noImageField = { moderation: null, partial_images: null, svg: null, watermark: null };

/** OpenRouter. */
export const openRouter: GatewayProfile = {
  name: 'openrouter',
  hosts: ['openrouter.ai'],
  basePath: '/api/v1',
  paths: {
    // Without the query, the list contains only models that return text.
    'models.list': '/v1/models?output_modalities=all',
    'models.retrieve': '/v1/model/{+model}',
    'images.generate': '/v1/images',
    'images.edit': '/v1/images',
    'videos.remix': '/v1/videos',
  },
  unsupported: {
    'generate.content': useChat,
    'generate.contentStream': useChat,
    'embeddings.createForEngine': 'Use embeddings.create().',
    'audio.translations.create':
      'Use audio.transcriptions.create(), and let a chat model translate.',
    'videos.retrieveFromVendor': 'Use videos.retrieve() with the id of the task.',
  },
  requests: {
    'images.generate': { names: { ...noImageField, style: null }, write: write.image },
    'images.edit': {
      body: 'json',
      names: { ...noImageField, mask: null, input_fidelity: null },
      write: write.edit,
    },
    'audio.speech.create': {
      names: { instructions: null, stream_format: null },
      write: write.speech,
    },
    'audio.transcriptions.create': {
      names: {
        languages: null,
        keywords: null,
        prompt: null,
        include: null,
        chunking_strategy: null,
        known_speaker_names: null,
        known_speaker_references: null,
        stream: null,
      },
    },
    'videos.create': { body: 'json', names: { metadata: null }, write: write.video },
    'videos.remix': { body: 'json', write: write.continuation },
  },
  answers: {
    'models.retrieve': ({ data, ...answer }) => (isObject(data) ? data : answer),
    // These statuses end a job without an error.
    'videos.retrieve': ({ status, error, ...job }) => {
      const isEnded = status === 'cancelled' || status === 'expired';
      return { ...job, status, error: error ?? (isEnded ? `The job is ${status}.` : undefined) };
    },
  },
  // Signed URLs work without the key; `unsigned_urls` need it.
  video: { url: 'urls[0]' },
  requestIdHeaders: ['x-generation-id', 'x-request-id', 'request-id'],
  readCost: costInAnswer,
  account: openRouterAccount,
};
