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

/**
 * The methods of the package whose options an operation has; see `options/methods.ts`. Operations of `routes` have
 * no method: they are called by their path.
 */
export type MethodGroup =
  | 'reads'
  | 'texts'
  | 'uploads'
  | 'embeddings'
  | 'images'
  | 'edits'
  | 'submissions'
  | 'remixes'
  | 'routes';

/** One operation of the service. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly group: MethodGroup;
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
interface KnownEndpoint<Method, Group, Path, Bodies, Responses, Charge> {
  readonly method: Method;
  readonly group: Group;
  readonly path: Path;
  readonly bodies: Bodies;
  readonly responses: Responses;
  readonly charge: Charge;
}

/* @__NO_SIDE_EFFECTS__ */
function get<const Path extends string, Response extends ResponseKind>(
  path: Path,
  response: Response,
): KnownEndpoint<'GET', 'reads', Path, readonly ['none'], readonly [Response], 'free'> {
  const responses = [response] as const;
  return { method: 'GET', group: 'reads', path, bodies: ['none'], responses, charge: 'free' };
}

/* @__NO_SIDE_EFFECTS__ */
function metered<
  Group extends MethodGroup,
  const Path extends string,
  const Bodies extends readonly BodyKind[],
  const Responses extends readonly ResponseKind[],
>(
  group: Group,
  path: Path,
  bodies: Bodies,
  responses: Responses,
): KnownEndpoint<'POST', Group, Path, Bodies, Responses, 'metered'> {
  return { method: 'POST', group, path, bodies, responses, charge: 'metered' };
}

/* @__NO_SIDE_EFFECTS__ */
function charged<
  Group extends MethodGroup,
  const Path extends string,
  const Bodies extends readonly BodyKind[],
  const Responses extends readonly ResponseKind[],
>(
  group: Group,
  path: Path,
  bodies: Bodies,
  responses: Responses,
): KnownEndpoint<'POST', Group, Path, Bodies, Responses, 'charged'> {
  return { method: 'POST', group, path, bodies, responses, charge: 'charged' };
}

/** Adds columns to a row. A function without side effects, so that bundlers leave out the table. */
/* @__NO_SIDE_EFFECTS__ */
function extend<Row extends object, const More extends object>(
  row: Row,
  more: More,
): Row & Readonly<More> {
  return { ...row, ...more };
}

/** Every operation of the service with its request, its responses and its charge class. */
export const endpoints = {
  'models.list': get('/v1/models', 'json'),
  'models.retrieve': get('/v1/models/{model}', 'json'),
  'chat.completions.create': metered('texts', '/v1/chat/completions', ['json'], ['json', 'events']),
  'responses.create': metered('texts', '/v1/responses', ['json'], ['json', 'events']),
  'messages.create': metered('routes', '/v1/messages', ['json'], ['json', 'events']),
  'generate.content': metered(
    'texts',
    '/v1beta/models/{model}:generateContent',
    ['json'],
    ['json'],
  ),
  'generate.contentStream': extend(
    metered('texts', '/v1beta/models/{model}:streamGenerateContent', ['json'], ['events']),
    { query: { alt: 'sse' } },
  ),
  'embeddings.create': metered('embeddings', '/v1/embeddings', ['json'], ['json']),
  'embeddings.createForEngine': metered(
    'embeddings',
    '/v1/engines/{model}/embeddings',
    ['json'],
    ['json'],
  ),
  'rerank.create': metered('routes', '/v1/rerank', ['json'], ['json']),
  'images.generate': charged('images', '/v1/images/generations', ['json'], ['json', 'events']),
  'images.edit': charged('edits', '/v1/images/edits', ['multipart', 'json'], ['json', 'events']),
  'audio.speech.create': metered('texts', '/v1/audio/speech', ['json'], ['binary', 'events']),
  'audio.transcriptions.create': metered(
    'uploads',
    '/v1/audio/transcriptions',
    ['multipart'],
    ['json', 'text', 'events'],
  ),
  'audio.translations.create': metered(
    'uploads',
    '/v1/audio/translations',
    ['multipart'],
    ['json', 'text'],
  ),
  'videos.create': extend(charged('submissions', '/v1/videos', ['multipart', 'json'], ['json']), {
    task: 'creates',
  }),
  'videos.retrieve': extend(get('/v1/videos/{task_id}', 'json'), { task: 'reads' }),
  'videos.downloadContent': extend(get('/v1/videos/{task_id}/content', 'binary'), {
    task: 'reads',
  }),
  'videos.remix': extend(
    charged('remixes', '/v1/videos/{video_id}/remix', ['multipart', 'json'], ['json']),
    { task: 'creates' },
  ),
  'videos.retrieveFromVendor': extend(
    get('/{vendor_prefix}/v1/videos/text2video/{task_id}', 'json'),
    { task: 'reads' },
  ),
} as const;

/** The name of a documented operation, for example `"videos.create"`. */
export type Operation = keyof typeof endpoints;

export const isOperation = (name: string): name is Operation => Object.hasOwn(endpoints, name);

/* @__NO_SIDE_EFFECTS__ */
const listOperations = (): readonly Operation[] => Object.keys(endpoints).filter(isOperation);

/** The names of all operations. */
export const operations = listOperations();

/** Returns the row of an operation; `undefined` for a call by path. */
export const findEndpoint = (operation: string): Endpoint | undefined =>
  isOperation(operation) ? endpoints[operation] : undefined;

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
