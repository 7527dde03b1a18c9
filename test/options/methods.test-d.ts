import { expectTypeOf, test } from 'vitest';
import type { Operation } from '../../src/endpoints.ts';
import type { Method } from '../../src/options/methods.ts';

test('every operation has a method in the groups, or is only called by path', () => {
  // A method that is in no group accepts the options of `client.request()`, such as `path`.
  expectTypeOf<Exclude<Operation, Method>>().toEqualTypeOf<'messages.create' | 'rerank.create'>();
});
