import type { Operation } from '../../endpoints.ts';
import type { CallInput } from './protocol.ts';

/** Returns the operation of a call. `files` are the names of its fields with files. */
export function selectOperation(
  { kind, remixOf }: Pick<CallInput, 'kind' | 'remixOf'>,
  files: readonly string[],
): Operation {
  switch (kind) {
    case 'chat':
      return 'chat.completions.create';
    case 'image':
      return files.includes('image') ? 'images.edit' : 'images.generate';
    case 'speech':
      return 'audio.speech.create';
    case 'transcription':
      return 'audio.transcriptions.create';
    case 'translation':
      return 'audio.translations.create';
    case 'embeddings':
      return 'embeddings.create';
    case 'video':
      return remixOf === undefined ? 'videos.create' : 'videos.remix';
  }
}
