import { describe, expectTypeOf, test } from 'vitest';
import type { PathParameter } from '../../src/endpoints.ts';
import type { OperationRequest } from '../../src/http/call-spec.ts';
import type { GatewayPromise } from '../../src/http/promise.ts';
import type { JSONAnswer, Transport } from '../../src/http/transport.ts';

declare const transport: Transport;
declare const answer: JSONAnswer<{ id: string }>;

describe('an operation', () => {
  test('answers only in the kinds that its endpoint has', () => {
    expectTypeOf(transport.json('models.list', {}, answer, undefined)).toEqualTypeOf<
      GatewayPromise<{ id: string }>
    >();
    expectTypeOf(
      transport.binary('videos.downloadContent', { params: { task_id: 't' } }, undefined),
    ).toEqualTypeOf<GatewayPromise<Response>>();

    // @ts-expect-error -- a file
    void transport.json('videos.downloadContent', { params: { task_id: 't' } }, answer, undefined);
    // @ts-expect-error -- JSON
    void transport.binary('models.list', {}, undefined);
    // @ts-expect-error -- JSON
    void transport.text('models.list', {}, () => ({ value: '' }), undefined);
    // @ts-expect-error -- only events
    void transport.json('generate.contentStream', { params: { model: 'm' }, json: {} }, answer, {});
    // @ts-expect-error -- no operation
    void transport.json('videos.list', {}, answer, undefined);
  });

  test('takes only the bodies that its endpoint has', () => {
    expectTypeOf<OperationRequest<'images.edit'>>().toExtend<object>();
    void transport.json('images.edit', { json: {} }, answer, undefined);
    void transport.json('images.edit', { form: [] }, answer, undefined);
    void transport.json('videos.create', () => ({ form: [] }), answer, undefined);

    // @ts-expect-error -- a form
    void transport.json('audio.translations.create', { json: {} }, answer, undefined);
    // @ts-expect-error -- JSON
    void transport.json('embeddings.create', { form: [] }, answer, undefined);
    // @ts-expect-error -- no body
    void transport.json('models.list', { json: {} }, answer, undefined);
    // @ts-expect-error -- one of them
    void transport.json('images.edit', { json: {}, form: [] }, answer, undefined);
    // @ts-expect-error -- a body is missing
    void transport.json('embeddings.create', {}, answer, undefined);
    // @ts-expect-error -- no list
    void transport.json('embeddings.create', { json: 'text' }, answer, undefined);
  });

  test('takes all the path parameters of its template, and no other', () => {
    expectTypeOf<PathParameter<'videos.retrieveFromVendor'>>().toEqualTypeOf<
      'vendor_prefix' | 'task_id'
    >();
    expectTypeOf<PathParameter<'models.list'>>().toEqualTypeOf<never>();
    expectTypeOf<PathParameter<'generate.content'>>().toEqualTypeOf<'model'>();

    // @ts-expect-error -- the task is missing
    void transport.json('videos.retrieve', {}, answer, undefined);
    const prefix = { vendor_prefix: 'kling' };
    // @ts-expect-error -- the task is missing
    void transport.json('videos.retrieveFromVendor', { params: prefix }, answer, undefined);
    // @ts-expect-error -- another name
    void transport.json('videos.retrieve', { params: { video_id: 't' } }, answer, undefined);
    // @ts-expect-error -- no text
    void transport.json('videos.retrieve', { params: { task_id: 7 } }, answer, undefined);
    // @ts-expect-error -- no parameters
    void transport.json('models.list', { params: { model: 'm' } }, answer, undefined);
  });
});
