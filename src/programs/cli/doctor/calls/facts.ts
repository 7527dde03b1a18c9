/**
 * Differences of responses from OpenAI's (or Gemini's) documented format, as short phrases without contents.
 * A response in the documented format has none.
 */
import { unwrapData } from '../../../../answers/failure.ts';
import {
  findFirst,
  isNumber,
  isObject,
  listObjects,
  parseJSON,
  toFields,
  trimmedText,
} from '../../../../answers/objects.ts';
import type { JsonObject } from '../../../../types.ts';
import {
  parseBody,
  type Events,
  type Exchange,
  isEvents,
  isPost,
  readEvents,
} from './exchanges.ts';

export type Facts = readonly string[];

/** Returns phrases for the conditions that hold. */
export const phrases = (
  ...pairs: readonly (readonly [holds: boolean, phrase: string])[]
): string[] => pairs.flatMap(([holds, phrase]) => (holds ? [phrase] : []));

const objectsIn = (value: unknown): JsonObject[] => listObjects(Array.isArray(value) ? value : []);

const hasText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Returns the type of a value: `integer`, `float`, `text`, `list`, `object`, `null` or `missing`. */
function typeName(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  return typeof value === 'string' ? 'text' : typeof value;
}

/** Facts about a message or the deltas of one. */
function contentFacts(messages: readonly JsonObject[]): Facts {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const hasList = messages.some(({ content }) => Array.isArray(content));
  const texts = messages.flatMap(({ content }) => (typeof content === 'string' ? [content] : []));
  return phrases(
    [hasList, 'content is a list of parts'],
    [
      messages.some((message) => hasText(message['reasoning_content'])),
      'reasoning in "reasoning_content"',
    ],
    [messages.some((message) => hasText(message['reasoning'])), 'reasoning in "reasoning"'],
    [texts.join('').trimStart().startsWith('<think>'), 'reasoning in <think> tags'],
    [parts.some((part) => toFields(part)['type'] === 'thinking'), 'reasoning in content parts'],
  );
}

function createdFact(created: unknown): Facts {
  const type = typeName(created);
  return phrases([!['integer', 'missing'].includes(type), `"created" is ${type}`]);
}

const costFact = (usages: readonly unknown[], headers: Headers): Facts =>
  phrases(
    [usages.some((usage) => isNumber(toFields(usage)['cost'])), 'cost in usage.cost'],
    [headers.has('x-litellm-response-cost'), 'cost in a header'],
  );

/** Returns the response in a body, as the client finds it, and whether a gateway wrapped it. */
function parseAnswer(exchange: Exchange): { body: JsonObject; wrapped: Facts } {
  const whole = parseBody(exchange);
  const body = toFields(unwrapData(whole));
  return { body, wrapped: phrases([body !== whole, 'the response is inside "data"']) };
}

/** Facts about a completion that is not streamed. */
export function chatFacts(exchange: Exchange): Facts {
  if (isEvents(exchange)) return ['events in place of JSON'];
  const { body, wrapped } = parseAnswer(exchange);
  const messages = objectsIn(body['choices']).map(({ message }) => toFields(message));
  const calls = messages.flatMap((message) => objectsIn(message['tool_calls']));
  return [
    ...wrapped,
    ...contentFacts(messages),
    ...createdFact(body['created']),
    ...phrases(
      [!isObject(body['usage']), 'no usage'],
      [
        calls.some((call) => isObject(toFields(call['function'])['arguments'])),
        'arguments of tools are an object',
      ],
    ),
    ...costFact([body['usage']], exchange.headers),
  ];
}

/** Facts about a response of `/v1/responses` that is not streamed. */
export function responseFacts(exchange: Exchange): Facts {
  if (isEvents(exchange)) return ['events in place of JSON'];
  const { body, wrapped } = parseAnswer(exchange);
  const { usage, status, output } = body;
  return [
    ...wrapped,
    ...phrases(
      [trimmedText(status) === undefined, 'no status'],
      [objectsIn(output).some(({ type }) => type === 'reasoning'), 'reasoning items'],
      [!isObject(usage), 'no usage'],
    ),
    ...costFact([usage], exchange.headers),
  ];
}

