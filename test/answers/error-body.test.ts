import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isEmptyResult,
  readErrorInSuccess,
  readErrorText,
  type ErrorBody,
} from '../../src/answers/error-body.ts';
import { anyText } from '../helpers/any-text.ts';

type Expected = Partial<ErrorBody>;

const requestId = '20260901120000123456789abcdefgh';

const hasLoneSurrogate = (text: string): boolean => /\p{Surrogate}/u.test(text);

/** Every shape that gateways of this family were seen to answer with. */
const shapes: readonly [string, string, Expected][] = [
  [
    'no code',
    `{"error":{"message":"Invalid token (request id: ${requestId})","type":"new_api_error","code":""}}`,
    {
      envelope: 'gateway',
      message: `Invalid token (request id: ${requestId})`,
      type: 'new_api_error',
      code: undefined,
      requestId,
    },
  ],
  [
    'a relayed status',
    `{"error":{"message":"bad response status code 524 (request id: ${requestId})","type":"bad_response_status_code","param":"","code":"bad_response_status_code"}}`,
    { envelope: 'gateway', code: 'bad_response_status_code', param: undefined, requestId },
  ],
  [
    'a number as code',
    '{"error":{"message":"Rate limit","type":"upstream_error","param":"","code":429}}',
    { envelope: 'gateway', code: '429', type: 'upstream_error' },
  ],
  [
    'null everywhere',
    '{"error":{"message":"Oops","type":"","param":null,"code":null,"metadata":{"provider_name":"x"}}}',
    { envelope: 'gateway', message: 'Oops', param: null, type: undefined },
  ],
  [
    'text as error',
    '{"error":"quota exceeded"}',
    { envelope: 'gateway', message: 'quota exceeded' },
  ],
  [
    'a panic',
    '{"error":{"message":"Panic detected, error: x","type":"new_api_panic"}}',
    { envelope: 'gateway', type: 'new_api_panic', message: 'Panic detected, error: x' },
  ],
  [
    'a task error that holds the JSON of the provider',
    String.raw`{"code":"fail_to_fetch_task","message":"{\"error\":{\"message\":\"blocked\"}}","data":null}`,
    { envelope: 'task', code: 'fail_to_fetch_task', message: 'blocked' },
  ],
  [
    'a task error that holds JSON and a request id',
    String.raw`{"code":"fail_to_fetch_task","message":"{\"error\":{\"message\":\"blocked\"}} (request id: r-7)","data":null}`,
    { envelope: 'task', message: 'blocked (request id: r-7)', requestId: 'r-7' },
  ],
  [
    'an error without a wrapper',
    '{"code":null,"message":"Task not found","param":"task_id","type":"invalid_request_error"}',
    {
      envelope: 'gateway',
      message: 'Task not found',
      param: 'task_id',
      type: 'invalid_request_error',
    },
  ],
  [
    'the console',
    '{"success":false,"message":"get user group failed"}',
    { envelope: 'gateway', message: 'get user group failed' },
  ],
  [
    'Anthropic',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    { envelope: 'gateway', type: 'overloaded_error', message: 'Overloaded' },
  ],
  [
    'Google',
    '{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"34s"}]}}',
    { envelope: 'gateway', code: '429', type: 'RESOURCE_EXHAUSTED', message: 'Slow down' },
  ],
  [
    'Google in a list',
    '[{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}}]',
    { envelope: 'gateway', code: '400', type: 'INVALID_ARGUMENT', message: 'Bad' },
  ],
  [
    'an old build with the status in param and no message',
    '{"error":{"message":"","type":"new_api_error","param":"524","code":"x"}}',
    { envelope: 'gateway', message: undefined, param: '524' },
  ],
  ['msg', '{"msg":"no"}', { envelope: 'other', message: 'no' }],
  ['err', '{"err":"no"}', { envelope: 'other', message: 'no' }],
  ['error_msg', '{"error_msg":"no","error_code":3}', { envelope: 'other', message: 'no' }],
  ['detail', '{"detail":"no"}', { envelope: 'other', message: 'no' }],
  ['detail as a list', '{"detail":[{"loc":["body"],"msg":"no"}]}', { message: 'no' }],
  ['header.message', '{"header":{"message":"no"}}', { message: 'no' }],
  [
    'response.error.message',
    '{"response":{"error":{"message":"no","code":"c"}}}',
    { message: 'no' },
  ],
  [
    'a base response',
    '{"base_resp":{"status_code":1004,"status_msg":"no"}}',
    { envelope: 'other', message: 'no', code: '1004' },
  ],
  ['error_code as text', '{"error_code":"E7","msg":"no"}', { message: 'no', code: 'E7' }],
  ['a list of errors', '{"errors":[{"code":7,"message":"no"}]}', { message: 'no', code: '7' }],
  ['a list of texts', '{"errors":["no"]}', { envelope: 'other', message: 'no' }],
  ['a fault', '{"fault":{"faultstring":"no"}}', { envelope: 'other', message: 'no' }],
  [
    'a wrapped response',
    '{"Response":{"Error":{"Code":"C","Message":"no"}}}',
    { envelope: 'other', message: 'no', code: 'C' },
  ],
  ['error.msg', '{"error":{"msg":"no"}}', { message: 'no' }],
  ['a JSON string', '"no"', { envelope: 'text', message: '"no"' }],
  ['text', 'error code: 524', { envelope: 'text', message: 'error code: 524' }],
  ['nothing', '', { envelope: 'empty', message: undefined, error: undefined }],
  ['blanks', ' \r\n', { envelope: 'empty', message: undefined, error: undefined }],
  [
    'HTML',
    '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
    { envelope: 'html', message: '502 Bad Gateway' },
  ],
  ['HTML without a title', '<html></html>', { envelope: 'html', message: undefined }],
  ['JSON that is cut', '{"error":{"message":"No', { envelope: 'text' }],
  ['an empty object', '{}', { envelope: 'other', message: undefined }],
  ['an empty list', '[]', { envelope: 'other', message: undefined }],
  ['null as error', '{"error":null,"message":"no"}', { envelope: 'other', message: 'no' }],
];

