import { isNumber, isObject, toFields, trimmedText } from '../../../../answers/objects.ts';
import { findStatusWord, readStatusWord } from '../../../../tasks/reading.ts';
import type { JsonObject } from '../../../../types.ts';
import { parseBody, type Exchange } from './exchanges.ts';
import { describeFields, type Facts, filePaths, phrases } from './facts.ts';

/** Fields that may contain the id of a task. */
const idFields = [
  'id',
  'task_id',
  'video_id',
  'data.id',
  'data.task_id',
  'requestId',
  'generation_id',
  'jobId',
  'queue_id',
  'name',
  'Resp.video_id',
  'Response.JobId',
];

/** Fields that may contain the URL of the result. */
const urlFields = ['metadata.url', 'url', 'video_url', 'urls', 'unsigned_urls'];

/** Returns the value at a path of one or two names. */
function valueAt(body: JsonObject, path: string): unknown {
  const [first = '', second] = path.split('.');
  return second === undefined ? body[first] : toFields(body[first])[second];
}

const findPlaces = (body: JsonObject, fields: readonly string[]): string[] =>
  fields.filter((field) => valueAt(body, field) !== undefined);

const hasMilliseconds = ({ created_at: at }: JsonObject): boolean => isNumber(at) && at > 1e11;

const readState = (body: JsonObject): string => readStatusWord(findStatusWord(body)).status;

/** Status words of OpenAI, and that of tasks which a gateway has not checked yet. */
const usualWords = new Set(['queued', 'in_progress', 'completed', 'failed', 'unknown']);

function submissionFacts(exchange: Exchange, body: JsonObject): Facts {
  const places = findPlaces(body, idFields);
  return phrases(
    [exchange.status !== 200, `submission answered with ${exchange.status}`],
    [
      places.join(' ') !== 'id',
      `submission has its id in ${places.join(' and ') || 'no known field'}`,
    ],
    [hasMilliseconds(body), 'times in milliseconds'],
  );
}

/** Describes the error of a failed task. */
function errorShape(body: JsonObject): string {
  const { respect_moderation: respects } = toFields(body['video']);
  if (respects === false) return 'completed, but withheld by moderation';
  if (body['successFlag'] !== undefined) return 'failed by "successFlag"';
  if (readState(body) === 'completed') return 'completed with an error in place of a URL';
  const { error, fail_reason: reason } = body;
  if (isObject(error)) return `error is an object with a ${typeof error['code']} code`;
  if (typeof error === 'string') return 'error is text';
  if (typeof reason === 'string') return 'error in fail_reason';
  return error === null ? 'error is null' : 'no error';
}

/** Facts about the responses while a task is not completed. */
function pendingFacts(bodies: readonly JsonObject[]): Facts {
  const urls = bodies.flatMap((body) => urlFields.map((field) => valueAt(body, field)));
  return phrases(
    [urls.includes(''), 'empty URL before the end'],
    [
      urls.some((url) => typeof url === 'string' && / /.test(url)),
      'a sentence in place of a URL before the end',
    ],
    [bodies.some(({ error }) => isObject(error)), 'an error before the end'],
    [bodies.some((body) => isNumber(body['completed_at'])), '"completed_at" before the end'],
  );
}

function completedFacts(body: JsonObject): Facts {
  const known = findPlaces(body, urlFields);
  const places = known.length > 0 ? known : [...new Set(filePaths(body))];
  const lengths = findPlaces(body, ['seconds', 'size']);
  const isInline = places.some((field) => String(valueAt(body, field)).startsWith('data:'));
  return [
    ...phrases(
      [places.length === 0, 'no URL'],
      [places.length > 0, `URL in ${places.join(' and ')}`],
      [isInline, 'as a data URL'],
      [isObject(body['error']), 'an error beside the result'],
      [
        lengths.length < 2,
        lengths.length === 0 ? 'no "seconds" and "size"' : `only "${lengths[0]}"`,
      ],
      [isObject(body['usage']), 'usage'],
      [isNumber(toFields(body['usage'])['cost']), 'cost in usage.cost'],
    ),
  ];
}