/** Facts about the events of a streamed response. */
export function responseStreamFacts(exchange: Exchange): Facts {
  if (!isEvents(exchange)) return ['JSON in place of events'];
  const events = readEvents(exchange);
  const { objects, hasDone } = events;
  const hasType = (type: string): boolean => objects.some((event) => event['type'] === type);
  const last = objects.at(-1) ?? {};
  const { output, usage } = toFields(last['response']);
  return [
    ...framingFacts(events),
    `ends with "${trimmedText(last['type']) ?? 'an event without a type'}"`,
    ...phrases(
      [objectsIn(output).length === 0, 'without the items'],
      [!isObject(usage), 'no usage'],
      [!hasType('response.created'), 'no response.created'],
      [!hasType('response.output_item.added'), 'no response.output_item.added'],
      [hasDone, '[DONE] at the end'],
    ),
    ...costFact([usage], exchange.headers),
  ];
}

/** Facts about the framing of a stream of events. */
function framingFacts({ lineEnding, heartbeat }: Events): Facts {
  return phrases(
    [lineEnding !== 'LF', `lines end with ${lineEnding}`],
    [heartbeat !== undefined, `heartbeats "${heartbeat?.slice(0, 40)}"`],
  );
}

const choicesIn = ({ choices }: JsonObject): JsonObject[] => objectsIn(choices);
const findFinish = (chunk: JsonObject): string | undefined =>
  findFirst(choicesIn(chunk), (choice) => trimmedText(choice['finish_reason']));

const isCounted = ({ usage }: JsonObject): boolean =>
  Object.values(toFields(usage)).some((value) => isNumber(value) && value > 0);

/** Names the places of the usage in a stream. */
function usagePlaces(chunks: readonly JsonObject[]): string[] {
  const withUsage = chunks.filter(({ usage }) => isObject(usage));
  return phrases(
    [
      withUsage.some((chunk) => findFinish(chunk) === undefined && isCounted(chunk)),
      'in the last chunk',
    ],
    [withUsage.some((chunk) => findFinish(chunk) !== undefined), 'with the finish reason'],
    [
      chunks.some((chunk) => choicesIn(chunk).some(({ usage }) => isObject(usage))),
      'in the choice',
    ],
  );
}

/** Facts about the chunks of a streamed completion. */
export function chatStreamFacts(exchange: Exchange): Facts {
  if (!isEvents(exchange)) return ['JSON in place of events'];
  const events = readEvents(exchange);
  const chunks = events.objects;
  const deltas = chunks.flatMap((chunk) => choicesIn(chunk).map(({ delta }) => toFields(delta)));
  const [first = {}, ...later] = chunks;
  const type = exchange.headers.get('content-type') ?? 'missing';
  return [
    ...framingFacts(events),
    ...contentFacts(deltas),
    ...createdFact(first['created']),
    ...phrases(
      [!/event-stream/i.test(type), `content type ${type}`],
      [choicesIn(first).length === 0, 'the first chunk has no choice'],
      [chunks.some(({ choices }) => choices === null), '"choices" is null'],
      [later.some(({ id }) => id === undefined), 'later chunks have no id'],
    ),
  ];
}

/** Returns the number of chunks with text. */
export const chatDeltas = (exchange: Exchange): number =>
  readEvents(exchange)
    .objects.flatMap(choicesIn)
    .filter(({ delta }) => hasText(toFields(delta)['content'])).length;

/** The end of a streamed completion. */
export interface StreamEnd {
  readonly isComplete: boolean;
  readonly facts: Facts;
}

export function readStreamEnd(exchange: Exchange): StreamEnd {
  const { objects, hasDone } = readEvents(exchange);
  const reasons = objects.map(findFinish).filter((reason) => reason !== undefined);
  const usage = usagePlaces(objects);
  return {
    isComplete: reasons.length > 0,
    facts: [
      reasons.length === 0 ? 'no finish reason' : `finish reason "${reasons[0]}"`,
      ...phrases([reasons.length > 1, 'sent twice']),
      hasDone ? '[DONE]' : 'no [DONE]',
      usage.length === 0 ? 'no usage' : `usage ${usage.join(' and ')}`,
      ...costFact(
        objects.map((chunk) => chunk['usage']),
        exchange.headers,
      ),
    ],
  };
}

