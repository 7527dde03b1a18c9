import { isObject, readId, trimmedText } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { VideoRules } from '../options/gateway-profile.ts';

/** Returns the value at a path such as `data.urls[0]`. */
function valueAt(answer: JsonObject, path: string | undefined): unknown {
  if (path === undefined) return undefined;
  const names = path.split(/[.[\]]/).filter(Boolean);
  return names.reduce<unknown>((value, name) => Reflect.get(Object(value), name), answer);
}

/** Returns a response about a video task with id, status, URL and error in OpenAI's fields. */
export function readVideo(rules: VideoRules, answer: JsonObject): JsonObject {
  const { statuses = {} } = rules;
  const contentId = readId(valueAt(answer, rules.contentId));
  const video = { ...answer };
  const id = valueAt(answer, rules.id);
  const url = trimmedText(valueAt(answer, rules.url));
  const error = valueAt(answer, rules.error);
  const word = trimmedText(valueAt(answer, rules.status ?? 'status'));
  const known = word?.toLowerCase() ?? '';
  if (id !== undefined) video['id'] = id;
  if (word !== undefined) video['status'] = Object.hasOwn(statuses, known) ? statuses[known] : word;
  if (url !== undefined) video['url'] = url;
  if (contentId !== undefined) video['content_id'] = contentId;
  if (isObject(error)) video['error'] = error;
  else if (trimmedText(error) !== undefined) video['error'] = { message: error };
  return video;
}
