import type { JsonObject } from '../../types.ts';
import type { Quirks } from '../faults/quirks.ts';
import { type Bytes, concat, utf8 } from '../media/bytes.ts';

/** Why a task failed. */
interface Failure {
  readonly message: string;
  readonly code: string | null;
}

/** Returns the fields of a failed task that gateways call completed, or describe by a flag. */
export function failureInside(
  form: Quirks['videoFailure'],
  { message, code }: Failure,
  kind: 'image' | 'video',
): JsonObject | undefined {
  switch (form) {
    case 'status':
      return undefined;
    case 'error-inside':
      return { status: 'completed', error: { message, code }, metadata: { url: '' } };
    case 'text-inside':
      return { status: 'COMPLETED', error: message };
    case 'moderation': {
      const withheld = { url: '', respect_moderation: false };
      return { status: 'done', ...(kind === 'video' ? { video: withheld } : withheld) };
    }
    case 'success-flag':
      return { successFlag: 3, errorMessage: message };
    case 'filtered': {
      const response = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [message] };
      return { status: 'completed', done: true, response };
    }
  }
}

const remark = { message: 'Upscaling failed; the original size was sent.', code: 'upscaling' };

/** The request of a task, with the URLs of its files, as JSON in a text. */
const request = JSON.stringify({
  filesUrl: ['https://files.example/mine.png'],
  videoUrl: 'https://files.example/mine.mp4',
});

/** Returns the fields beside the result of a completed task: an error, and the request, if their quirks are set. */
export const fieldsBeside = ({ taskRemark, taskRequest }: Readonly<Quirks>): JsonObject => ({
  ...(taskRemark && { error: remark }),
  ...(taskRequest && { paramJson: request }),
});

const bodies = {
  page: '<!doctype html><title>Sign in</title><p>Your session has ended.</p>',
  xml: '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The key does not exist.</Message></Error>',
} as const;

/** Returns a file as far as the gateway sends it, or what it sends in its place. */
export function endFile(bytes: Bytes, { fileEnd, fileBody }: Readonly<Quirks>): Bytes {
  if (fileBody !== 'file') return utf8(bodies[fileBody]);
  if (fileEnd === 'whole') return bytes;
  const half = bytes.slice(0, Math.floor(bytes.length / 2));
  const error = {
    message: 'unexpected EOF',
    type: 'one_api_error',
    code: 'copy_response_body_failed',
  };
  return fileEnd === 'cut' ? half : concat([half, utf8(JSON.stringify({ error }))]);
}
