import type { JsonObject } from '../../types.ts';
import { type Bytes, dataURL } from '../media/bytes.ts';
import {
  charge,
  costField,
  readFields,
  fileURL,
  invalid,
  checkModelName,
  type Call,
} from '../server/call.ts';
import { refusal } from '../server/errors.ts';
import { doneEvent, type StreamEvent } from '../faults/stream-faults.ts';
import { eventResponse, plainDialect, type AnswerDialect } from '../server/event-stream.ts';
import type { Fields } from '../server/fields.ts';
import { editedPicture, readEdit } from './image-edits.ts';
import { acceptImages } from '../images/accept.ts';
import { encodeImage, holdsBytes, placeImages } from '../images/places.ts';
import { checkWords, markers } from './prompts.ts';
import { findVendor } from '../control/models.ts';
import { paint } from '../media/painting.ts';
import { encodePng } from '../media/png.ts';
import { countTokens } from './usage.ts';

/** Parameters that both image operations share. */
interface ImageParams {
  readonly model: string;
  readonly family: 'gpt-image' | 'google' | 'other';
  readonly prompt: string;
  readonly n: number;
  readonly size: { readonly width: number; readonly height: number } | undefined;
  readonly format: string | undefined;
  readonly stream: boolean;
  readonly partialImages: number;
}

type Painter = (index: number) => Promise<Bytes>;

const standardSize = { width: 1024, height: 1024 };

const bounded = (pixels: number): number => Math.min(Math.max(pixels, 16), 2048);

function readSize(call: Call, size: string | undefined): ImageParams['size'] {
  if (size === undefined || size === '' || size === 'auto') return undefined;
  if (size.includes('×'))
    throw invalid(call, 'size: use the letter x, not the multiplication sign ×');
  const [, width, height] = /^(\d+)[x*](\d+)$/i.exec(size) ?? [];
  if (width === undefined || height === undefined) throw invalid(call, `invalid size "${size}"`);
  return { width: bounded(Number(width)), height: bounded(Number(height)) };
}

function imageFamily({ world }: Call, model: string): ImageParams['family'] {
  if (model.startsWith('gpt-image')) return 'gpt-image';
  return findVendor(world.models, model) === 'google' ? 'google' : 'other';
}

function readOrder(call: Call, fields: Fields): ImageParams {
  const model = checkModelName(call, fields.string('model'));
  // Not every vendor checks for a missing prompt.
  const prompt = fields.string('prompt') ?? '';
  checkWords(prompt);
  const format = fields.string('response_format');
  if (format !== undefined && call.world.quirks.imageFormatRefused) {
    throw refusal(400, 'unknown_parameter', "Unknown parameter: 'response_format'.");
  }
  return {
    model,
    family: imageFamily(call, model),
    prompt,
    n: Math.max(1, fields.integer('n') ?? 1),
    size: readSize(call, fields.string('size')),
    format,
    stream: fields.boolean('stream') ?? false,
    partialImages: fields.integer('partial_images') ?? 0,
  };
}

/** Varies the prompt, so that the images of a request differ. */
const variant = (prompt: string, index: number): string =>
  index === 0 ? prompt : `${prompt} ${index + 1}`;

async function imageItem(
  call: Call,
  order: ImageParams,
  index: number,
  painter: Painter,
): Promise<unknown> {
  const { quirks, files } = call.world;
  const { family } = order;
  const vendorFormat = family === 'other' ? 'url' : 'b64_json';
  const usual =
    order.format ?? (quirks.imageFormat === 'vendor' ? vendorFormat : quirks.imageFormat);
  const kind = holdsBytes(quirks.imagePlace) ? 'b64_json' : usual;
  const item: { url?: string; b64_json?: string } = {};
  if (kind === 'b64_json') {
    item.b64_json = encodeImage(await painter(index), quirks.imageEncoding);
  } else if (kind === 'data-url') item.url = dataURL('image/png', await painter(index));
  else {
    const bytes = (): Promise<Bytes> => painter(index);
    item.url = fileURL(call, files.add('png', { type: 'image/png', bytes }));
  }
  const revised = { revised_prompt: family === 'google' ? '' : order.prompt };
  if (quirks.imageKeys === 'all' || family === 'google') {
    return { url: '', b64_json: '', ...revised, ...item };
  }
  return family === 'gpt-image' ? item : { ...item, ...revised };
}

