/**
 * The routes of the gateway as data.
 *
 * The transport, the retry rules, the emulator, the msw handlers and the guide's table of operations are all made
 * from this object, so none of them can drift from the others. It imports nothing.
 */

/** How a request body travels. `none` means that the request has no body. */
export type BodyKind = 'none' | 'json' | 'multipart';

/** What a 2xx answer can hold. `events` is a server-sent event stream. */
export type ResponseKind = 'json' | 'text' | 'events' | 'binary';

/**
 * What sending a request may cost, and so how it may be repeated.
 *
 * - `free`: reads; never charged, repeated freely.
 * - `metered`: billed by use (chat, generation, embeddings, speech, translation); repeated until the
 *   first byte of the answer has come.
 * - `charged`: consumes credit by the job (images and videos); sent at most once unless it provably
 *   never left or was refused before work.
 */
export type ChargeClass = 'free' | 'metered' | 'charged';

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
}

/** Every operation of the service: how it is sent, what it answers with, and what it may cost. */
export const endpoints = {
  'models.list': {
    method: 'GET',
    path: '/v1/models',
    bodies: ['none'],
    responses: ['json'],
    charge: 'free',
  },
  'models.retrieve': {
    method: 'GET',
    path: '/v1/models/{model}',
    bodies: ['none'],
    responses: ['json'],
    charge: 'free',
  },
  'chat.completions.create': {
    method: 'POST',
    path: '/v1/chat/completions',
    bodies: ['json'],
    responses: ['json', 'events'],
    charge: 'metered',
  },
  'generate.content': {
    method: 'POST',
    path: '/v1beta/models/{model}:generateContent',
    bodies: ['json'],
    responses: ['json'],
    charge: 'metered',
  },
  'generate.contentStream': {
    method: 'POST',
    path: '/v1beta/models/{model}:streamGenerateContent',
    query: { alt: 'sse' },
    bodies: ['json'],
    responses: ['events'],
    charge: 'metered',
  },
  'embeddings.create': {
    method: 'POST',
    path: '/v1/embeddings',
    bodies: ['json'],
    responses: ['json'],
    charge: 'metered',
  },
  'embeddings.createForEngine': {
    method: 'POST',
    path: '/v1/engines/{model}/embeddings',
    bodies: ['json'],
    responses: ['json'],
    charge: 'metered',
  },
  'images.generate': {
    method: 'POST',
    path: '/v1/images/generations',
    bodies: ['json'],
    responses: ['json', 'events'],
    charge: 'charged',
  },
  'images.edit': {
    method: 'POST',
    path: '/v1/images/edits',
    bodies: ['multipart', 'json'],
    responses: ['json', 'events'],
    charge: 'charged',
  },
  'audio.speech.create': {
    method: 'POST',
    path: '/v1/audio/speech',
    bodies: ['json'],
    responses: ['binary', 'events'],
    charge: 'metered',
  },
  'audio.transcriptions.create': {
    method: 'POST',
    path: '/v1/audio/transcriptions',
    bodies: ['multipart'],
    responses: ['json', 'text', 'events'],
    charge: 'metered',
  },
  'audio.translations.create': {
    method: 'POST',
    path: '/v1/audio/translations',
    bodies: ['multipart'],
    responses: ['json', 'text'],
    charge: 'metered',
  },
  'videos.create': {
    method: 'POST',
    path: '/v1/videos',
    bodies: ['multipart', 'json'],
    responses: ['json'],
    charge: 'charged',
  },
  'videos.retrieve': {
    method: 'GET',
    path: '/v1/videos/{task_id}',
    bodies: ['none'],
    responses: ['json'],
    charge: 'free',
  },
  'videos.downloadContent': {
    method: 'GET',
    path: '/v1/videos/{task_id}/content',
    bodies: ['none'],
    responses: ['binary'],
    charge: 'free',
  },
  'videos.remix': {
    method: 'POST',
    path: '/v1/videos/{video_id}/remix',
    bodies: ['multipart', 'json'],
    responses: ['json'],
    charge: 'charged',
  },
  'videos.retrieveFromVendor': {
    method: 'GET',
    path: '/{vendor_prefix}/v1/videos/text2video/{task_id}',
    bodies: ['none'],
    responses: ['json'],
    charge: 'free',
  },
} as const satisfies Readonly<Record<string, Endpoint>>;

/** The name of a documented operation, for example `"videos.create"`. */
export type Operation = keyof typeof endpoints;

/** The operations that can answer with `Kind`. */
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
