import { checkModel, checkNumber, checkParams } from '../check.ts';
import { lateAnswer } from '../http/call.ts';
import type { BodyEncoding } from '../http/request.ts';
import { loadRare } from '../load-rare.ts';
import { checkFile } from '../uploads/file-input.ts';
import { formBody, formFields } from '../uploads/multipart.ts';
import type { Uploadable } from '../uploads/types.ts';

/** What is sent of speech that is to be written down. */
interface AudioParams {
  readonly file: Uploadable;
  readonly model: string;
  readonly temperature?: number | undefined;
}

/** The form of a call that gives text for sound. */
export function audioForm(resource: string, params: AudioParams): BodyEncoding {
  checkParams(`audio.${resource}.create`, params);
  checkModel(params.model);
  checkNumber('temperature', params.temperature ?? 0);
  const { file, ...others } = params;
  checkFile('file', file);
  return formBody([...formFields(others), ['file', file, 'audio']]);
}

/** How text for sound is read. */
export const spokenText = (format: string | undefined) =>
  lateAnswer('text', loadRare, ({ spokenAnswer }) => spokenAnswer(format));
