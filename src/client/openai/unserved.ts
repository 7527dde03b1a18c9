import { GatewayError } from '../../errors/gateway-error.ts';
import { GatewayPromise } from '../../calls/promise.ts';

/**
 * An API of `openai` that gateways do not document. It must exist because wrappers of `openai` clients access
 * `create()` when they wrap a client, even if it is never called.
 */
export class Unserved {
  /** @internal */
  readonly fail: () => GatewayPromise<never>;

  /** @internal */
  constructor(name: string, instead: string) {
    const advice = `Use ${instead}, or post('/v1/${name}', { body }) where your gateway serves it.`;
    const problem = `${name}.create() is not supported by this client. Nothing was sent.`;
    this.fail = () =>
      new GatewayPromise(
        Promise.reject(new GatewayError(problem, { outcome: 'not_sent', advice })),
      );
  }

  /**
   * @deprecated it is not served.
   * @throws `GatewayError` that names the alternative; nothing is sent
   */
  create(..._given: readonly unknown[]): GatewayPromise<never> {
    return this.fail();
  }
}

const anyRoute = 'request({ method, path, body }) where your gateway serves the route';
const sockets = 'a WebSocket of your own, or openai; for turn-based voice, audio and chat';
const files = "post('/v1/files', { body: form }) with a FormData; calls that need a file take it";

/** The resources of `openai` that this client does not have, with their alternatives. */
const replacements: Readonly<Record<string, string>> = {
  files,
  uploads: files,
  batches: 'images.generateMany(), embeddings.createMany() or videos.createAndWaitAll()',
  beta: 'chat.completions.parse(), stream() or runTools()',
  admin: anyRoute,
  containers: anyRoute,
  contentProvenanceChecks: anyRoute,
  conversations: anyRoute,
  decisions: anyRoute,
  evals: anyRoute,
  fineTuning: anyRoute,
  graders: anyRoute,
  live: sockets,
  realtime: sockets,
  safety: anyRoute,
  skills: anyRoute,
  vectorStores: anyRoute,
  webhooks: 'webhooks.unwrap() of openai, which sends no request; videos.wait() waits for videos',
};

/**
 * Returns `target` with members for all other names. Each member throws when it is called, and has such
 * members itself.
 */
function withMembers(target: object, path: string, instead: string): object {
  return new Proxy(target, {
    get(_, name, receiver) {
      const isOther = typeof name === 'symbol' || name === 'then' || name === 'toJSON';
      if (isOther || name in target) return Reflect.get(target, name, receiver);
      return createMember(`${path}.${name}`, instead);
    },
  });
}

/** The members of resources in `openai` that this client does not have, with their alternatives. */
const missingMembers = {
  client: {
    buildRequest: anyRoute,
    buildURL: 'baseURL of the client, or request({ method, path, body })',
    fetchWithTimeout: anyRoute,
    getAPIList: 'models.list(), or get(path) for another list',
    requestAPIList: 'models.list(), or get(path) for another list',
  },
  'chat.completions': {
    list: "get('/v1/chat/completions') where your gateway stores completions",
    retrieve: "get('/v1/chat/completions/<id>') where your gateway stores completions",
    update: "post('/v1/chat/completions/<id>', { body }) where your gateway stores completions",
    delete:
      "delete('/v1/chat/completions/<id>') of the client where your gateway stores completions",
    messages: "get('/v1/chat/completions/<id>/messages') where your gateway stores completions",
  },
  responses: {
    retrieve: "get('/v1/responses/<id>') where your gateway stores responses",
    cancel: "post('/v1/responses/<id>/cancel') where your gateway stores responses",
    delete: "delete('/v1/responses/<id>') of the client where your gateway stores responses",
    stream: 'create({ …, stream: true }); the partial of the stream is the response so far',
    compact: "post('/v1/responses/compact', { body }) where your gateway serves it",
    connect: 'create({ …, stream: true })',
    inputItems: "get('/v1/responses/<id>/input_items') where your gateway stores responses",
    inputTokens: "post('/v1/responses/input_tokens', { body }) where your gateway serves it",
  },
  audio: {
    voices: "post('/v1/audio/voices', { body: form }) where your gateway serves it",
    voiceConsents: "post('/v1/audio/voice_consents', { body: form }) where your gateway serves it",
  },
  images: { createVariation: 'images.edit() with a prompt' },
  models: { delete: "delete('/v1/models/<id>') of the client where your gateway serves it" },
  videos: {
    list: "the ref of each task, from onSubmitted or a ledger, or get('/v1/videos') where your gateway serves it",
    delete: "delete('/v1/videos/<id>') of the client where your gateway serves it",
    edit: "videos.remix(), or post('/v1/videos/edits', { body }) where your gateway serves it",
    extend:
      "videos.remix(), or post('/v1/videos/extensions', { body }) where your gateway serves it",
    createCharacter:
      "post('/v1/videos/characters', { body: form }) where your gateway serves it; it may be charged",
    getCharacter: "get('/v1/videos/characters/<id>') where your gateway serves it",
  },
} satisfies Record<string, Readonly<Record<string, string>>>;

