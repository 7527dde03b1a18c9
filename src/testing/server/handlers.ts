import type { Operation } from '../../endpoints.ts';
import type { Handler } from './call.ts';
import { completeChat } from '../routes/chat.ts';
import { createEmbeddings, createEngineEmbeddings, rerank } from '../routes/embeddings.ts';
import { generateContent, generateContentStream } from '../routes/gemini.ts';
import { editImages, generateImages } from '../routes/images.ts';
import { listModels, retrieveModel } from '../routes/models.ts';
import { createMessage } from '../messages/messages.ts';
import { createResponse } from '../responses/responses.ts';
import { createSpeech } from '../routes/speech.ts';
import { createTranscription, createTranslation } from '../routes/audio-texts.ts';
import {
  createVideo,
  downloadVideo,
  remixVideo,
  retrieveVendorVideo,
  retrieveVideo,
} from '../videos/videos.ts';

/** Handlers of all operations. A missing one does not compile. */
export const handlers = {
  'models.list': listModels,
  'models.retrieve': retrieveModel,
  'chat.completions.create': completeChat,
  'responses.create': createResponse,
  'messages.create': createMessage,
  'generate.content': generateContent,
  'generate.contentStream': generateContentStream,
  'embeddings.create': createEmbeddings,
  'embeddings.createForEngine': createEngineEmbeddings,
  'rerank.create': rerank,
  'images.generate': generateImages,
  'images.edit': editImages,
  'audio.speech.create': createSpeech,
  'audio.transcriptions.create': createTranscription,
  'audio.translations.create': createTranslation,
  'videos.create': createVideo,
  'videos.retrieve': retrieveVideo,
  'videos.downloadContent': downloadVideo,
  'videos.remix': remixVideo,
  'videos.retrieveFromVendor': retrieveVendorVideo,
} satisfies Record<Operation, Handler>;
