import { describe, expectTypeOf, test } from 'vitest';
import type { PathParameter } from '../../src/endpoints.ts';
import type { OperationRequest } from '../../src/http/request.ts';
import type { GatewayPromise } from '../../src/calls/promise.ts';
import type { AnswerFormat } from '../../src/calls/call.ts';
import type { BodyEncoding } from '../../src/http/request.ts';
import type { Transport } from '../../src/calls/transport.ts';

declare const transport: Transport;
declare const answer: AnswerFormat<{ id: string }, 'json'>;
declare const file: AnswerFormat<Response, 'binary'>;
declare const text: AnswerFormat<string, 'text'>;
declare const form: BodyEncoding;

describe('an operation', () => {
  test('returns only the response kinds of its endpoint', () => {
    expectTypeOf(transport.call('models.list', {}, answer, undefined)).toEqualTypeOf<
      GatewayPromise<{ id: string }>
    >();
    expectTypeOf(
      transport.call('videos.downloadContent', { params: { task_id: 't' } }, file, undefined),
    ).toEqualTypeOf<GatewayPromise<Response>>();

    // @ts-expect-error -- a file
    void transport.call('videos.downloadContent', { params: { task_id: 't' } }, answer, undefined);
    // @ts-expect-error -- JSON
    void transport.call('models.list', {}, file, undefined);
    // @ts-expect-error -- JSON
    void transport.call('models.list', {}, text, undefined);
    // @ts-expect-error -- only events
    void transport.call('generate.contentStream', { params: { model: 'm' }, json: {} }, answer, {});
    // @ts-expect-error -- no operation
    void transport.call('videos.list', {}, answer, undefined);
  });

  test('accepts only the bodies of its endpoint', () => {
    expectTypeOf<OperationRequest<'images.edit'>>().toExtend<object>();
    void transport.call('images.edit', { json: {} }, answer, undefined);
    void transport.call('images.edit', { form }, answer, undefined);
    void transport.call('videos.create', () => ({ form }), answer, undefined);

    // @ts-expect-error -- a form
    void transport.call('audio.translations.create', { json: {} }, answer, undefined);
    // @ts-expect-error -- JSON
    void transport.call('embeddings.create', { form }, answer, undefined);
    // @ts-expect-error -- no body
    void transport.call('models.list', { json: {} }, answer, undefined);
    // @ts-expect-error -- one of them
    void transport.call('images.edit', { json: {}, form }, answer, undefined);
    // @ts-expect-error -- a body is missing
    void transport.call('embeddings.create', {}, answer, undefined);
    // @ts-expect-error -- no list
    void transport.call('embeddings.create', { json: 'text' }, answer, undefined);
  });

  test('requires exactly the path parameters of its template', () => {
    expectTypeOf<PathParameter<'videos.retrieveFromVendor'>>().toEqualTypeOf<
      'vendor_prefix' | 'task_id'
    >();
    expectTypeOf<PathParameter<'models.list'>>().toEqualTypeOf<never>();
    expectTypeOf<PathParameter<'generate.content'>>().toEqualTypeOf<'model'>();

    // @ts-expect-error -- the task is missing
    void transport.call('videos.retrieve', {}, answer, undefined);
    const prefix = { vendor_prefix: 'kling' };
    // @ts-expect-error -- the task is missing
    void transport.call('videos.retrieveFromVendor', { params: prefix }, answer, undefined);
    // @ts-expect-error -- another name
    void transport.call('videos.retrieve', { params: { video_id: 't' } }, answer, undefined);
    // @ts-expect-error -- no text
    void transport.call('videos.retrieve', { params: { task_id: 7 } }, answer, undefined);
    // @ts-expect-error -- no parameters
    void transport.call('models.list', { params: { model: 'm' } }, answer, undefined);
  });
});
