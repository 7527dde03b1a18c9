import { describe, expectTypeOf, test } from 'vitest';
import {
  Account,
  Chat,
  ChatWithRuns,
  createGateway,
  type GatewayCore,
  Videos,
  withFallback,
  withLimits,
} from '../../src/core.ts';
import type { Gateway } from '../../src/index.ts';

const client = createGateway({}, { chat: Chat, clips: Videos });

describe('createGateway()', () => {
  test('a client of createGateway() has only the given resources', () => {
    expectTypeOf(client.chat).toEqualTypeOf<Chat>();
    expectTypeOf(client.clips).toEqualTypeOf<Videos>();
    // @ts-expect-error -- not among the resources
    void client.images;
    // @ts-expect-error -- the name of a member
    createGateway({}, { withOptions: Chat });
    // @ts-expect-error -- not a resource
    createGateway({}, { date: Date });
  });

  test('accepts an option only with its policy or resource', () => {
    const fallback = ['model-b'];
    createGateway({ fallback }, { chat: Chat }, [withFallback()]);
    createGateway({ fallback, limits: { concurrency: 1 } }, { chat: Chat }, [
      withLimits(),
      withFallback(),
    ]);
    createGateway({ budget: { limit: 1 } }, { chat: Chat, account: Account });
    // @ts-expect-error -- its policy is missing
    createGateway({ fallback }, { chat: Chat });
    // @ts-expect-error -- another policy
    createGateway({ fallback }, { chat: Chat }, [withLimits()]);
    // @ts-expect-error -- prices are missing
    createGateway({ budget: { limit: 1 } }, { chat: Chat });
  });

  test('a client of createGateway() has runs of chat only with ChatWithRuns', () => {
    // @ts-expect-error -- not in Chat
    void client.chat.completions.stream;
    void createGateway({}, { chat: ChatWithRuns }).chat.completions.stream;
  });

  test('keeps its resources in copies', () => {
    expectTypeOf(client.withOptions({}).chat).toEqualTypeOf<Chat>();
  });

  test('a client of createGateway() is accepted by functions for any client', () => {
    expectTypeOf(client).toExtend<GatewayCore>();
    expectTypeOf<Gateway>().toExtend<GatewayCore>();
    expectTypeOf(client).not.toExtend<Gateway>();
  });
});
