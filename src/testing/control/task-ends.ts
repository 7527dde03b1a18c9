import type { JsonObject } from '../../types.ts';
import type { Quirks } from '../faults/quirks.ts';

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
  }
}

/** Returns the error beside the result of a completed task, if the quirk is set. */
export function remarkField({ taskRemark }: Readonly<Quirks>): JsonObject {
  if (!taskRemark) return {};
  return { error: { message: 'Upscaling failed; the original size was sent.', code: 'upscaling' } };
}