/** Facts about the tool calls of a streamed completion. */
export function toolFacts(exchange: Exchange): Facts {
  if (!isEvents(exchange)) return ['JSON in place of events'];
  const deltas = readEvents(exchange).objects.flatMap((chunk) =>
    choicesIn(chunk).flatMap(({ delta }) => objectsIn(toFields(delta)['tool_calls'])),
  );
  const functions = deltas.map((delta) => toFields(delta['function']));
  const ids = new Set(deltas.map(({ id }) => id).filter(hasText));
  const indexes = deltas.map(({ index }) => index).filter(isNumber);
  return phrases(
    [ids.size > 1, `${ids.size} calls in one response`],
    [deltas.length > 0 && deltas.length <= ids.size, 'each call in one delta'],
    [functions.some((call) => isObject(call['arguments'])), 'arguments are an object'],
    [functions.some(({ name }) => name === ''), 'later deltas have empty names'],
    [deltas.length > 0 && indexes.length === 0, 'deltas have no index'],
    [indexes.length > 0 && Math.min(...indexes) > 0, 'indexes begin at 1'],
  );
}

const isSnake = (name: string): boolean => name.includes('_');

/** Returns the names of the fields on the first levels of a response in Gemini's format. */
function geminiNames(body: JsonObject): string[] {
  const levels = [body, ...objectsIn(body['candidates'])];
  return levels.flatMap((level) => Object.keys(level));
}

const findUsage = (body: JsonObject): unknown => body['usageMetadata'] ?? body['usage_metadata'];

export function geminiFacts(exchange: Exchange): Facts {
  const { body, wrapped } = parseAnswer(exchange);
  return [
    ...wrapped,
    ...phrases(
      [geminiNames(body).some(isSnake), 'fields in snake case'],
      [!isObject(findUsage(body)), 'no usage'],
    ),
  ];
}

export function geminiStreamFacts(exchange: Exchange): Facts {
  if (!isEvents(exchange)) return ['JSON in place of events'];
  const events = readEvents(exchange);
  const { objects, hasDone } = events;
  const last = objectsIn(objects.at(-1)?.['candidates'])[0] ?? {};
  const counted = objects.filter((body) => isObject(findUsage(body))).length;
  const isOnlyLast = counted === 1 && isObject(findUsage(objects.at(-1) ?? {}));
  return [
    ...framingFacts(events),
    ...phrases(
      [objects.flatMap(geminiNames).some(isSnake), 'fields in snake case'],
      [counted === 0, 'no usage'],
      [objects.length > 1 && isOnlyLast, 'usage in the last chunk alone'],
      [
        objectsIn(toFields(last['content'])['parts']).length === 0,
        'the finish reason has a chunk of its own',
      ],
      [hasDone, '[DONE] at the end'],
    ),
  ];
}

/**
 * @param encoding - The requested encoding of the vectors.
 * @param inputs - The number of inputs.
 */
export function embeddingFacts(
  exchange: Exchange,
  encoding: 'float' | 'base64',
  inputs: number,
): Facts {
  const body = parseBody(exchange);
  const items = objectsIn(body['data']);
  const indexes = items.map(({ index }) => index).filter(isNumber);
  const isText = items.some(({ embedding }) => typeof embedding === 'string');
  return [
    ...phrases(
      [items.length !== inputs, `${items.length} vectors for ${inputs} inputs`],
      [encoding === 'base64' && !isText && items.length > 0, 'numbers in place of base64'],
      [encoding === 'float' && isText, 'base64 in place of numbers'],
      [indexes.some((index, at) => index !== at), 'vectors are not in the order of the inputs'],
      [!isObject(body['usage']), 'no usage'],
    ),
    ...costFact([body['usage']], exchange.headers),
  ];
}

/** Shorter text of letters and digits may be an id. */
const shortFile = 256;

