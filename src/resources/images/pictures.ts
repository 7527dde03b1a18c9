import { encodeBase64, readBase64 } from '../../answers/bytes.ts';
import {
  findFirst,
  isObject,
  isText,
  unwrapLevels,
  listObjects,
  toFields as fieldsOf,
  trimmedText,
} from '../../answers/objects.ts';
import { addCounts } from '../../answers/usage.ts';
import {
  deepestResult,
  notResults,
  parseNested,
  withoutSent,
} from '../../answers/result-places.ts';
import type { JsonObject } from '../../types.ts';

/*
 * The one reader of images in responses. Direct responses, events of streams and polls of tasks all pass through
 * `findImages` and `readImage`, so that a place or an encoding that one of them knows is known to all.
 */

/** Fields that hold an image in any form. */
const pictureFields =
  /^(b64(_?json)?|(binary_data_)?base64|(image_?)?(base64|b64|bytes|urls?)|img_?urls?|url|images?|svg|bytes_?base64_?encoded)$/i;

const otherFields = notResults();

/** A URL or a data URL. */
const pictureAddress = /^\s*(https?:|data:image\/)/i;

/** The shortest base64 text that counts as an image; shorter ones may be ids or signatures. */
const shortestPicture = 256;

const isBytes = (text: string): boolean =>
  text.length >= shortestPicture && !/[^\w+/=\r\n-]/.test(text) && readBase64(text) !== undefined;

/** The address in the Markdown of an image or a link. */
const markdownAddress = /\]\(\s?<?((?:https?:|data:image\/)[^\s)>]+)/gi;

/** The longest alternative text of an image in Markdown. */
const longestText = 500;

const imageFile = /\.(png|jpe?g|webp|gif|avif|svg)$/i;

/** Returns the URLs of image files between the words of a chat message. */
function listAddresses(text: string): JsonObject[] {
  return text.split(/[\s<>"'()]+/).flatMap((word) => {
    const isURL = /^https?:/i.test(word) && URL.canParse(word);
    return isURL && imageFile.test(new URL(word).pathname) ? [{ url: word }] : [];
  });
}

/** Returns the addresses of images in the Markdown of a chat message. */
function listMarkdownImages(text: string): JsonObject[] {
  return Array.from(text.matchAll(markdownAddress)).flatMap(({ index, 1: url }) => {
    const before = text.slice(Math.max(0, index - longestText - 2), index);
    const start = before.lastIndexOf('![');
    return start >= 0 && !before.includes(']', start) ? [{ url }] : [];
  });
}

/** Converts text to the fields of an image. */
function toFields(name: string, text: string): JsonObject {
  if (pictureAddress.test(text)) return { url: text.trim() };
  if (/b64|base64|bytes/i.test(name) || isBytes(text)) return { b64_json: text };
  return /^svg$/i.test(name) ? { svg: text } : { url: text };
}

/** Returns the media type beside the bytes of an image. */
const readType = ({ media_type, mime_type, mimeType, content_type }: JsonObject) =>
  findFirst([media_type, mime_type, mimeType, content_type], trimmedText);

/**
 * Normalizes the fields of an image in place: plain base64 with its media type, also in data URLs and of SVG text, and
 * no empty fields.
 */
export function readImage(image: JsonObject): void {
  for (const key of ['b64_json', 'url', 'revised_prompt']) {
    if (!image[key]) delete image[key];
  }
  const { b64_json: encoded, url, svg } = image;
  if (isText(encoded) && /^\s*https?:/i.test(encoded)) {
    image['url'] ??= encoded.trim();
    delete image['b64_json'];
  } else if (isText(encoded)) {
    setBytes(image, encoded);
  } else if (isText(url) && !pictureAddress.test(url) && isBytes(url)) {
    setBytes(image, url);
    delete image['url'];
  } else if (isText(url)) {
    image['url'] = normalizeAddress(url);
  } else if (isText(svg)) {
    image['b64_json'] = encodeBase64(new TextEncoder().encode(svg));
    image['media_type'] ??= 'image/svg+xml';
  }
  if ('b64_json' in image) image['media_type'] ??= readType(image);
  if (image['media_type'] === undefined) delete image['media_type'];
}

/** Writes a data URL with plain base64. Returns any other URL unchanged. */
function normalizeAddress(url: string): string {
  if (!/^\s*data:/i.test(url)) return url;
  const { base64, type = 'application/octet-stream' } = readBase64(url) ?? {};
  return base64 === undefined ? url : `data:${type};base64,${base64}`;
}

function setBytes(image: JsonObject, text: string): void {
  const { base64 = text, type } = readBase64(text) ?? {};
  image['b64_json'] = base64;
  if (type !== undefined) image['media_type'] = type;
}

/** Returns whether an object is an image in OpenAI's format. */
export const isImage = ({ url, b64_json: encoded, svg }: JsonObject): boolean =>
  isText(url) || isText(encoded) || isText(svg);

type FindPictures = (name: string, text: string) => readonly JsonObject[];

