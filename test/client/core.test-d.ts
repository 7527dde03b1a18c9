import { describe, expectTypeOf, test } from 'vitest';
import { Chat, createGateway, type GatewayCore, Videos } from '../../src/core.ts';
import type { Gateway } from '../../src/index.ts';

const client = createGateway({}, { chat: Chat, clips: Videos });

describe('createGateway()', () => {
  test('has only the given resources', () => {
    expectTypeOf(client.chat).toEqualTypeOf<Chat>();
    expectTypeOf(client.clips).toEqualTypeOf<Videos>();
    // @ts-expect-error -- not among the resources
    void client.images;
    // @ts-expect-error -- the name of a member
    createGateway({}, { get: Chat });
    // @ts-expect-error -- not a resource
    createGateway({}, { date: Date });
  });

  test('keeps its resources in copies', () => {
    expectTypeOf(client.withOptions({}).chat).toEqualTypeOf<Chat>();
  });

  test('is accepted by functions for any client', () => {
    expectTypeOf(client).toExtend<GatewayCore>();
    expectTypeOf<Gateway>().toExtend<GatewayCore>();
    expectTypeOf(client).not.toExtend<Gateway>();
  });
});