/**
 * Adds the members of a resource that only `openai` has to a prototype, and to that of the client also resources such as
 * `client.files`. They throw errors that name their alternatives, and are not found by `in`, because frameworks detect
 * features that way.
 */
export function addMissingMembers(prototype: object, resource: keyof typeof missingMembers): void {
  const members = new Map<unknown, string>(Object.entries(missingMembers[resource]));
  const path = resource === 'client' ? 'client' : `client.${resource}`;
  const base: object = Object(Object.getPrototypeOf(prototype));
  // Inherited methods are found before the proxy, which would slow down each call.
  for (const name of base === Object.prototype ? [] : Reflect.ownKeys(base)) {
    const field = Reflect.getOwnPropertyDescriptor(base, name);
    if (field && !Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, field);
  }
  const get: ProxyHandler<object>['get'] = (target, name, receiver) => {
    const instead = members.get(name);
    if (instead !== undefined) return createMember(`${path}.${String(name)}`, instead);
    const isResource = typeof name === 'string' && Object.hasOwn(replacements, name);
    return resource === 'client' && isResource
      ? getResource(receiver, name)
      : Reflect.get(target, name, receiver);
  };
  Object.setPrototypeOf(prototype, new Proxy<object>(Object.create(base), { get }));
}

/** Returns a function that throws, with members that throw. */
function createMember(member: string, instead: string): object {
  const call = (): never => {
    const problem = `${member}() is not supported by this client. Nothing was sent.`;
    throw new GatewayError(problem, { outcome: 'not_sent', advice: `Use ${instead}.` });
  };
  return withMembers(call, member, instead);
}

const resources = new Map<string, object>();

/** Returns a resource that this client does not have. Its members throw. */
function getResource(client: object, name: string): object {
  if (name === 'beta') return getBeta(client);
  const known = resources.get(name);
  const resource = known ?? withMembers({}, `client.${name}`, replacements[name] ?? anyRoute);
  resources.set(name, resource);
  return resource;
}

/** `client.beta` of each `client.chat`: older code of `openai` calls chat completions there. */
const betas = new WeakMap<object, object>();

/** Returns `client.beta`, whose only served members are those of `chat.completions`. */
function getBeta(client: object): object {
  const chat = Object(Reflect.get(client, 'chat'));
  const known = betas.get(chat);
  if (known !== undefined) return known;
  const instead = replacements['beta'] ?? anyRoute;
  const served = { completions: Reflect.get(chat, 'completions') };
  const beta = withMembers(
    { chat: withMembers(served, 'client.beta.chat', instead) },
    'client.beta',
    instead,
  );
  betas.set(chat, beta);
  return beta;
}
