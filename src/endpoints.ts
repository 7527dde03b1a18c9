/**
 * The routes of the gateway as data.
 *
 * The transport, the retry rules, the emulator, the msw handlers and the guide's table of operations are all
 * generated from this object, so they cannot diverge.
 */

/** The encoding of a request body. `none`: the request has no body. */
export type BodyKind = 'none' | 'json' | 'multipart';

/** The content of a 2xx response. `events` is a server-sent event stream. */
export type ResponseKind = 'json' | 'text' | 'events' | 'binary';

/**
 * The possible cost of a request, which determines its retry rules.
 *
 * - `free`: reads; never charged, retried freely.
 * - `metered`: billed by use (chat, responses, generation, embeddings, speech, translation); retried until the first byte
 *   of the response, but not after a time limit of the client.
 * - `charged`: consumes credit per job (images and videos, also if a text operation makes them); sent once, and again only if the request provably
 *   was not sent or was rejected before any work.
 */
export type ChargeClass = 'free' | 'metered' | 'charged';

/** What an operation does with a video task: it creates one, or reads one by its id. */
export type TaskRole = 'creates' | 'reads';

/** One operation of the service. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Path template below the base URL; `{name}` is one escaped path segment. */
  readonly path: string;
  /** Query parameters that belong to the operation itself. */
  readonly query?: Readonly<Record<string, string>>;
  readonly bodies: readonly BodyKind[];
  readonly responses: readonly ResponseKind[];
  readonly charge: ChargeClass;
  /** Set if its responses describe a task. A failed task is then a valid response. */
  readonly task?: TaskRole;
}

/** An operation whose fields have literal types. */
interface KnownEndpoint<Method, Path, Bodies, Responses, Charge> {
  readonly method: Method;
  readonly path: Path;
  readonly bodies: Bodies;
  readonly responses: Responses;
  readonly charge: Charge;
}

/* @__NO_SIDE_EFFECTS__ */
function get<const Path extends string, Response extends ResponseKind>(
  path: Path,
  response: Response,
): KnownEndpoint<'GET', Path, readonly ['none'], readonly [Response], 'free'> {
  return { method: 'GET', path, bodies: ['none'], responses: [response], charge: 'free' };
}

/* @__NO_SIDE_EFFECTS__ */
function post<
  Charge extends ChargeClass,
  const Path extends string,
  const Bodies extends readonly BodyKind[],
  const Responses extends readonly ResponseKind[],
>(
  charge: Charge,
  path: Path,
  bodies: Bodies,
  responses: Responses,
): KnownEndpoint<'POST', Path, Bodies, Responses, Charge> {
  return { method: 'POST', path, bodies, responses, charge };
}

/** Every operation of the service with its request, its responses and its charge class. */
export const endpoints = {
  'models.list': get('/v1/models', 'json'),
  'models.retrieve': get('/v1/models/{model}', 'json'),
  'chat.completions.create': post('metered', '/v1/chat/completions', ['json'], ['json', 'events']),
  'responses.create': post('metered', '/v1/responses', ['json'], ['json', 'events']),
  'messages.create': post('metered', '/v1/messages', ['json'], ['json', 'events']),
  'generate.content': post('metered', '/v1beta/models/{model}:generateContent', ['json'], ['json']),
  'generate.contentStream': {
    ...post('metered', '/v1beta/models/{model}:streamGenerateContent', ['json'], ['events']),
    query: { alt: 'sse' },
  },
  'embeddings.create': post('metered', '/v1/embeddings', ['json'], ['json']),
  'embeddings.createForEngine': post(
    'metered',
    '/v1/engines/{model}/embeddings',
    ['json'],
    ['json'],
  ),
  'rerank.create': post('metered', '/v1/rerank', ['json'], ['json']),
  'images.generate': post('charged', '/v1/images/generations', ['json'], ['json', 'events']),
  'images.edit': post('charged', '/v1/images/edits', ['multipart', 'json'], ['json', 'events']),
  'audio.speech.create': post('metered', '/v1/audio/speech', ['json'], ['binary', 'events']),
  'audio.transcriptions.create': post(
    'metered',
    '/v1/audio/transcriptions',
    ['multipart'],
    ['json', 'text', 'events'],
  ),
  'audio.translations.create': post(
    'metered',
    '/v1/audio/translations',
    ['multipart'],
    ['json', 'text'],
  ),
  'videos.create': {
    ...post('charged', '/v1/videos', ['multipart', 'json'], ['json']),
    task: 'creates',
  },
  'videos.retrieve': { ...get('/v1/videos/{task_id}', 'json'), task: 'reads' },
  'videos.downloadContent': { ...get('/v1/videos/{task_id}/content', 'binary'), task: 'reads' },
  'videos.remix': {
    ...post('charged', '/v1/videos/{video_id}/remix', ['multipart', 'json'], ['json']),
    task: 'creates',
  },
  'videos.retrieveFromVendor': {
    ...get('/{vendor_prefix}/v1/videos/text2video/{task_id}', 'json'),
    task: 'reads',
  },
} as const;

/** Returns the row of an operation; `undefined` for a call by path. */
export const findEndpoint = (operation: string): Endpoint | undefined =>
  Object.entries<Endpoint>(endpoints).find(([name]) => name === operation)?.[1];

/** The name of a documented operation, for example `"videos.create"`. */
export type Operation = keyof typeof endpoints;

/** The operations that can respond with `Kind`. */
export type OperationReturning<Kind extends ResponseKind> = {
  [Name in Operation]: Kind extends (typeof endpoints)[Name]['responses'][number] ? Name : never;
}[Operation];

type TemplateParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | TemplateParameters<Rest>
  : never;

/** The names between braces in the path template of an operation. */
export type PathParameter<Name extends Operation> = TemplateParameters<
  (typeof endpoints)[Name]['path']
>;