/** Returns whether text is the content of a file: a URL, a data URL, base64 or hexadecimal digits. */
const isFileText = (text: string): boolean =>
  /^(https?:|data:)/.test(text.trimStart()) ||
  /\]\(https?:/.test(text) ||
  (text.length >= shortFile && /^[\w+/=\r\n-]+$/.test(text));

/** Fields with URLs of a task instead of its result. */
const taskFields = /(status|response|cancel|poll(ing)?|fetch|get)_?url$|^(urls|links)$/i;

/** Returns the paths of the files in a response, such as `output.results[].url`. */
export function filePaths(value: unknown, path = '', levels = 8): string[] {
  if (typeof value === 'string') return isFileText(value) ? [path] : [];
  if (levels === 0) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item) => filePaths(item, `${path}[]`, levels - 1));
  }
  return Object.entries(toFields(value)).flatMap(([name, inner]) =>
    taskFields.test(name)
      ? []
      : filePaths(inner, path === '' ? name : `${path}.${name}`, levels - 1),
  );
}

/** Describes base64 that is not in the plain form. */
function encodingFacts(texts: readonly string[]): Facts {
  const isDataURL = texts.some((text) => text.startsWith('data:'));
  return phrases(
    [isDataURL, 'base64 as a data URL'],
    [!isDataURL && texts.some((text) => /[-_]/.test(text)), 'URL-safe base64'],
    [texts.some((text) => /\s/.test(text)), 'base64 with line breaks'],
    [!isDataURL && texts.some((text) => text.length % 4 !== 0), 'base64 without padding'],
  );
}

/** Describes where a response has its images. */
export function imageFacts(exchange: Exchange): Facts {
  if (isEvents(exchange)) return ['events in place of JSON'];
  if (exchange.headers.get('content-type')?.startsWith('image/')) return ['images as a file'];
  const body = parseBody(exchange);
  const items = objectsIn(body['data']);
  const urls = items.map(({ url }) => trimmedText(url)).filter((url) => url !== undefined);
  const bytes = items.map(({ b64_json: text }) => trimmedText(text));
  const encoded = bytes.filter((text) => text !== undefined);
  const isUsual = urls.length + encoded.length > 0;
  const paths = isUsual ? [] : [...new Set(filePaths(body))];
  const isUnknown = !isUsual && paths.length === 0 && !Array.isArray(body['data']);
  const origin = new URL(exchange.url).origin;
  const isElsewhere = (url: string): boolean =>
    /^https?:/.test(url) && URL.canParse(url) && new URL(url).origin !== origin;
  return [
    ...phrases(
      [encoded.length > 0, 'images as base64'],
      [urls.some((url) => url.startsWith('data:')), 'images as data URLs'],
      [urls.some((url) => !url.startsWith('data:')), 'images as URLs'],
      [paths.length > 0, `images at ${paths.join(' and ')}`],
      [isUnknown, `no image in the fields ${describeFields(body)}`],
      [urls.some(isElsewhere), 'on another host'],
      [items.some(({ url, b64_json: text }) => url === '' || text === ''), 'with empty fields'],
    ),
    ...encodingFacts(encoded),
    ...costFact([body['usage']], exchange.headers),
  ];
}

export function imageStreamFacts(exchange: Exchange): Facts {
  if (!isEvents(exchange)) return ['JSON in place of events'];
  const events = readEvents(exchange);
  const types = events.objects.map(({ type }) => trimmedText(type) ?? '');
  const partial = types.filter((type) => type.endsWith('partial_image')).length;
  const hasWhole = events.objects.some(({ data }) => Array.isArray(data));
  return [
    ...framingFacts(events),
    partial === 0 ? 'no partial images' : 'partial images',
    ...phrases(
      [hasWhole, 'whole responses as events'],
      [!hasWhole && !types.some((type) => type.endsWith('completed')), 'no completed image'],
    ),
  ];
}

/** The response to an image call that names a task instead of containing images. */
export interface TaskAnswer {
  /** Describes its shape. */
  readonly shape: string;
  /** Describes the route of the task: a path, or the reason why there is none. */
  readonly route: string;
  readonly isFound: boolean;
  /** The path, for the profile. */
  readonly path: string | undefined;
}

/** Returns the fields of a response, without their values. */
export function describeFields(body: JsonObject): string {
  return Object.entries(body)
    .map(([name, value]) => {
      const [inner] = Array.isArray(value) ? objectsIn(value) : isObject(value) ? [value] : [];
      const isList = Array.isArray(value);
      return inner === undefined
        ? name
        : `${name}${isList ? '[]' : ''}.${Object.keys(inner).join('/')}`;
    })
    .join(', ');
}