/** Collects the images in a value: one per object that has one, and one per text in a list. */
function collect(
  value: unknown,
  name: string,
  find: FindPictures,
  levels = deepestResult,
): JsonObject[] {
  if (typeof value === 'string') {
    const inner = parseNested(value);
    if (inner !== value && levels > 0) return collect(inner, name, find, levels - 1);
    return isText(value) ? [...find(name, value)] : [];
  }
  if (levels === 0) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item) => collect(item, name, find, levels - 1));
  }
  if (!isObject(value)) return [];
  // Gemini's drafts.
  if (value['thought'] === true) return [];
  const type = readType(value);
  // A part of a multimodal message, such as Gemini's `inlineData`.
  const { data: content } = value;
  if (type !== undefined && isText(content)) {
    return /^image\//i.test(type) ? [{ b64_json: content, media_type: type }] : [];
  }
  const picture: JsonObject = {};
  const nested: JsonObject[] = [];
  for (const [key, inner] of Object.entries(value)) {
    // In Anthropic's form, the bytes of a picture are its `source`.
    const isContent = key === 'source' && value['type'] === 'image';
    const isOther = otherFields.test(key) && !isContent;
    if (isOther || (key === 'message' && typeof inner === 'string')) continue;
    const found = collect(inner, key, find, levels - 1);
    const [only] = found;
    const isOwn = typeof inner === 'string' && found.length === 1;
    if (isOwn && only !== undefined) Object.assign(picture, { ...only, ...picture });
    else nested.push(...found);
  }
  if (Object.keys(picture).length === 0) return nested;
  const { revised_prompt: revised } = value;
  const beside = type === undefined ? {} : { media_type: type };
  const whole = { ...picture, ...('b64_json' in picture && beside) };
  return [isText(revised) ? { ...whole, revised_prompt: revised } : whole, ...nested];
}

/** Ways to find images, the surest first: by the names of fields, by their content, and in Markdown. */
const ways: readonly FindPictures[] = [
  (name, text) => (pictureFields.test(name) ? [toFields(name, text)] : []),
  (name, text) => (pictureAddress.test(text) || isBytes(text) ? [toFields(name, text)] : []),
  (_, text) => listMarkdownImages(text),
  (name, text) => (/^(content|text)$/i.test(name) ? listAddresses(text) : []),
];

/** Removes images that a response contains twice, under different names. */
function withoutCopies(pictures: readonly JsonObject[]): JsonObject[] {
  const seen = new Set<unknown>();
  return pictures.filter(({ b64_json: encoded, url, svg }) => {
    const content = encoded ?? url ?? svg;
    return !seen.has(content) && Boolean(seen.add(content));
  });
}

/** Returns the images anywhere in a value, normalized. */
function listImages(value: unknown): JsonObject[] {
  for (const find of ways) {
    const pictures = collect(value, '', find);
    pictures.forEach(readImage);
    const images = withoutCopies(pictures).filter(isImage);
    if (images.length > 0) return images;
  }
  return [];
}

/** Returns whether a value holds an image in any form, at any place. */
export const holdsPicture = (value: unknown): boolean => listImages(value).length > 0;

/**
 * Returns whether lists or objects in a response hold a picture. The URL beside an error may be that of its
 * documentation.
 */
export function holdsNestedPicture(value: unknown): boolean {
  const nested = Object.entries(fieldsOf(value)).filter(([, inner]) => typeof inner === 'object');
  return holdsPicture(Object.fromEntries(nested));
}

/**
 * Converts a response or the status of a completed task to the response of an image call; `undefined` if it holds no
 * image. An empty list is a valid response, because a filter may have removed every image.
 */
export function findImages(body: unknown): JsonObject | undefined {
  const levels = isObject(body) ? unwrapLevels(body) : [];
  const whole = levels.find(({ data }) => Array.isArray(data) && listObjects(data).some(isImage));
  if (whole !== undefined) return { ...whole };
  const data = listImages(body);
  const isFiltered = levels.some((level) =>
    [level['data'], level['images']].some((list) => Array.isArray(list) && list.length === 0),
  );
  if (data.length === 0 && !isFiltered) return undefined;
  const level = levels.find(({ usage }) => isObject(usage));
  return level === undefined ? { data } : { data, usage: level['usage'] };
}

/** Adds the image of an item to its fields. An item with several images becomes several items. */
function locateItem(item: JsonObject): readonly JsonObject[] {
  if (isImage(item)) return [item];
  const [image, ...others] = listImages(item);
  return image === undefined ? [item] : [{ ...item, ...image }, ...others];
}

/**
 * Moves the images of a direct response to `data`, wherever the gateway put them. Other fields stay.
 *
 * @param sent - The URLs that the call sent, which are no results.
 */
export function locateImages(body: unknown, sent: readonly string[] = []): unknown {
  if (sent.length === 0) return moveImages(body);
  const moved = moveImages(withoutSent(body, sent));
  if (!isObject(body) || !isObject(moved)) return moved;
  const { data, usage } = moved;
  return { ...body, data, ...(usage !== undefined && { usage }) };
}

function moveImages(body: unknown): unknown {
  if (isObject(body) && Array.isArray(body['data'])) {
    const items = listObjects(body['data']);
    if (items.some(isImage)) return body;
    const data = items.flatMap(locateItem);
    if (data.some(isImage)) return { ...body, data };
  }
  const { data, usage } = findImages(body) ?? {};
  if (!Array.isArray(data) || data.length === 0) return body;
  const others = isObject(body) ? body : {};
  return { ...others, ...(usage !== undefined && { usage }), data };
}

/** Joins the images of several tasks into one response. */
export function joinImages(answers: readonly JsonObject[]): JsonObject {
  const [first = {}, ...others] = answers;
  const { usage } = first;
  const sum = others.reduce(
    (total, other) => (isObject(other['usage']) ? addCounts(total, other['usage']) : total),
    isObject(usage) ? { ...usage } : {},
  );
  const data = answers.flatMap((body) => listObjects(body['data']));
  const remark = answers.find(({ error }) => isObject(error));
  return {
    ...first,
    data,
    ...(remark !== undefined && { error: remark['error'] }),
    ...(Object.keys(sum).length > 0 && { usage: sum }),
  };
}
