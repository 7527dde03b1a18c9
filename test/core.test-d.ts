import { describe, expectTypeOf, test } from 'vitest';
import { Chat, createGateway, type GatewayCore, Videos } from '../src/core.ts';
import type { Gateway } from '../src/index.ts';

const client = createGateway({}, { chat: Chat, clips: Videos });

describe('createGateway()', () => {
  test('has the given resources, and those alone', () => {
    expectTypeOf(client.chat).toEqualTypeOf<Chat>();
    expectTypeOf(client.clips).toEqualTypeOf<Videos>();
    // @ts-expect-error -- not among the resources
    void client.images;
    // @ts-expect-error -- the name of a member
    createGateway({}, { get: Chat });
    // @ts-expect-error -- not a resource
    createGateway({}, { date: Date });
  });

  test('keeps the resources in copies', () => {
    expectTypeOf(client.withOptions({}).chat).toEqualTypeOf<Chat>();
  });

  test('is what functions for any client take', () => {
    expectTypeOf(client).toExtend<GatewayCore>();
    expectTypeOf<Gateway>().toExtend<GatewayCore>();
    expectTypeOf(client).not.toExtend<Gateway>();
  });
});
