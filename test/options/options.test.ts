import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../../src/index.ts';
import { requireBase, resolveCallSettings, resolveSettings } from '../../src/calls/settings.ts';
import type { GatewayOptions, RequestOptions } from '../../src/options/options.ts';
import { untyped } from '../helpers/untyped.ts';

const base = { apiKey: 'sk-test', baseURL: 'https://gw.example' };

function catchInvalidInput(options: unknown): InvalidInputError {
  try {
    resolveSettings(untyped<GatewayOptions>(options));
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

function recorder() {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const logger = {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
  };
  return { lines, logger };
}

function stubBrowser() {
  vi.stubGlobal('window', { document: {} });
  vi.stubGlobal('document', {});
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0' });
}

describe('options of the client', () => {
  test('an error about a header does not contain its value', () => {
    const { message } = catchInvalidInput({ ...base, defaultHeaders: { 'x-a': 'se\ncret' } });

    expect(message).toContain('x-a');
    expect(message).not.toContain('cret');
  });

  test.each(['sk-test', null, 5])('options of the client must be an object, not %j', (options) => {
    const { field, message } = catchInvalidInput(options);

    expect(field).toBe('options');
    expect(message).toContain('{ apiKey, baseURL }');
    expect(message).not.toContain('sk-test');
  });

  test('invalid options of the client only throw InvalidInputError', () => {
    const fields = ['apiKey', 'baseURL', 'logLevel', 'logger', 'fetch', 'timeout', 'maxRetries'];
    const garbage = fc.dictionary(fc.constantFrom(...fields), fc.anything());
    fc.assert(
      fc.property(garbage, (options) => {
        try {
          resolveSettings(untyped<GatewayOptions>({ ...base, ...options }));
          return true;
        } catch (error) {
          return error instanceof InvalidInputError;
        }
      }),
    );
  });
});

describe('options of a call', () => {
  const client = resolveSettings({ ...base, maxRetries: 5, retryUnknownOutcome: true });
  const merge = (options: RequestOptions) => resolveCallSettings(client, options, 'models.list');

  test('override those of the client one by one', () => {
    const merged = merge({ timeout: 7, retryUnknownOutcome: false });

    expect(merged).toEqual({ ...client.call, timeout: 7, retryUnknownOutcome: false });
    expect(merge({ maxRetries: 0 }).maxRetries).toBe(0);
  });
});

describe('the environment', () => {
  test('the environment provides the key, the base URL and the log level', () => {
    vi.stubEnv('GATEWAY_API_KEY', 'sk-env');
    vi.stubEnv('GATEWAY_BASE_URL', 'https://env.example/v1');
    vi.stubEnv('GATEWAY_LOG', ' DEBUG ');

    const { findBase, log } = resolveSettings({});

    expect(findBase()).toEqual({
      text: 'https://env.example/v1',
      root: 'https://env.example',
      version: '/v1',
      api: '/v1',
    });
    expect(log.isEnabled('debug')).toBe(true);
  });

  test('the environment is overridden by options', () => {
    vi.stubEnv('GATEWAY_BASE_URL', 'https://env.example');
    vi.stubEnv('GATEWAY_LOG', 'debug');

    const { findBase, log } = resolveSettings({ ...base, logLevel: 'off' });

    expect(findBase()?.root).toBe('https://gw.example');
    expect(log.isEnabled('error')).toBe(false);
  });

  test('a variable of the environment is named if it is invalid or missing', () => {
    vi.stubEnv('GATEWAY_LOG', 'loud');
    expect(catchInvalidInput(base).field).toBe('GATEWAY_LOG');
    vi.stubEnv('GATEWAY_LOG', ' ');
    vi.stubEnv('GATEWAY_API_KEY', ' ');
    vi.stubEnv('GATEWAY_BASE_URL', undefined);
    vi.stubEnv('GATEWAY_LOG', undefined);
    const keyless = resolveSettings({ baseURL: 'https://gw.example' });
    expect(() => keyless.credential.authorize(new Headers())).toThrow('GATEWAY_API_KEY');
    expect(() => requireBase(resolveSettings({ apiKey: 'sk-test' }))).toThrow('GATEWAY_BASE_URL');
    expect(() => requireBase(resolveSettings({ apiKey: 'sk-test', baseURL: null }))).toThrow(
      'baseURL',
    );
  });

  test('the environment may be inaccessible', () => {
    vi.stubGlobal('process', {
      get env() {
        throw new Error('NotCapable: Requires env access');
      },
    });

    expect(resolveSettings({ ...base, logger: console }).findBase()?.root).toBe(
      'https://gw.example',
    );
  });
});

describe('a browser', () => {
  test('rejects a key as a string, because every visitor could read it', () => {
    stubBrowser();

    const error = catchInvalidInput(base);

    expect(error.field).toBe('apiKey');
    expect(error.message).toContain('dangerouslyAllowBrowser');
    expect(error.message).not.toContain('sk-test');
  });

  test('accepts a function, and a string with an explicit option', () => {
    stubBrowser();

    expect(() => resolveSettings({ ...base, apiKey: () => 'sk-short-lived' })).not.toThrow();
    expect(() => resolveSettings({ ...base, dangerouslyAllowBrowser: true })).not.toThrow();
    expect(catchInvalidInput({ ...base, dangerouslyAllowBrowser: 'yes' }).field).toBe('apiKey');
  });
});

describe('a second credential', () => {
  test.each([
    [{ defaultHeaders: { 'X-Api-Key': 'x' } }, 'x-api-key'],
    [{ defaultHeaders: new Headers({ 'x-goog-api-key': 'x' }) }, 'x-goog-api-key'],
    [{ defaultQuery: { key: 'x' } }, 'key'],
  ])('logs a warning, because gateways prefer it to the bearer key: %j', (options, name) => {
    const { lines, logger } = recorder();

    resolveSettings({ ...base, ...options, logger });

    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^warn: /);
    expect(lines[0]).toContain(name);
  });

  test('logs no warning without one', () => {
    const { lines, logger } = recorder();

    resolveSettings({
      ...base,
      logger,
      defaultHeaders: { 'x-tenant': 'a', 'x-api-key': null },
      defaultQuery: { tenant: 'a' },
    });

    expect(lines).toEqual([]);
  });
});
