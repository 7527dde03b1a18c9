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
  live: anyRoute,
  realtime: anyRoute,
  safety: anyRoute,
  skills: anyRoute,
  vectorStores: anyRoute,
  webhooks: anyRoute,
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

/** The methods of `client.responses` in `openai` that this client does not have, with their alternatives. */
const responseMethods: Readonly<Record<string, string>> = {
  retrieve: "get('/v1/responses/<id>') where your gateway stores responses",
  cancel: "post('/v1/responses/<id>/cancel') where your gateway stores responses",
  delete: "delete('/v1/responses/<id>') of the client where your gateway stores responses",
  stream: 'create({ …, stream: true }); the partial of the stream is the response so far',
  compact: "post('/v1/responses/compact', { body }) where your gateway serves it",
  connect: 'create({ …, stream: true })',
  inputItems: "get('/v1/responses/<id>/input_items') where your gateway stores responses",
  inputTokens: "post('/v1/responses/input_tokens', { body }) where your gateway serves it",
};

/** Returns the prototype of `client.responses`, whose members throw errors that name their alternatives. */
export function createUnservedMembers(): object {
  return new Proxy<object>(
    {},
    {
      get(target, name, receiver) {
        const instead =
          typeof name === 'string' && Object.hasOwn(responseMethods, name)
            ? responseMethods[name]
            : undefined;
        if (instead === undefined) return Reflect.get(target, name, receiver);
        return createMember(`client.responses.${String(name)}`, instead);
      },
    },
  );
}

/** Returns a function that throws, with members that throw. */
function createMember(member: string, instead: string): object {
  const call = (): never => {
    const problem = `${member}() is not supported by this client. Nothing was sent.`;
    throw new GatewayError(problem, { outcome: 'not_sent', advice: `Use ${instead}.` });
  };
  return withMembers(call, member, instead);
}

/**
 * Returns a prototype to insert between the client's prototype and `base`. It makes `client.files` and
 * other missing resources readable, so that calling a method throws an error that names the alternative.
 * `'files' in client` stays `false`, because frameworks detect features that way.
 */
export function createUnservedPrototype(base: object): object {
  const resources = new Map<string, object>();
  return new Proxy<object>(Object.create(base), {
    get(target, name, receiver) {
      const isUnserved = typeof name === 'string' && Object.hasOwn(replacements, name);
      if (!isUnserved) return Reflect.get(target, name, receiver);
      const known = resources.get(name);
      const resource = known ?? withMembers({}, `client.${name}`, replacements[name] ?? anyRoute);
      resources.set(name, resource);
      return resource;
    },
  });
}