/** Reads the response and the polls of a call for images that the gateway answered with a task. */
export function readImageTask([first, ...polls]: readonly Exchange[]): TaskAnswer | undefined {
  if (first === undefined || first.status >= 300 || isEvents(first)) return undefined;
  const body = parseBody(first);
  const hasImages = imageFacts(first).some((fact) => fact.startsWith('images'));
  const { pathname, origin } = new URL(first.url);
  const later = polls.filter(
    ({ method, url }) => method === 'GET' && new URL(url).origin === origin,
  );
  if (hasImages || (Array.isArray(body['data']) && body['data'].length === 0)) return undefined;
  const location = first.headers.has('location') ? ', header Location' : '';
  const shape = `${first.status} ${describeFields(body) || 'without a body'}${location}`;
  const found = later.findLast(({ status }) => status < 300);
  if (found === undefined) {
    return { shape, route: 'no route has the task', isFound: false, path: undefined };
  }
  // The path of the base URL is not part of the route.
  const root = pathname.slice(0, Math.max(0, pathname.search(/\/v\d+\//)));
  const segments = new URL(found.url).pathname.slice(root.length).split('/');
  const id = segments.findLastIndex((segment) => /\d/.test(segment) && !/^v\d+$/.test(segment));
  const template = segments.map((segment, at) => (at === id ? '{id}' : segment)).join('/');
  return {
    shape,
    route: template,
    isFound: true,
    path: template.endsWith('{id}') ? template : undefined,
  };
}

export function speechFacts(exchanges: readonly Exchange[]): Facts {
  const [first] = exchanges.filter(isPost);
  const last = exchanges.at(-1);
  const type = last?.headers.get('content-type') ?? '';
  const isStream = first !== undefined && isEvents(first);
  const paths = first === undefined || isStream ? [] : filePaths(parseBody(first));
  return phrases(
    [exchanges.some(({ status }) => status >= 300 && status < 400), 'redirects to a file'],
    [isStream, 'a stream in place of a file'],
    [
      isStream && readEvents(first).objects.some(({ data }) => isObject(data)),
      'audio at data.audio',
    ],
    [paths.length > 0, `audio at ${paths.join(' and ')}`],
    [
      paths.length === 0 && !isStream && !type.startsWith('audio/'),
      `content type ${type || 'missing'}`,
    ],
  );
}

/** @param isJSON - `true` if JSON was requested, `false` for subtitles. */
export function transcriptFacts(exchange: Exchange, isJSON: boolean): Facts {
  const body = parseBody(exchange);
  const hasJSON = Object.keys(body).length > 0;
  const value = parseJSON(exchange.text);
  const isString = typeof value === 'string';
  const isInside = typeof body['text'] === 'string' && /^\s*(WEBVTT|\d+\r?\n)/.test(body['text']);
  const { segments } = body;
  return [
    ...phrases(
      [!isJSON && hasJSON && !isInside, 'JSON in place of subtitles'],
      [!isJSON && isInside, 'subtitles in the field "text" of JSON'],
      [isString && parseJSON(value) === undefined, 'text as a JSON string'],
      [isString && parseJSON(value) !== undefined, 'JSON inside a JSON string'],
      [isJSON && !hasJSON && !isString, 'text in place of JSON'],
      [isObject(segments), 'segments inside an object'],
      [Array.isArray(segments) && segments.includes(null), 'segments that are null'],
    ),
    ...costFact([body['usage']], exchange.headers),
  ];
}

/** Facts about a streamed transcript. */
export function transcriptStreamFacts(exchange: Exchange): Facts {
  if (!isEvents(exchange)) {
    const isJSON = Object.keys(parseBody(exchange)).length > 0;
    return [isJSON ? 'JSON in place of events' : 'text in place of events'];
  }
  const events = readEvents(exchange);
  const types = events.objects.map(({ type, object }) => trimmedText(type) ?? trimmedText(object));
  const other = types.find((type) => type !== undefined && !type.startsWith('transcript.'));
  return [
    ...framingFacts(events),
    ...phrases([other !== undefined, `events of the type ${other}`]),
  ];
}
