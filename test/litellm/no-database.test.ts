import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  AuthenticationError,
  BadRequestError,
  UnsupportedByGatewayError,
} from '../../src/index.ts';
import { failureOf } from '../helpers/clients.ts';
import { startProxy, type Proxy } from './proxy.ts';

const bin = inject('litellmBin');

describe.skipIf(bin === '')('the LiteLLM proxy without a database', () => {
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await startProxy(bin, { models: { chat: { model: 'm-large' } } });
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  test('the LiteLLM proxy without a database has only prices as an account', async () => {
    const { account } = proxy.connect();

    for (const reading of [account.balance(), account.settle('call_x-1')]) {
      expect(await failureOf(reading)).toBeInstanceOf(UnsupportedByGatewayError);
    }
    expect((await account.prices()).models).toMatchObject([
      { model: 'chat', billedPer: 'unknown' },
    ]);
  });

  test('accepts only its master key', async () => {
    const call = proxy.connect({ apiKey: 'sk-other' }).models.list();

    const error = await failureOf(call);

    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).not.toBeInstanceOf(AuthenticationError);
    expect(String(error)).toContain('Check apiKey');
  });
});