/** Facts about all responses after the submission. */
function laterFacts(bodies: readonly JsonObject[], first: JsonObject): Facts {
  const [body = {}] = bodies;
  const places = findPlaces(body, idFields);
  const words = new Set(bodies.map((each) => findStatusWord(each) ?? 'missing'));
  const unusual = [...words].filter((word) => !usualWords.has(word));
  const isNested = bodies.every(
    (each) => each['status'] === undefined && valueAt(each, 'data.status') !== undefined,
  );
  const foreign = body['task_id'];
  return phrases(
    [places.join(' ') !== 'id', `later ones in ${places.join(' and ') || 'no known field'}`],
    [
      isObject(body) && foreign !== undefined && foreign !== body['id'] && body['id'] !== undefined,
      'another id in "task_id"',
    ],
    [unusual.length > 0, `status words ${unusual.map((word) => `"${word}"`).join(', ')}`],
    [isNested, 'status in "data"'],
    [bodies.every(({ progress }) => progress === undefined), 'no progress'],
    [bodies.some(({ progress }) => typeof progress === 'string'), 'progress is text'],
    [hasMilliseconds(body) && !hasMilliseconds(first), 'later times in milliseconds'],
    [bodies.some((each) => Object.values(each).includes(null)), 'missing values are null'],
    [bodies.some(({ model }) => model === ''), 'the model is empty'],
  );
}

/** Returns whether a task failed, although its status is another one. */
function isFailureInside(body: JsonObject): boolean {
  const { error, successFlag: flag } = body;
  const { respect_moderation: respects } = toFields(body['video']);
  const hasError = isObject(error) || trimmedText(error) !== undefined;
  const isCompleted = readState(body) === 'completed';
  return (
    Number(flag) > 1 ||
    respects === false ||
    (isCompleted && hasError && filePaths(body).length === 0)
  );
}

/**
 * Facts about the submission of a video and its polls.
 *
 * @param seconds - The requested length.
 */
export function videoFacts(exchanges: readonly Exchange[], seconds: string): Facts {
  const first = exchanges.find(({ method, status }) => method === 'POST' && status < 300);
  if (first === undefined) return [];
  const submission = parseBody(first);
  const polls = exchanges.filter(
    ({ method, status, url }) =>
      method === 'GET' && status < 300 && /\/videos?\/[^/]+$/.test(new URL(url).pathname),
  );
  const bodies = polls.map(parseBody).filter((body) => Object.keys(body).length > 0);
  const pending = bodies.filter((body) => !/completed|failed/.test(readState(body)));
  const completed = bodies.find(
    (body) => readState(body) === 'completed' && !isFailureInside(body),
  );
  const failed = bodies.findLast((body) => readState(body) === 'failed' || isFailureInside(body));
  const made = [submission, ...bodies].map((body) => trimmedText(body['seconds'])).find(Boolean);
  return [
    ...submissionFacts(first, submission),
    ...phrases([polls.some(({ status }) => status === 202), 'polls answered with 202']),
    ...(bodies.length === 0 ? [] : laterFacts(bodies, submission)),
    ...pendingFacts(pending),
    ...(completed === undefined ? [] : completedFacts(completed)),
    ...(failed === undefined ? [] : [errorShape(failed)]),
    ...phrases(
      [failed !== undefined && completed !== undefined, 'reported as failed and then as completed'],
      [
        made !== undefined && Number(made) !== Number(seconds),
        `${Number(made)} seconds in place of ${seconds}`,
      ],
    ),
  ];
}

/** Facts about a download of the first bytes of a video. */
export function contentFacts(exchanges: readonly Exchange[]): Facts {
  const last = exchanges.at(-1);
  if (last === undefined) return [];
  const type = last.headers.get('content-type') ?? 'missing';
  const refused = exchanges.findLast(({ status }) => status >= 400);
  const isElsewhere = refused !== undefined && last.status < 300;
  return phrases(
    [isElsewhere, `the content route answers ${refused?.status}; the URL in the task has the file`],
    [exchanges.some(({ status }) => status >= 300 && status < 400), 'redirects to a file'],
    [last.status === 206, 'ranges are honoured'],
    [last.status === 200, 'ranges are ignored'],
    [!type.startsWith('video/'), `content type ${type}`],
    [!last.headers.has('content-length'), 'no content length'],
  );
}

/** Describes the body of a vendor's status route. */
export function vendorFacts(exchange: Exchange): Facts {
  const body = parseBody(exchange);
  return [`fields ${describeFields(body)}`];
}
