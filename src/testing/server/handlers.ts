import type { Operation } from '../../endpoints.ts';
import type { Handler } from './call.ts';
import { modelHandlers } from '../routes/models.ts';
import { chatHandlers } from '../routes/chat.ts';
import { responseHandlers } from '../responses/responses.ts';
import { messageHandlers } from '../messages/messages.ts';
import { geminiHandlers } from '../routes/gemini.ts';
import { embeddingHandlers } from '../routes/embeddings.ts';
import { imageHandlers } from '../routes/images.ts';
import { speechHandlers } from '../routes/speech.ts';
import { transcriptHandlers } from '../routes/audio-texts.ts';
import { videoHandlers } from '../videos/videos.ts';

/** Handlers of all operations. A missing one does not compile. */
export const handlers = {
  ...modelHandlers,
  ...chatHandlers,
  ...responseHandlers,
  ...messageHandlers,
  ...geminiHandlers,
  ...embeddingHandlers,
  ...imageHandlers,
  ...speechHandlers,
  ...transcriptHandlers,
  ...videoHandlers,
} satisfies Record<Operation, Handler>;
