import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../src/index.ts';
import {
  buildQuery,
  buildURL,
  displayURL,
  escapePathSegment,
  fillPath,
  isSameOrigin,
  parseBaseURL,
} from '../../src/http/url.ts';
import type { QueryValue } from '../../src/options/options.ts';
import { resolvePath } from '../../src/resources/routes/routes.ts';
import { anyText } from '../helpers/any-text.ts';
import { untyped } from '../helpers/untyped.ts';

function catchInvalidInput(run: () => unknown): InvalidInputError {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('parseBaseURL()', () => {
  test.each([
    { value: 'https://gw.example', root: 'https://gw.example', version: '' },
    { value: 'https://gw.example/', root: 'https://gw.example', version: '' },
    { value: 'https://gw.example///', root: 'https://gw.example', version: '' },
    { value: 'https://gw.example/v1', root: 'https://gw.example', version: '/v1' },
    { value: 'https://gw.example/v1/', root: 'https://gw.example', version: '/v1' },
    { value: 'https://gw.example//v1//', root: 'https://gw.example', version: '/v1' },
    { value: 'https://gw.example/v1beta', root: 'https://gw.example', version: '/v1beta' },
    { value: 'https://gw.example/v1beta/', root: 'https://gw.example', version: '/v1beta' },
    { value: 'https://gw.example/ai/gateway', root: 'https://gw.example/ai/gateway', version: '' },
    { value: 'https://gw.example/ai/v1', root: 'https://gw.example/ai', version: '/v1' },
    { value: 'https://gw.example/ai-v1', root: 'https://gw.example/ai-v1', version: '' },
    { value: 'http://localhost:3000', root: 'http://localhost:3000', version: '' },
    { value: 'http://[::1]:3000/v1', root: 'http://[::1]:3000', version: '/v1' },
    { value: 'HTTPS://GW.Example:443/v1', root: 'https://gw.example', version: '/v1' },
    { value: '  https://gw.example/v1 \n', root: 'https://gw.example', version: '/v1' },
    { value: 'https://gw.example/?', root: 'https://gw.example', version: '' },
    { value: 'https://gw.example/v1/chat/completions', root: 'https://gw.example', version: '/v1' },
    {
      value: 'https://gw.example/ai/v1/chat/completions/',
      root: 'https://gw.example/ai',
      version: '/v1',
    },
    {
      value: 'https://gw.example/v1/images/generations',
      root: 'https://gw.example',
      version: '/v1',
    },
  ])('removes the version from $value', ({ value, root, version }) => {
    expect(parseBaseURL(value)).toMatchObject({ root, version, api: '/v1' });
  });

  test('accepts a URL object', () => {
    expect(parseBaseURL(new URL('https://gw.example/v1'))?.root).toBe('https://gw.example');
  });

  test.each([
    ['gw.example', 'is not a URL'],
    ['//gw.example', 'is not a URL'],
    ['ftp://gw.example', 'must begin with http:// or https://'],
    ['localhost:3000', 'must begin with http:// or https://'],
    ['file:///etc/passwd', 'must begin with http:// or https://'],
    ['https://user:pa55@gw.example', 'user name or password'],
    ['https://gw.example?key=sk-pa55', 'must not contain a key'],
    ['https://gw.example/?x=1&API_KEY=pa55', 'must not contain a key'],
    ['https://gw.example/#top', 'fragment'],
  ])('rejects %j', (value, problem) => {
    const error = catchInvalidInput(() => parseBaseURL(value));

    expect(error.field).toBe('baseURL');
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain('pa55');
  });
});

describe('escapePathSegment()', () => {
  test('rejects every string or returns exactly one segment', () => {
    fc.assert(
      fc.property(anyText(40), (value) => {
        let segment: string;
        try {
          segment = escapePathSegment('task_id', value);
        } catch (error) {
          return error instanceof InvalidInputError;
        }
        const url = new URL(`https://gw.example/v1/videos/${segment}/content?a=1`);
        const segments = url.pathname.split('/');
        return (
          url.host === 'gw.example' &&
          url.search === '?a=1' &&
          segments.length === 5 &&
          decodeURIComponent(segments[3] ?? '') === value
        );
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    '../../admin',
    '..\\..\\admin',
    'a/b',
    'a?b=c',
    'a#b',
    '%2e%2e',
    '%2F',
    'a\tb',
    '\u{1F3AC}',
  ])('escapes %j', (value) => {
    const { pathname } = new URL(`https://gw.example/v1/${escapePathSegment('id', value)}`);

    expect(pathname.split('/')).toHaveLength(3);
    expect(decodeURIComponent(pathname.slice(4))).toBe(value);
  });

  test.each(['', ' ', '\n', '.', '..', '\uD800', 'a\uDC00b'])('rejects %j', (value) => {
    expect(catchInvalidInput(() => escapePathSegment('vendor_prefix', value)).field).toBe(
      'vendor_prefix',
    );
  });
});

describe('fillPath()', () => {
  test('fills all parameters of a template', () => {
    const template = '/{vendor_prefix}/v1/videos/text2video/{task_id}';

    const path = fillPath(template, { vendor_prefix: 'kling', task_id: 'a/b' });

    expect(path).toBe('/kling/v1/videos/text2video/a%2Fb');
  });

  test('names a missing parameter', () => {
    expect(catchInvalidInput(() => fillPath('/v1/videos/{task_id}', {})).field).toBe('task_id');
  });

  test('does not fill placeholders in values', () => {
    const path = fillPath('/{a}/{b}', { a: '{b}', b: '$&' });

    expect(path).toBe('/%7Bb%7D/%24%26');
  });
});

describe('resolvePath()', () => {
  test.each([
    { path: '/v1/models', version: '', expected: '/v1/models' },
    { path: '/v1/models', version: '/v1', expected: '/v1/models' },
    { path: '/models', version: '/v1', expected: '/v1/models' },
    { path: 'models', version: '/v1', expected: '/v1/models' },
    { path: 'models', version: '', expected: '/models' },
    { path: '/v1beta/models', version: '/v1', expected: '/v1beta/models' },
    { path: '/v1', version: '/v1', expected: '/v1' },
    { path: '/v1?limit=2', version: '/v1', expected: '/v1?limit=2' },
    { path: '/v10/models', version: '/v1', expected: '/v1/v10/models' },
    {
      path: '/kling/v1/videos/text2video/7',
      version: '/v1',
      expected: '/kling/v1/videos/text2video/7',
    },
    { path: '/api/status', version: '', expected: '/api/status' },
    { path: 'v1beta/models/m:countTokens', version: '', expected: '/v1beta/models/m:countTokens' },
    { path: '/v1/models?limit=2', version: '/v1', expected: '/v1/models?limit=2' },
  ])('adds $path to a base that ended with $version', ({ path, version, expected }) => {
    expect(resolvePath(path, version === '/v1' ? '/v1' : '')).toBe(expected);
  });

  test.each([
    ['', 'is empty'],
    ['  ', 'is empty'],
    ['https://elsewhere.example/v1', 'not a URL'],
    ['HTTP:elsewhere', 'not a URL'],
    ['//elsewhere.example/v1', 'not a URL'],
    ['/v1/../api/user', '".."'],
    ['/v1/./models', '"."'],
    ['/v1/%2e%2E/api', '".."'],
    ['..', '".."'],
    ['/v1/..\\..\\api', 'backslash'],
    ['\\\\elsewhere.example', 'backslash'],
    ['/v1/.\t./api', 'control character'],
    ['/v1/models\n', 'control character'],
    ['/v1/models#top', '"#"'],
  ])('rejects %j', (path, problem) => {
    const error = catchInvalidInput(() => resolvePath(path, ''));

    expect(error.field).toBe('path');
    expect(error.message).toContain(problem);
  });

  test('rejects every path or stays on the host and below its segments', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '/',
        '..',
        '.',
        '%2e',
        '\\',
        '?',
        '#',
        '\t',
        '@',
        ':',
        'v1',
        'a',
        '//',
        'http:',
      ),
      anyText(4),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const path = pieces.join('');
        let resolved: string;
        try {
          resolved = resolvePath(path, '');
        } catch (error) {
          return error instanceof InvalidInputError;
        }
        const url = new URL(
          buildURL({ root: 'https://gw.example/root', api: '/v1' }, resolved, ''),
        );
        const [asked = ''] = resolved.split('?', 1);
        return (
          url.origin === 'https://gw.example' &&
          url.username === '' &&
          url.hash === '' &&
          url.pathname.startsWith('/root/') &&
          url.pathname.split('/').length === asked.split('/').length + 1
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('buildQuery()', () => {
  test('returns an empty query without parameters', () => {
    expect(buildQuery(undefined, {}, { a: undefined, b: null })).toBe('');
  });

  test('lets later levels override single names', () => {
    expect(buildQuery({ a: 1, b: 2 }, { b: 3 }, { c: true })).toBe('?a=1&b=3&c=true');
  });

  test('null removes, and undefined keeps', () => {
    expect(buildQuery({ a: 1, b: 2 }, { a: null, b: undefined })).toBe('?b=2');
  });

  test.each([
    [{ tag: ['x y', 'z&'] }, '?tag[]=x+y&tag[]=z%26'],
    [{ filter: { deep: 1, list: [2, 3] } }, '?filter[deep]=1&filter[list][]=2&filter[list][]=3'],
    [{ after: new Date(0) }, '?after=1970-01-01T00%3A00%3A00.000Z'],
    [{ none: [], empty: {}, inner: { a: null, b: undefined }, never: new Date('never') }, ''],
  ])('encodes %j as the openai package does', (query, expected) => {
    const brackets = buildQuery(query).replaceAll('%5B', '[').replaceAll('%5D', ']');

    expect(brackets).toBe(expected);
  });

  const cycle: { [name: string]: QueryValue } = {};
  cycle['self'] = cycle;

  test.each([
    ['a function', { a: (): void => {} }],
    ['a map', { a: new Map([[1, 2]]) }],
    ['an object that contains itself', cycle],
  ])('rejects %s', (_, query) => {
    expect(catchInvalidInput(() => buildQuery(untyped(query))).field).toBe('query');
  });
});

describe('buildURL()', () => {
  test.each([
    { path: '/v1/models', query: '', expected: 'https://gw.example/ai/v1/models' },
    { path: '/v1/models', query: '?a=1', expected: 'https://gw.example/ai/v1/models?a=1' },
    { path: '/v1/models?b=2', query: '?a=1', expected: 'https://gw.example/ai/v1/models?b=2&a=1' },
    { path: '/v1/models?a=2', query: '?a=1', expected: 'https://gw.example/ai/v1/models?a=1' },
    {
      path: '/v1/models?a=2&b=3',
      query: '?a=1',
      expected: 'https://gw.example/ai/v1/models?b=3&a=1',
    },
  ])('joins $path and $query', ({ path, query, expected }) => {
    const base = { root: 'https://gw.example/ai', api: '/v1' } as const;

    expect(buildURL(base, path, query)).toBe(expected);
  });
});

describe('displayURL()', () => {
  test.each([
    ['https://user:pa55@gw.example/v1/x?key=secret#secret', 'https://gw.example/v1/x'],
    ['not a url?key=secret', 'not a url'],
  ])('shows no secret of %j', (url, expected) => {
    expect(displayURL(url)).toBe(expected);
  });
});

describe('isSameOrigin()', () => {
  test.each([
    { first: 'https://gw.example/a', second: 'https://gw.example:443/b', expected: true },
    { first: 'https://gw.example/a', second: 'http://gw.example/a', expected: false },
    { first: 'https://gw.example/a', second: 'https://gw.example:8443/a', expected: false },
    { first: 'https://gw.example/a', second: 'https://cdn.gw.example/a', expected: false },
  ])('$first and $second: $expected', ({ first, second, expected }) => {
    expect(isSameOrigin(first, second)).toBe(expected);
  });
});
