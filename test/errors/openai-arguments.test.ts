import { build } from 'esbuild';
import * as theirs from 'openai';
import { describe, expect, test } from 'vitest';
import * as ours from '../../src/index.ts';
import { root } from '../helpers/run-program.ts';

const said = { message: 'Slow down.', code: 'slow_down', param: 'n', type: 'requests' };
const headers = new Headers({ 'x-request-id': 'req_1' });

const classes = [
  ours.APIError,
  ours.BadRequestError,
  ours.AuthenticationError,
  ours.PermissionDeniedError,
  ours.NotFoundError,
  ours.ConflictError,
  ours.UnprocessableEntityError,
  ours.RateLimitError,
  ours.InternalServerError,
];

/** Fields of an error that code for `openai` reads. */
const read = (error: ours.APIError | InstanceType<typeof theirs.APIError>) => ({
  message: error.message,
  status: error.status,
  error: error.error,
  code: error.code,
  param: error.param,
  type: error.type,
  requestID: error.requestID,
  headers: error.headers,
});

describe("errors created with openai's arguments", () => {
  test.each(classes)('%o has the same message', (ErrorClass) => {
    for (const [status, error, message] of [
      [429, said, undefined],
      [429, undefined, 'no body'],
      [500, 'text', undefined],
      [400, { detail: 'odd' }, undefined],
      [400, { message: { deep: true } }, undefined],
      [404, undefined, undefined],
      [undefined, undefined, 'nothing came'],
      [undefined, undefined, undefined],
    ] as const) {
      const made = new ErrorClass(status, error, message, headers);
      const object: object | undefined = typeof error === 'string' ? undefined : error;

      expect(made).toBeInstanceOf(ours.GatewayError);
      expect(made.name).toBe(ErrorClass.kind);
      expect(ErrorClass.isInstance(made)).toBe(true);
      if (typeof error === 'string') continue;
      const { APIError: Theirs } = theirs;
      expect(read(made)).toEqual(read(new Theirs(status, object, message, headers)));
    }
  });

  test('errors without a response', () => {
    const cause = new Error('reset');

    const lost = new ours.APIConnectionError({ message: 'lost', cause });
    expect(lost).toMatchObject({ message: 'lost', cause, status: undefined, outcome: 'unknown' });
    expect(new ours.APIConnectionError({}).message).toBe(new theirs.APIConnectionError({}).message);
    expect(new ours.APIConnectionTimeoutError().message).toBe(
      new theirs.APIConnectionTimeoutError().message,
    );
    expect(new ours.APIConnectionTimeoutError({ message: 'late' })).toMatchObject({
      message: 'late',
      timeout: undefined,
    });
    expect(new ours.APIUserAbortError().message).toBe(new theirs.APIUserAbortError().message);
    expect(new ours.APIUserAbortError({ message: 'stop' }).message).toBe('stop');
  });

  test.each([400, 401, 403, 404, 409, 422, 429, 500, 503, 418])(
    'generate() creates the class of status %i',
    (status) => {
      const made = ours.APIError.generate(status, { error: said }, undefined, headers);
      const their = theirs.APIError.generate(status, { error: said }, undefined, headers);

      expect(made.constructor.name).toBe(their.constructor.name);
      expect(read(made)).toEqual(read(their));
    },
  );

  test('generate() without a response is a lost connection', () => {
    const cause = new Error('reset');
    const made = ours.APIError.generate(undefined, cause, 'lost', undefined);

    expect(made).toBeInstanceOf(ours.APIConnectionError);
    expect(made).toMatchObject({ message: 'lost', cause });
  });

  test('generate() exists on the class alone', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export { APIError } from './src/index.ts';", resolveDir: root },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
      external: ['node:*', '#form-data'],
    });
    const code = outputFiles[0]?.text ?? '';
    const program: typeof ours = await import(`data:text/javascript,${encodeURIComponent(code)}`);

    const made = program.APIError.generate(404, { error: said }, undefined, headers);

    expect(made.name).toBe('NotFoundError');
    expect(made).toBeInstanceOf(program.APIError);
    expect(ours.NotFoundError.isInstance(made)).toBe(true);
    // The errors, and nothing of the client.
    expect(code.length).toBeLessThan(8_000);
  });

  test.each([
    [new ours.LengthFinishReasonError(), 'LengthFinishReasonError'],
    [new ours.ContentFilterFinishReasonError(), 'ContentFilterFinishReasonError'],
  ])('a response that cannot be parsed, without the response: %s', (error, name) => {
    expect(error).toBeInstanceOf(ours.OutputError);
    expect(error.name).toBe(name);
    expect(error.message).toMatch(/cannot be parsed/);
    expect(error.completion.choices).toEqual([]);
  });

  test('the outcome of the request is unknown', () => {
    expect(new ours.APIError(429, said, undefined, headers).outcome).toBe('unknown');
  });
});
