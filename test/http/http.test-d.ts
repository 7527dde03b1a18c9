import { describe, expectTypeOf, test } from 'vitest';
import type { OperationReturning, PathParameter, ResponseKind } from '../../src/endpoints.ts';
import type { OperationRequest } from '../../src/http/request.ts';
import type { GatewayPromise } from '../../src/calls/promise.ts';
import type { ResultFormat } from '../../src/calls/gateway-request.ts';
import type { BodyEncoding } from '../../src/http/request.ts';
import type { Transport } from '../../src/calls/transport.ts';

declare const transport: Transport;
declare const answer: ResultFormat<{ id: string }, 'json'>;
declare const file: ResultFormat<Response, 'binary'>;
declare const text: ResultFormat<string, 'text'>;
declare const form: BodyEncoding;

const call = <Name extends OperationReturning<Kind>, Kind extends ResponseKind, T>(
  operation: Name,
  request: OperationRequest<Name>,
  format: ResultFormat<T, Kind>,
): GatewayPromise<T> =>
  transport.operate(
    operation,
    {},
    { kind: format.kind, write: () => request, format: () => format },
    undefined,
  );

describe('an operation', () => {
  test('returns only the response kinds of its endpoint', () => {
    expectTypeOf(call('models.list', {}, answer)).toEqualTypeOf<GatewayPromise<{ id: string }>>();
    expectTypeOf(call('videos.downloadContent', { params: { task_id: 't' } }, file)).toEqualTypeOf<
      GatewayPromise<Response>
    >();

    // @ts-expect-error -- a file
    void call('videos.downloadContent', { params: { task_id: 't' } }, answer);
    // @ts-expect-error -- JSON
    void call('models.list', {}, file);
    // @ts-expect-error -- JSON
    void call('models.list', {}, text);
    // @ts-expect-error -- only events
    void call('generate.contentStream', { params: { model: 'm' }, json: {} }, answer);
    // @ts-expect-error -- no operation
    void call('videos.list', {}, answer);
  });

  test('accepts only the bodies of its endpoint', () => {
    expectTypeOf<OperationRequest<'images.edit'>>().toExtend<object>();
    void call('images.edit', { json: {} }, answer);
    void call('images.edit', { form }, answer);
    void call('videos.create', { form }, answer);

    // @ts-expect-error -- a form
    void call('audio.translations.create', { json: {} }, answer);
    // @ts-expect-error -- JSON
    void call('embeddings.create', { form }, answer);
    // @ts-expect-error -- no body
    void call('models.list', { json: {} }, answer);
    // @ts-expect-error -- one of them
    void call('images.edit', { json: {}, form }, answer);
    // @ts-expect-error -- a body is missing
    void call('embeddings.create', {}, answer);
    // @ts-expect-error -- no list
    void call('embeddings.create', { json: 'text' }, answer);
  });

  test('requires exactly the path parameters of its template', () => {
    expectTypeOf<PathParameter<'videos.retrieveFromVendor'>>().toEqualTypeOf<
      'vendor_prefix' | 'task_id'
    >();
    expectTypeOf<PathParameter<'models.list'>>().toEqualTypeOf<never>();
    expectTypeOf<PathParameter<'generate.content'>>().toEqualTypeOf<'model'>();

    // @ts-expect-error -- the task is missing
    void call('videos.retrieve', {}, answer);
    const prefix = { vendor_prefix: 'kling' };
    // @ts-expect-error -- the task is missing
    void call('videos.retrieveFromVendor', { params: prefix }, answer);
    // @ts-expect-error -- another name
    void call('videos.retrieve', { params: { video_id: 't' } }, answer);
    // @ts-expect-error -- no text
    void call('videos.retrieve', { params: { task_id: 7 } }, answer);
    // @ts-expect-error -- no parameters
    void call('models.list', { params: { model: 'm' } }, answer);
  });
});
