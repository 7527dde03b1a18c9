import type { JsonObject } from '../../types.ts';
import { list, present, record, text } from '../control/json.ts';
import { editImages, generateImages } from '../routes/images.ts';
import { readFields, type Call } from '../server/call.ts';
import type { AnswerDialect } from '../server/event-stream.ts';
import { invalidField } from './errors.ts';
import { pixelSize } from './sizes.ts';
import { costedUsage } from './usage.ts';

/** Returns usage under OpenRouter's names. */
function imageUsage(value: unknown): JsonObject {
  const { input_tokens: prompt, output_tokens: completion, cost, total_tokens } = record(value);
  return costedUsage(
    present({ prompt_tokens: prompt, completion_tokens: completion, total_tokens, cost }),
  );
}

const item = (value: unknown): JsonObject => ({
  b64_json: record(value)['b64_json'],
  media_type: 'image/png',
});

const dialect: AnswerDialect = {
  whole: ({ created, data, usage }) =>
    present({
      created,
      data: list(data).map(item),
      usage: usage === undefined ? undefined : imageUsage(usage),
    }),
  event: (event) => {
    if (event.role === 'done') return [event];
    const { type, created_at: created, usage, ...rest } = record(event.data);
    const isPartial = event.role === 'delta';
    const kind = text(type)?.replace(/^image_edit/, 'image_generation');
    const { b64_json, partial_image_index } = rest;
    const data = isPartial
      ? { type: kind, b64_json, partial_image_index }
      : { type: kind, created, ...item(rest), usage: imageUsage(usage) };
    return [{ ...event, data }];
  },
};

/** Returns the URL of a reference image. */
function referenceURL(reference: unknown): string {
  const { type, image_url: image } = record(reference);
  const url = text(record(image)['url']);
  if (type !== 'image_url' || url === undefined) throw invalidField('input_references');
  return url;
}

/** `POST /api/v1/images`: new images, or edits of `input_references`. */
export function createOpenRouterImages(call: Call): Promise<Response> {
  const fields = readFields(call);
  for (const name of ['image', 'images', 'mask', 'response_format']) {
    if (fields.raw(name) !== undefined) throw invalidField(name);
  }
  const references = fields.list('input_references')?.map(referenceURL) ?? [];
  const { width, height } = pixelSize(
    { size: fields.string('size'), resolution: fields.string('resolution') },
    fields.string('aspect_ratio') ?? '1:1',
    1024,
  );
  const isStream = call.world.quirks.imageStream === 'partial';
  const value = present({
    model: fields.string('model'),
    prompt: fields.string('prompt'),
    n: fields.integer('n'),
    stream: fields.boolean('stream'),
    size: `${width}x${height}`,
    response_format: 'b64_json',
    partial_images: isStream ? 1 : 0,
    image: references.length === 0 ? undefined : references,
  });
  const converted: Call = { ...call, body: { kind: 'json', value } };
  return references.length === 0
    ? generateImages(converted, dialect)
    : editImages(converted, dialect);
}
