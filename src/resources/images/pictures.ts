import {
  addCounts,
  isObject,
  isText,
  unwrapLevels,
  listObjects,
  parseJSON,
} from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';

/** Fields that hold an image in any form. */
const pictureFields = /^(b64_json|b64|base64|(image_?)?(base64|url)|url|images?|svg)$/i;

/** Fields that repeat the request or hold URLs of the task; a URL in them is not an image. */
const otherFields =
  /prompt|^(inputs?|params|parameters|request|payload|urls|links|error|message)$|^(status|poll(ing)?|response|cancel|callback|webhook|fetch|get|query|task)_?url$/i;

/** A URL or a data URL. */
const pictureAddress = /^(https?:|data:image\/)/i;

/** Bytes in base64. */
const base64Text = /^[\w+/-]+=*$/;

/** The shortest base64 text that counts as an image; shorter ones may be ids or signatures. */
const shortestPicture = 256;

/** The nesting limit; gateways nest images less deeply. */
const deepestPicture = 6;

const isBytes = (text: string): boolean => text.length >= shortestPicture && base64Text.test(text);

/** Returns whether a value holds an image in any form, at any place. */
export function holdsPicture(value: unknown, name = '', levels = deepestPicture): boolean {
  if (typeof value === 'string') {
    if (value === '') return false;
    return pictureFields.test(name) || pictureAddress.test(value) || isBytes(value);
  }
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.some((item) => holdsPicture(item, name, levels - 1));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => !otherFields.test(key) && holdsPicture(inner, key, levels - 1),
  );
}

/** Converts text to a field of an image. */
function toField(name: string, text: string): JsonObject {
  if (pictureAddress.test(text)) return { url: text };
  if (/b64|base64/i.test(name) || isBytes(text)) return { b64_json: text };
  return /^svg$/i.test(name) ? { svg: text } : { url: text };
}

type IsPicture = (name: string, text: string) => boolean;

/** Collects the images in a value: one per object that has one, and one per text in a list. */
function collect(
  value: unknown,
  name: string,
  isPicture: IsPicture,
  levels = deepestPicture,
): JsonObject[] {
  if (typeof value === 'string') {
    // Some gateways put the vendor's response into a text field.
    const inner = /^\s*[[{]/.test(value) ? parseJSON(value) : undefined;
    if (inner !== undefined && levels > 0) return collect(inner, name, isPicture, levels - 1);
    return isText(value) && isPicture(name, value) ? [toField(name, value)] : [];
  }
  if (levels === 0) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item) => collect(item, name, isPicture, levels - 1));
  }
  if (!isObject(value)) return [];
  const picture: JsonObject = {};
  const nested: JsonObject[] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (otherFields.test(key)) continue;
    const found = collect(inner, key, isPicture, levels - 1);
    const [own] = found;
    const isOwn = typeof inner === 'string' && found.length === 1;
    if (isOwn && own !== undefined) Object.assign(picture, { ...own, ...picture });
    else nested.push(...found);
  }
  if (Object.keys(picture).length === 0) return nested;
  const { revised_prompt: revised } = value;
  return [isText(revised) ? { ...picture, revised_prompt: revised } : picture, ...nested];
}

const isOpenAI = ({ url, b64_json: encoded }: JsonObject): boolean =>
  isText(url) || isText(encoded);

/**
 * Converts the status of a completed task to the response of an image call; `undefined` if it holds no image.
 * An empty list is a valid response, because a filter may have removed every image.
 */
export function findImages(body: JsonObject): JsonObject | undefined {
  const levels = unwrapLevels(body);
  const whole = levels.find(({ data }) => Array.isArray(data) && listObjects(data).some(isOpenAI));
  if (whole !== undefined) return { ...whole };
  const named = collect(body, '', (name) => pictureFields.test(name));
  const data =
    named.length > 0
      ? named
      : collect(body, '', (_, text) => pictureAddress.test(text) || isBytes(text));
  const isFiltered = levels.some((level) =>
    [level['data'], level['images']].some((list) => Array.isArray(list) && list.length === 0),
  );
  if (data.length === 0 && !isFiltered) return undefined;
  const level = levels.find(({ usage }) => isObject(usage));
  return level === undefined ? { data } : { data, usage: level['usage'] };
}

/** Joins the images of several tasks into one response. */
export function joinImages(answers: readonly JsonObject[]): JsonObject {
  const [first = {}, ...others] = answers;
  const { usage } = first;
  const sum = others.reduce(
    (total, other) => (isObject(other['usage']) ? addCounts(total, other['usage']) : total),
    isObject(usage) ? { ...usage } : {},
  );
  const data = answers.flatMap((answer) => listObjects(answer['data']));
  return { ...first, data, ...(Object.keys(sum).length > 0 && { usage: sum }) };
}
