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
  test('have documented defaults', () => {
    expect(resolveSettings(base).call).toEqual({
      maxRetries: 2,
      timeout: 600_000,
      firstByteTimeout: 300_000,
      idleTimeout: 300_000,
      chunkTimeout: null,
      totalTimeout: null,
      retryUnknownOutcome: undefined,
      structuredOutput: 'auto',
      idempotency: null,
      fallback: null,
      fallbackOn: ['limits', 'model', 'context', 'overload', 'timeout'],
      onTruncated: 'throw',
      maxEventBytes: 134_217_728,
      maxResponseBytes: 134_217_728,
      partial: true,
      validation: 'tolerant',
    });
  });

  const durations = [
    'timeout',
    'firstByteTimeout',
    'idleTimeout',
    'chunkTimeout',
    'totalTimeout',
  ] as const;

  test.each(durations)('%s is 1 to 2147483647 milliseconds', (field) => {
    for (const value of [1, 1.5, 2_147_483_647]) {
      expect(resolveSettings({ ...base, [field]: value }).call[field]).toBe(value);
    }
    for (const value of [0, -1, 0.5, 2_147_483_648, Infinity, NaN, '5', true, {}]) {
      expect(catchInvalidInput({ ...base, [field]: value }).field).toBe(field);
    }
  });

  test('null disables every limit except timeout', () => {
    for (const field of durations.slice(1)) {
      expect(resolveSettings({ ...base, [field]: null }).call[field]).toBeNull();
    }
  });

  test.each([
    ['maxRetries', [-1, 0.5, 101, NaN, '2']],
    ['maxEventBytes', [0, 1_023, 1_073_741_825, 0.5]],
    ['maxResponseBytes', [0, 1_023, 536_870_889, 0.5]],
    ['retryUnknownOutcome', ['false', 'true', 0, 1]],
    ['partial', ['false', 0]],
    ['onTruncated', ['ignore', 1, Symbol('throw')]],
    ['validation', ['loose', false]],
    ['logLevel', ['verbose', 3, '']],
    ['logger', ['console', 1, {}, { error() {} }]],
    ['fetch', ['fetch', {}]],
    ['fetchOptions', ['x', 1]],
    ['defaultHeaders', ['x: y', 1, [['a b', 'c']], ['a'], [1]]],
    ['defaultHeaders', [{ 'bad name': 'x' }, { 'x-a': 'line\nbreak' }]],
    ['defaultQuery', ['a=1', 1]],
    ['onDrift', ['log', {}]],
    ['bodyFormat', ['multipart', false]],
    ['baseURL', [7, 'gw.example', ' ', {}]],
    ['apiKey', [' ', 7, {}, true, 'Bearer ', '""']],
  ])('an invalid %s is rejected', (field, values) => {
    for (const value of values) {
      expect(catchInvalidInput({ ...base, [field]: value }).field).toBe(field);
    }
  });

  test('an error about a header does not contain its value', () => {
    const { message } = catchInvalidInput({ ...base, defaultHeaders: { 'x-a': 'se\ncret' } });

    expect(message).toContain('x-a');
    expect(message).not.toContain('cret');
  });

  test.each(['sk-test', null, 5])('must be an object, not %j', (options) => {
    const { field, message } = catchInvalidInput(options);

    expect(field).toBe('options');
    expect(message).toContain('{ apiKey, baseURL }');
    expect(message).not.toContain('sk-test');
  });

  test('undefined means that an option is not set', () => {
    const fields = Object.keys(resolveSettings(base).call);
    const empty = Object.fromEntries(fields.map((field) => [field, undefined]));

    expect(resolveSettings({ ...base, ...empty }).call).toEqual(resolveSettings(base).call);
  });

  test('only throws InvalidInputError', () => {
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

  test('are checked too', () => {
    const options = untyped<RequestOptions>({ retryUnknownOutcome: 'no' });

    expect(() => merge(options)).toThrow(InvalidInputError);
  });
});

describe('the environment', () => {
  test('provides the key, the base URL and the log level', () => {
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

  test('is overridden by options', () => {
    vi.stubEnv('GATEWAY_BASE_URL', 'https://env.example');
    vi.stubEnv('GATEWAY_LOG', 'debug');

    const { findBase, log } = resolveSettings({ ...base, logLevel: 'off' });

    expect(findBase()?.root).toBe('https://gw.example');
    expect(log.isEnabled('error')).toBe(false);
  });

  test('is named if it is invalid or missing', () => {
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

  test('may be inaccessible', () => {
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
