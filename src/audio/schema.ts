import * as z from 'zod/mini';
import type { Translation, TranslationVerbose } from './types.ts';
import { timestampSchema } from '../chat/part-schemas.ts';
import { dropNull, toNumber } from '../answers/objects.ts';
import type { Reader } from '../answers/reader.ts';
import { optionalList, optionalText, type ShapeOf, unread } from '../answers/shape-of.ts';

const translationShape = {
  text: optionalText,
} satisfies ShapeOf<Omit<Translation, '_request_id'>>;

const verboseShape = {
  text: optionalText,
  // Like timestamps, a number that some providers send as text.
  duration: timestampSchema,
  language: optionalText,
  segments: optionalList(unread),
} satisfies ShapeOf<Omit<TranslationVerbose, '_request_id'>>;

/** Reads a translation. */
export const translationReader: Reader<Translation> = {
  schema: z.looseObject(translationShape),
};

/** Reads a translation in the form `verbose_json`. */
export const verboseTranslationReader: Reader<TranslationVerbose> = {
  schema: z.looseObject(verboseShape),
  repair(value) {
    toNumber(value, 'duration');
    value['language'] ??= '';
    dropNull(value, 'segments');
  },
};