describe('readErrorText()', () => {
  test.each(shapes)('reads %s', (_, text, expected) => {
    expect(readErrorText(text)).toMatchObject(expected);
    expect(readErrorText(`\uFEFF \n${text}\n`)).toMatchObject(expected);
  });

  test('leaves the message of an empty body to the status', () => {
    expect(readErrorText('').message).toBeUndefined();
  });

  test('unwraps one level of JSON in a message, and no more', () => {
    const twice = JSON.stringify({ message: JSON.stringify({ message: '{"message":"deep"}' }) });

    expect(readErrorText(twice).message).toBe('{"message":"deep"}');
  });

  test('keeps a message that only looks like JSON', () => {
    expect(readErrorText('{"error":{"message":"{ is not allowed"}}').message).toBe(
      '{ is not allowed',
    );
    expect(readErrorText('{"error":{"message":"[1,2]"}}').message).toBe('[1,2]');
  });

  test('keeps the request id at the end of a message that is cut', () => {
    const text = JSON.stringify({ error: { message: `${'x'.repeat(9_000)} (request id: r-7)` } });

    const { message, requestId: found } = readErrorText(text);

    expect(message).toHaveLength(2_000);
    expect(message).toMatch(/… \(request id: r-7\)$/);
    expect(found).toBe('r-7');
  });

  test('takes the last request id, which is that of the outer gateway', () => {
    const text = '{"error":{"message":"no (request id: inner) (request id: outer)"}}';

    expect(readErrorText(text).requestId).toBe('outer');
  });

  test('keeps the innermost error object for the caller', () => {
    expect(readErrorText('{"error":{"message":"no","extra":1}}').error).toEqual({
      message: 'no',
      extra: 1,
    });
    expect(readErrorText('{"code":"x","message":"no","data":null}').error).toEqual({
      code: 'x',
      message: 'no',
      data: null,
    });
  });

  test('does not take forever for an unfinished title, and survives deep nesting', () => {
    // Work that grew with the square of the length would take minutes.
    expect(readErrorText('<title'.repeat(100_000))).toBeDefined();
    expect(readErrorText(`<${'<title>a'.repeat(80_000)}`)).toBeDefined();
    expect(readErrorText('{"error":'.repeat(7_000) + '1' + '}'.repeat(7_000))).toBeDefined();
  });

  test('never throws, and never gives a message of more than 2000 characters', () => {
    const fragment = fc.oneof(
      fc.constantFrom(
        '(request id: ',
        ')',
        '{"error":',
        '}',
        '<title>',
        '\uD83C\uDFAC',
        'x'.repeat(700),
      ),
      anyText(30),
    );
    const text = fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join(''));
    const json = fc.record(
      {
        error: fc.oneof(
          text,
          fc.record({ message: text, code: fc.jsonValue(), type: fc.jsonValue() }),
        ),
        message: fc.oneof(text, fc.jsonValue()),
        code: fc.jsonValue(),
        data: fc.jsonValue(),
        success: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      text,
      json.map((value) => JSON.stringify(value)),
      fc.json(),
    );
    fc.assert(
      fc.property(body, (value) => {
        const { message, code, type, requestId: found } = readErrorText(value);
        return (
          (message === undefined ||
            (message.length <= 2_000 &&
              (!hasLoneSurrogate(message) || hasLoneSurrogate(value) || value.includes('\\ud')))) &&
          (found === undefined || found.length <= 200) &&
          (code === undefined || code === null || code !== '') &&
          type !== ''
        );
      }),
      { numRuns: 150 },
    );
  });
});

