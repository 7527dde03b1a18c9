import {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  Gateway,
  GatewayError,
  InternalServerError,
  InvalidInputError,
  NotFoundError,
  PaymentRequiredError,
  PermissionDeniedError,
  RateLimitError,
  RequestTooLargeError,
  UnprocessableEntityError,
} from 'model-gateway';
import { assert, caughtFrom, equal, includes, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { clientFor, fresh } from '../harness/emulator.ts';

const image = { model: 'm-image', prompt: 'A red circle' };

const classes = [
  [400, BadRequestError],
  [401, AuthenticationError],
  [402, PaymentRequiredError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [413, RequestTooLargeError],
  [422, UnprocessableEntityError],
  [429, RateLimitError],
  [500, InternalServerError],
  [503, InternalServerError],
] as const;

const canary = 'sk-canary-7f3a';

/** Runtimes differ in what their errors say of each; Bun and Deno name the whole URL. */
const brokenConnections = [
  'refused port',
  'unresolvable name',
  'self-signed certificate',
  'reset after the request',
  'no HTTP',
  'body cut by a reset',
];

/** Everything that a program could print of an error. */
function listEverything(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null || depth > 5) return String(value);
  if (value instanceof Headers) return JSON.stringify([...value]);
  // The key is readable by name, but not through enumerable properties.
  const isClient = value instanceof Gateway;
  const names = Reflect.ownKeys(value).filter((name) => !isClient || name !== 'apiKey');
  const parts = names.map((name) => listEverything(Reflect.get(value, name), depth + 1));
  return [value instanceof Error ? `${value}` : '', ...parts].join('\n');
}

/** Which error is thrown, and what it holds. */
export const errorChecks: readonly Check[] = [
  {
    name: 'every status has its class',
    async run(world) {
      for (const [status, errorClass] of classes) {
        const { client, remote } = await fresh(world, { maxRetries: 0 });
        const details = { message: 'No', code: 'some_code', param: 'model' };
        // A 401 has the key asked for again, so it is answered twice.
        await remote.fail({ type: 'error', status, ...details }, { times: status === 401 ? 2 : 1 });
        const error: APIError = await rejects(client.images.generate(image), errorClass);
        assert(error instanceof errorClass, `${status} is not an instance of its class`);
        assert(APIError.isInstance(error), `${status} is not an APIError`);
        assert(GatewayError.isInstance(error), `${status} is not a GatewayError`);
        equal(error.status, status, 'status');
        equal([error.code, error.param], ['some_code', 'model'], 'code and param');
        equal(error.name, errorClass.kind, 'name');
        equal(error.outcome, status >= 500 ? 'unknown' : 'rejected', `outcome of ${status}`);
      }
    },
  },
  {
    name: 'a wrong key is refused, and the request id is in the error',
    async run(world) {
      await fresh(world);
      const client = clientFor(world, { apiKey: () => Promise.resolve('sk-wrong'), maxRetries: 0 });
      const error = await rejects(client.models.list(), AuthenticationError);
      assert((error.requestID ?? '') !== '', 'Missing request id');
    },
  },
  {
    name: 'a key is asked for again after a 401',
    async run(world) {
      const { remote } = await fresh(world);
      const keys = ['sk-old', world.apiKey];
      const client = clientFor(world, { apiKey: () => Promise.resolve(keys.shift() ?? '') });
      await client.images.generate(image);
      equal((await remote.requests()).length, 2, 'requests');
      equal(await remote.charges(), 1, 'charges');
    },
  },
  {
    name: 'bad input is refused before anything is sent',
    async run(world) {
      const { client, remote } = await fresh(world);
      const error = await rejects(
        client.images.generate({ model: 'm-image', prompt: ' ' }),
        InvalidInputError,
      );
      equal([error.field, error.outcome], ['prompt', 'not_sent'], 'field and outcome');
      await rejects(client.models.list({ headers: { 'x-bad': 'a\nb' } }), InvalidInputError);
      equal((await remote.requests()).length, 0, 'requests');
    },
  },
  {
    name: 'no error and no client shows the key, the prompt or the query of a URL',
    async run(world) {
      const client = new Gateway({
        baseURL: world.emulator,
        apiKey: canary,
        defaultQuery: { signature: 'query-canary' },
        dangerouslyAllowBrowser: true,
        logLevel: 'off',
        maxRetries: 0,
        timeout: 1_000,
      });
      const asked = { ...image, prompt: 'A prompt canary' };
      const errors = [
        await caughtFrom(client.models.list()),
        await caughtFrom(client.chat.completions.create({ model: 'm', messages: [] })),
        await caughtFrom(client.get('/v1/nowhere')),
      ];
      for (const fault of brokenConnections) {
        const dead = client.withOptions({ baseURL: world.faults[fault] });
        errors.push(await caughtFrom(dead.images.generate(asked)));
        errors.push(
          await caughtFrom(async () => {
            const stream = await dead.images.generate({ ...asked, stream: true });
            for await (const event of stream) assert(event.type.length > 0, 'Not an event');
          }),
        );
      }
      for (const thing of [client, client.images, ...errors]) {
        const shown = listEverything(thing) + JSON.stringify(thing);
        assert(!/canary/.test(shown), `It can be seen: ${/.{0,80}canary/.exec(shown)?.[0]}`);
      }
      includes(JSON.stringify(client), world.emulator, 'the client as JSON');
    },
  },
];