function createUsage(order: ImageParams, count: number): JsonObject {
  const text = countTokens(order.prompt);
  return {
    input_tokens: text,
    output_tokens: 1000 * count,
    total_tokens: text + 1000 * count,
    input_tokens_details: { text_tokens: text, image_tokens: 0 },
  };
}

async function streamedImages(
  call: Call,
  order: ImageParams,
  painter: Painter,
  dialect: AnswerDialect,
): Promise<Response> {
  const name = call.operation === 'images.edit' ? 'image_edit' : 'image_generation';
  const created = Math.floor(call.world.clock.now() / 1000);
  const events: StreamEvent[] = [];
  for (let index = 0; index < order.n; index += 1) {
    const image = {
      b64_json: encodeImage(await painter(index), call.world.quirks.imageEncoding),
      created_at: created,
      output_format: 'png',
    };
    const partial = call.world.quirks.imageStream === 'partial' ? order.partialImages : 0;
    for (let part = 0; part < partial; part += 1) {
      const type = `${name}.partial_image`;
      events.push({ role: 'delta', data: { type, partial_image_index: part, ...image } });
    }
    const usage = { ...createUsage(order, 1), ...costField(1000, call.world.quirks) };
    events.push({ role: 'finish', data: { type: `${name}.completed`, ...image, usage } });
  }
  return eventResponse(call, [...events, doneEvent].flatMap(dialect.event));
}

/** Additional fields in responses of `gpt-image-…`. */
function gptImageFields(order: ImageParams, count: number): JsonObject {
  const { width, height } = order.size ?? standardSize;
  return {
    background: 'opaque',
    output_format: 'png',
    quality: 'low',
    size: `${width}x${height}`,
    usage: createUsage(order, count),
  };
}

async function answer(
  call: Call,
  order: ImageParams,
  painter: Painter,
  dialect: AnswerDialect,
): Promise<Response> {
  const { quirks, clock } = call.world;
  charge(call, order.model, 1000 * order.n);
  const isTask = quirks.imageTasks !== 'none';
  const isResult = quirks.imageStream.startsWith('result');
  if (!isTask && !isResult && order.stream && quirks.imageStream !== 'json') {
    return streamedImages(call, order, painter, dialect);
  }
  const count = call.fault?.type === 'empty' ? 0 : Math.max(0, order.n - quirks.imagesFiltered);
  const items = await Promise.all(
    Array.from({ length: count }, (_, index) => imageItem(call, order, index, painter)),
  );
  const fields = order.family === 'gpt-image' ? gptImageFields(order, count) : {};
  const cost = costField(1000 * order.n, quirks);
  const body = {
    created: Math.floor(clock.now() / 1000),
    data: items,
    ...fields,
    ...('cost' in cost ? { usage: { ...createUsage(order, count), ...cost } } : {}),
  };
  if (isResult && (order.stream || quirks.imageStream === 'result-always')) {
    const event = { object: 'image.generation.result', ...body };
    return eventResponse(call, [{ role: 'finish', data: event }, doneEvent]);
  }
  if (isTask) return acceptImages(call, body, order.prompt.includes(markers.fail));
  if (quirks.imagePlace !== 'data') return placeImages(quirks.imagePlace, body);
  return Response.json(dialect.whole(body));
}

/** `POST /v1/images/generations`. */
export function generateImages(call: Call, dialect = plainDialect): Promise<Response> {
  const order = readOrder(call, readFields(call));
  const { width, height } = order.size ?? standardSize;
  const painter = (index: number) => encodePng(paint(variant(order.prompt, index), width, height));
  return answer(call, order, painter, dialect);
}

/** `POST /v1/images/edits`, as a form with files or as JSON with URLs. */
export async function editImages(call: Call, dialect = plainDialect): Promise<Response> {
  const fields = readFields(call);
  const order = readOrder(call, fields);
  const edit = await readEdit(call, fields);
  const painter = (index: number) =>
    encodePng(editedPicture(edit, variant(order.prompt, index), order.size));
  return answer(call, order, painter, dialect);
}

export const imageHandlers = {
  'images.generate': generateImages,
  'images.edit': editImages,
};