describe('readErrorInSuccess()', () => {
  test.each([
    {
      name: '200 from chat',
      text: '{"error":{"message":"no","type":"x","code":"y"}}',
      message: 'no',
    },
    {
      name: '200 from Ali images',
      text: '{"error":{"message":"no","type":"ali_error","code":"DataInspectionFailed"}}',
      message: 'no',
    },
    {
      name: '200 from a model lookup',
      text: '{"error":{"message":"no","code":"model_not_found"}}',
      message: 'no',
    },
    {
      name: '200 with a task error',
      text: '{"code":"ali_api_error","message":"no","data":null}',
      message: 'no',
    },
    {
      name: '200 with a task error and text as data',
      text: '{"code":"ali_api_error","message":"no","data":"x"}',
      message: 'no',
    },
    {
      name: '201 with a task error',
      text: '{"code":"fail_to_fetch_task","message":"no","data":null}',
      message: 'no',
    },
    { name: '200 from the model list', text: '{"success":false,"message":"no"}', message: 'no' },
    {
      name: '200 without a wrapper',
      text: '{"code":null,"message":"no","param":"x","type":"y"}',
      message: 'no',
    },
    {
      name: '200 from Google',
      text: '{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}',
      message: 'no',
    },
    {
      name: '200 from Google in a list',
      text: '[{"error":{"code":503,"message":"no","status":"X"}}]',
      message: 'no',
    },
    {
      name: '200 from a vendor',
      text: '{"code":1102,"message":"no","request_id":"x"}',
      message: 'no',
    },
    {
      name: '200 from Anthropic',
      text: '{"type":"error","error":{"type":"overloaded_error","message":"no"}}',
      message: 'no',
    },
    {
      name: '200 from a web framework',
      text: '{"status":400,"error":"no","path":"/"}',
      message: 'no',
    },
    {
      name: '200 with an error and empty fields',
      text: '{"id":"","choices":[],"error":{"message":"no"}}',
      message: 'no',
    },
  ])('$name is an error', ({ text, message }) => {
    const found = readErrorInSuccess(JSON.parse(text), undefined);

    expect(found?.message).toBe(message);
  });

  test.each([
    ['a completion', '{"id":"c","choices":[{"index":0}],"error":null}'],
    [
      'a completion next to an empty error',
      '{"id":"c","choices":[{}],"error":{"message":"","code":null}}',
    ],
    [
      'a completion next to an error',
      '{"id":"c","choices":[{"index":0}],"error":{"message":"late"}}',
    ],
    ['a blocked prompt', '{"promptFeedback":{"blockReason":"SAFETY"}}'],
    ['an empty list', '{"object":"list","data":[]}'],
    ['the wrapper of the model list', '{"success":true,"data":[{"id":"m"}]}'],
    ['a task in its success wrapper', '{"code":"success","message":"","data":{"task_id":"t"}}'],
    ['an empty success wrapper', '{"code":"success","data":null}'],
    ['a vendor task', '{"code":0,"message":"SUCCEED","data":{"task_id":"t"}}'],
    ['a task with a code', '{"code":"weird","message":"x","task_id":"t"}'],
    ['a transcript', '{"text":"hello","code":"en","message":"x"}'],
    ['a code without a message', '{"code":"SUMMER"}'],
    ['an empty object', '{}'],
    ['a list of things with errors', '[{"error":"a"},{"error":"b"}]'],
    ['an empty list of things', '[]'],
  ])('%s is an answer', (_, text) => {
    expect(readErrorInSuccess(JSON.parse(text), undefined)).toBeUndefined();
  });

  test.each(['creates', 'reads'] as const)(
    'a failed task is a valid answer of an operation that %s one',
    (task) => {
      for (const text of [
        '{"id":"t","object":"video","status":"failed","error":{"message":"no"}}',
        '{"id":"t","error":{"message":"no"}}',
        '{"task_id":"t","error":"no"}',
        '{"status":"failed","error":{"message":"no"}}',
        '{"code":"success","data":{"task_id":"t","status":"FAILURE","error":{"message":"no"}}}',
      ]) {
        expect(readErrorInSuccess(JSON.parse(text), task)).toBeUndefined();
      }
    },
  );

  test('an error next to an id is an error, but of a submission', () => {
    const errors = [
      { id: 'chatcmpl-1', choices: [], error: { message: 'no' } },
      { success: false, message: 'no', data: { task_id: 't' } },
    ];
    for (const error of errors) {
      expect(readErrorInSuccess(error, undefined)?.message).toBe('no');
      expect(readErrorInSuccess(error, 'creates')).toBeUndefined();
    }
  });

  test('never throws, whatever was parsed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const found = readErrorInSuccess(value, 'creates');
        return found === undefined || found.envelope !== 'empty';
      }),
    );
  });
});

test.each([
  { data: [], error_code: '0' },
  { data: [], errorCode: '0' },
  { data: [], base_resp: { status_code: '0', status_msg: 'success' } },
])('an empty list with the code "0" as text is a result: %j', (answer) => {
  expect(isEmptyResult(answer.data, answer)).toBe(true);
});
