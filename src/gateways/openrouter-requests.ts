/** Converts parameters to OpenRouter's fields. Files are kept, and sent as data URLs later. */
import { isObject, isPlainObject, trimmedText } from '../answers/objects.ts';
import { check } from '../options/check.ts';
import type { JsonObject } from '../types.ts';

/** Returns `size` under the field name for its kind: pixels, a resolution or a ratio. */
function sizeFields({ size, resolution }: JsonObject): JsonObject {
  const text = trimmedText(size) ?? '';
  const named = trimmedText(resolution) ?? '';
  // Tiers are upper case: "2K".
  const tier = /^\dk$/i.test(named) ? { resolution: named.toUpperCase() } : {};
  if (/^\d+p$|^\dk$/i.test(text)) return { resolution: text.replace('k', 'K') };
  if (/^\d+:\d+$/.test(text)) return { aspect_ratio: text, ...tier };
  return size === undefined ? tier : { size: text.replace('*', 'x') || size, ...tier };
}

/** Returns the URL or the file of an image reference. */
function readImage(reference: unknown, field: string): unknown {
  // A `Response` is a file, although it has a `url`.
  if (!isObject(reference) || !isPlainObject(reference)) return reference;
  const { image_url: nested, url, b64_json: bytes, file_id: file } = reference;
  check(
    file === undefined,
    field,
    'is a file id, which this gateway does not support; pass a URL.',
  );
  const address = (isObject(nested) ? nested['url'] : nested) ?? url;
  return address ?? (typeof bytes === 'string' ? `data:image/png;base64,${bytes}` : reference);
}

const imagePart = (reference: unknown, field: string): JsonObject => ({
  type: 'image_url',
  image_url: { url: readImage(reference, field) },
});

/** Returns references from several parameters as one list; nothing if there are none. */
function references(params: JsonObject): JsonObject {
  const parts = Object.entries(params).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((item) => ((item ?? undefined) === undefined ? [] : imagePart(item, name))),
  );
  return parts.length === 0 ? {} : { input_references: parts };
}

/** `POST /images`. Responses only contain bytes. */
export function image({ size, response_format: format, ...body }: JsonObject): JsonObject {
  const problem = 'must be "b64_json" or omitted: this gateway returns no URLs.';
  check((format ?? 'b64_json') === 'b64_json', 'response_format', problem);
  return { ...body, ...sizeFields({ ...body, size }) };
}

/** `POST /images` for an edit. */
export const edit = ({ image: first, images, ...body }: JsonObject): JsonObject => ({
  ...image(body),
  ...references({ image: first, images }),
});

/** `POST /audio/speech`, with OpenAI's default format. */
export const speech = (body: JsonObject): JsonObject => ({ response_format: 'mp3', ...body });

function durationField(seconds: unknown): JsonObject {
  if (seconds === undefined) return {};
  const duration = Number(seconds);
  check(duration > 0, 'seconds', 'must be a number above 0, or such a number as text.');
  return { duration };
}

/** `POST /videos`: `image` is the first frame, the other references guide the model. */
export function video(params: JsonObject): JsonObject {
  const { seconds, size, image: first, images, input_reference: reference, ...body } = params;
  const frame = { ...imagePart(first, 'image'), frame_type: 'first_frame' };
  return {
    ...body,
    ...durationField(seconds),
    ...sizeFields({ ...body, size }),
    ...((first ?? undefined) === undefined ? {} : { frame_images: [frame] }),
    ...references({ input_reference: reference, images }),
  };
}

/** `POST /videos` with a job to continue. */
export function continuation(
  body: JsonObject,
  { video_id: job, model }: Readonly<Record<string, string>>,
): JsonObject {
  const problem =
    'does not contain the model, which this gateway requires; pass the task or its handle (task.ref), or extraBody: { model }.';
  check(model !== undefined, 'task', problem);
  return { model, ...body, previous_job_id: job };
}
