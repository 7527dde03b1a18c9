import { hasValue, isObject, listObjects, toFields } from '../answers/objects.ts';
import type { ChargeClass } from '../endpoints.ts';
import { mediaModel } from '../gateways/signs.ts';
import type { JsonObject } from '../types.ts';

/** Pictures, films or sound that a request can ask a text model for. Each is billed, and made once. */
interface OutputRule {
  /** The request, in the words of the guide. */
  readonly request: string;
  /** The fields of the body that can ask for it. */
  readonly fields: readonly string[];
  /** Default: the field is a model that makes media. */
  readonly asks?: (body: JsonObject) => boolean;
}

/** Kinds of output besides text, in any case: the words of OpenAI's format, and of Gemini's. */
const media = /^(image|audio|video|music)s?$/i;

function holdsMedia(modalities: unknown): boolean {
  const words: readonly unknown[] = [modalities].flat();
  return words.some((word) => typeof word === 'string' && media.test(word));
}

/** Returns whether a body of Gemini's format, or its configuration, passes a test. */
const inConfig = (body: JsonObject, test: (config: JsonObject) => boolean): boolean =>
  [body, body['generationConfig'], body['generation_config']].map(toFields).some(test);

/** The requests of text operations whose charge class is that of images and videos. */
export const outputRules: readonly OutputRule[] = [
  {
    request: '`modalities` with images, sound or video',
    fields: ['modalities'],
    asks: ({ modalities }) => holdsMedia(modalities),
  },
  {
    request: '`responseModalities` with images, sound or video',
    fields: ['responseModalities', 'response_modalities', 'generationConfig', 'generation_config'],
    asks: (body) =>
      inConfig(body, (config) =>
        holdsMedia(config['responseModalities'] ?? config['response_modalities']),
      ),
  },
  {
    request: '`imageConfig` or `image_config`',
    fields: ['imageConfig', 'image_config', 'generationConfig', 'generation_config'],
    asks: (body) =>
      inConfig(body, (config) => hasValue(config['imageConfig'] ?? config['image_config'])),
  },
  {
    request: 'the tool `image_generation`',
    fields: ['tools'],
    asks: ({ tools }) =>
      listObjects(tools).some(
        ({ type }) => typeof type === 'string' && /\b(image|video)_generation/.test(type),
      ),
  },
  {
    request:
      'a model of images or videos by its name, such as `gemini-2.5-flash-image`, by the profile, or by the price list that the client has read',
    fields: ['model'],
  },
];

const textOperation = /^(chat|responses|messages|generate)\./;

/**
 * Returns the charge class of a request: that of its operation, or `charged` if it asks a text operation for
 * pictures, films or sound.
 *
 * @param isMedia - Returns whether a model is known to make them, whatever its name.
 * @param bodies - The body, the fields that are added to it, and the parameters of the path.
 */
export function chargeFor(
  operation: string,
  charge: ChargeClass,
  isMedia: (model: string) => boolean,
  ...bodies: readonly unknown[]
): ChargeClass {
  if (charge !== 'metered' || !textOperation.test(operation)) return charge;
  for (const body of bodies) {
    if (!isObject(body)) continue;
    for (const { fields, asks } of outputRules) {
      for (const name of fields) {
        const value = body[name];
        if (value === undefined) continue;
        const makesMedia = typeof value === 'string' && (mediaModel.test(value) || isMedia(value));
        if (asks === undefined ? makesMedia : asks(body)) return 'charged';
      }
    }
  }
  return charge;
}
