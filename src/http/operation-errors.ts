import { type APIError, ContentExpiredError, ContentNotReadyError } from '../errors/api-errors.ts';

/** What an error answer means for one operation, beyond its status. */
export interface SpecialError {
  readonly errorClass?: typeof APIError;
  readonly advice: string;
}

/** Error answers whose meaning depends on the operation. */
export function specialErrorOf(
  operation: string,
  status: number,
  message: string,
): SpecialError | undefined {
  if (operation === 'videos.downloadContent') {
    if (status === 410) {
      return {
        errorClass: ContentExpiredError,
        advice: 'The content is gone; nothing can bring it back.',
      };
    }
    if (status === 400 && /not completed/i.test(message)) {
      return {
        errorClass: ContentNotReadyError,
        advice: 'Wait for the task with videos.wait() and download it then.',
      };
    }
  }
  if (operation === 'embeddings.createForEngine' && /contents is required/i.test(message)) {
    return {
      advice:
        'This gateway does not serve the engine-style route with an embeddings body; use embeddings.create() instead.',
    };
  }
  return undefined;
}
