import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isEmptyResult,
  isRouteResult,
  quote,
  readErrorEvent,
  readErrorText,
  readErrorValue,
  saysFailure,
  type ErrorBody,
} from '../../src/answers/failure.ts';
import { anyText } from '../helpers/any-text.ts';

type Expected = Partial<ErrorBody>;

const requestId = '20260901120000123456789abcdefgh';

/** Reads the error in the answer of a call by path. */
const errorByPath = (value: unknown): ErrorBody | undefined =>
  isRouteResult(value) || !saysFailure(value) ? undefined : readErrorValue(value);

const hasLoneSurrogate = (text: string): boolean => /\p{Surrogate}/u.test(text);

/** Fields of errors besides their message and code, which test/doors asks for each form. */
const shapes: readonly { name: string; text: string; expected: Expected }[] = [
  {
    name: 'no code',
    text: `{"error":{"message":"Invalid token (request id: ${requestId})","type":"new_api_error","code":""}}`,
    expected: {
      envelope: 'gateway',
      message: `Invalid token (request id: ${requestId})`,
      type: 'new_api_error',
      code: undefined,
      requestId,
    },
  },
  {
    name: 'a relayed status',
    text: `{"error":{"message":"bad response status code 524 (request id: ${requestId})","type":"bad_response_status_code","param":"","code":"bad_response_status_code"}}`,
    expected: {
      envelope: 'gateway',
      code: 'bad_response_status_code',
      param: undefined,
      requestId,
    },
  },
  {
    name: 'a number as code',
    text: '{"error":{"message":"Rate limit","type":"upstream_error","param":"","code":429}}',
    expected: { envelope: 'gateway', code: '429', type: 'upstream_error' },
  },
  {
    name: 'null everywhere',
    text: '{"error":{"message":"Oops","type":"","param":null,"code":null,"metadata":{"provider_name":"x"}}}',
    expected: { envelope: 'gateway', message: 'Oops', param: null, type: undefined },
  },
  {
    name: 'text as error',
    text: '{"error":"quota exceeded"}',
    expected: { envelope: 'gateway', message: 'quota exceeded' },
  },
  {
    name: 'a panic',
    text: '{"error":{"message":"Panic detected, error: x","type":"new_api_panic"}}',
    expected: { envelope: 'gateway', type: 'new_api_panic', message: 'Panic detected, error: x' },
  },
  {
    name: 'a task error that holds the JSON of the provider',
    text: String.raw`{"code":"fail_to_fetch_task","message":"{\"error\":{\"message\":\"blocked\"}}","data":null}`,
    expected: { envelope: 'task', code: 'fail_to_fetch_task', message: 'blocked' },
  },
  {
    name: 'a task error that holds JSON and a request id',
    text: String.raw`{"code":"fail_to_fetch_task","message":"{\"error\":{\"message\":\"blocked\"}} (request id: r-7)","data":null}`,
    expected: { envelope: 'task', message: 'blocked (request id: r-7)', requestId: 'r-7' },
  },
  {
    name: 'a task error with a type',
    text: '{"code":"invalid_seconds","message":"no","type":"invalid_request_error","data":null}',
    expected: { envelope: 'task', code: 'invalid_seconds', message: 'no' },
  },
  {
    name: 'an error without a wrapper',
    text: '{"code":null,"message":"Task not found","param":"task_id","type":"invalid_request_error"}',
    expected: {
      envelope: 'gateway',
      message: 'Task not found',
      param: 'task_id',
      type: 'invalid_request_error',
    },
  },
  {
    name: 'the console',
    text: '{"success":false,"message":"get user group failed"}',
    expected: { envelope: 'gateway', message: 'get user group failed' },
  },
  {
    name: 'Anthropic',
    text: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    expected: { envelope: 'gateway', type: 'overloaded_error', message: 'Overloaded' },
  },
  {
    name: 'Google',
    text: '{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":"RetryInfo","retryDelay":"34s"}]}}',
    expected: {
      envelope: 'gateway',
      code: '429',
      type: 'RESOURCE_EXHAUSTED',
      message: 'Slow down',
    },
  },
  {
    name: 'Google in a list',
    text: '[{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}}]',
    expected: { envelope: 'gateway', code: '400', type: 'INVALID_ARGUMENT', message: 'Bad' },
  },
  {
    name: 'an old build with the status in param and no message',
    text: '{"error":{"message":"","type":"new_api_error","param":"524","code":"x"}}',
    expected: { envelope: 'gateway', message: undefined, param: '524' },
  },
  { name: 'msg', text: '{"msg":"no"}', expected: { envelope: 'other', message: 'no' } },
  {
    name: 'a base response',
    text: '{"base_resp":{"status_code":1004,"status_msg":"no"}}',
    expected: { envelope: 'other', message: 'no', code: '1004' },
  },
  { name: 'a JSON string', text: '"no"', expected: { envelope: 'text', message: '"no"' } },
  {
    name: 'text',
    text: 'error code: 524',
    expected: { envelope: 'text', message: 'error code: 524' },
  },
  {
    name: 'nothing',
    text: '',
    expected: { envelope: 'empty', message: undefined, error: undefined },
  },
  {
    name: 'blanks',
    text: ' \r\n',
    expected: { envelope: 'empty', message: undefined, error: undefined },
  },
  {
    name: 'HTML',
    text: '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
    expected: { envelope: 'html', message: '502 Bad Gateway' },
  },
  {
    name: 'HTML without a title',
    text: '<html></html>',
    expected: { envelope: 'html', message: undefined },
  },
  { name: 'JSON that is cut', text: '{"error":{"message":"No', expected: { envelope: 'text' } },
  { name: 'an empty object', text: '{}', expected: { envelope: 'other', message: undefined } },
  { name: 'an empty list', text: '[]', expected: { envelope: 'other', message: undefined } },
  {
    name: 'null as error',
    text: '{"error":null,"message":"no"}',
    expected: { envelope: 'other', message: 'no' },
  },
];

describe('readErrorText()', () => {
  test.each(shapes)('reads $name', ({ text, expected }) => {
    expect(readErrorText(text)).toMatchObject(expected);
    expect(readErrorText(`\uFEFF \n${text}\n`)).toMatchObject(expected);
  });

  test('returns no message for an empty body', () => {
    expect(readErrorText('').message).toBeUndefined();
  });

  test('unwraps one level of JSON in a message', () => {
    const twice = JSON.stringify({ message: JSON.stringify({ message: '{"message":"deep"}' }) });

    expect(readErrorText(twice).message).toBe('{"message":"deep"}');
  });

  test('keeps a message that only looks like JSON', () => {
    expect(readErrorText('{"error":{"message":"{ is not allowed"}}').message).toBe(
      '{ is not allowed',
    );
    expect(readErrorText('{"error":{"message":"[1,2]"}}').message).toBe('[1,2]');
  });

  test('keeps the request id at the end of a truncated message', () => {
    const text = JSON.stringify({ error: { message: `${'x'.repeat(9_000)} (request id: r-7)` } });

    const { message, requestId: found } = readErrorText(text);

    expect(message).toHaveLength(2_000);
    expect(message).toMatch(/… \(request id: r-7\)$/);
    expect(found).toBe('r-7');
  });

  test("uses the last request id, which is the outer gateway's", () => {
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

  test('reads an unclosed title in linear time, and deep nesting', () => {
    // Work that grew with the square of the length would take minutes.
    expect(readErrorText('<title'.repeat(100_000))).toBeDefined();
    expect(readErrorText(`<${'<title>a'.repeat(80_000)}`)).toBeDefined();
    expect(readErrorText('{"error":'.repeat(7_000) + '1' + '}'.repeat(7_000))).toBeDefined();
  });

  test('never throws, and returns at most 2000 characters', () => {
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

const readMessage = (message: unknown) =>
  readErrorText(JSON.stringify({ error: { message, type: 'None', param: 'None', code: '400' } }));

describe('a message that is the text of a Python dictionary', () => {
  test.each<[sent: string, Expected]>([
    ["400: {'error': 'Invalid model name.'}", { message: 'Invalid model name.', code: '400' }],
    ["{'error': 'No.'}", { message: 'No.', code: '400' }],
    [`400: {'error': "it's", 'more': None}`, { message: "it's" }],
    [String.raw`403: {'error': 'it\'s "\u00e9"\nA'}`, { message: 'it\'s "é"\nA' }],
    [
      `Error code: 404 - {'error': {'message': "No 'm'.", 'param': None, 'code': 'model_not_found'}}`,
      { message: "No 'm'.", code: 'model_not_found', sentCode: 'model_not_found' },
    ],
    [
      "{'error': {'message': 'No.', 'code': 429}} (request id: r-7)",
      { message: 'No. (request id: r-7)', code: '400', requestId: 'r-7' },
    ],
    [
      "400: {'detail': [{'loc': ['body', 'response_format'], 'msg': 'Extra', 'ok': True}]}",
      { message: 'body.response_format: Extra', param: 'response_format' },
    ],
  ])('%s', (sent, expected) => {
    expect(readMessage(sent)).toMatchObject(expected);
  });

  test.each([
    "400: {'error'",
    "400: {'error': 'cut",
    "400: {'error': No}",
    "400: {'a': 1}",
    "Use {'error': 'x'} here",
    "litellm.AuthenticationError: {'error': 'x'}",
    "{'error': 'x'} and more",
    "{'error': ('x',)}",
    '{error: 1}',
  ])('any other text stays as it is: %s', (sent) => {
    expect(readMessage(sent)).toMatchObject({ message: sent, code: '400' });
  });

  test('any text is read', () => {
    fc.assert(
      fc.property(anyText(50), (text) => {
        expect(readMessage(`400: {'error': '${text}`).message).toBeDefined();
      }),
    );
  });
});

describe('saysFailure()', () => {
  const response = { object: 'response', status: 'completed', error: null };

  test.each([
    { error: { message: 'no', code: 0 } },
    { data: [{ error: 'no' }] },
    { type: 'response.failed', response: { ...response, status: 'failed' } },
  ])('%j', (body) => {
    expect(saysFailure(body)).toBe(true);
  });

  test.each([
    { ...response, output: [{ type: 'mcp_call', error: 'no' }] },
    { type: 'response.completed', response: { ...response, output: [{ error: 'no' }] } },
    { result: [{ error: 'no' }, { ok: true }] },
    { data: [{ error: 'no' }, { ok: true }] },
    { base_resp: { status_code: 0, status_msg: 'no' } },
    { error: 'None' },
    { error: { code: 0, message: 'success' } },
    { message: 'in moderation' },
    { code: 1, description: 'Submitted', result: 'task_1' },
    { code: 'pending', message: 'in line', task_id: 'task_1' },
    { id: 'task_1', status: { code: 1, message: 'in line' } },
    { status: { code: 0, message: 'in line' } },
    { exception: null, error_info: { code: 0, message: 'success' }, result: { error: null } },
  ])('%j is not a failure', (body) => {
    expect(saysFailure(body)).toBe(false);
  });

  test.each([{ valid: false, errors: ['a'] }, { detail: { a: 1 } }])(
    '%j is an answer of a route that is not known',
    (body) => {
      expect(errorByPath(body)).toBeUndefined();
    },
  );
});

test('a quote is one line of at most 300 characters, or the title of a page', () => {
  expect(quote(' a\n\n b ')).toBe('a b');
  expect(quote(`<html><title>Busy</title>${'x'.repeat(1_000_000)}`)).toBe('Busy');
  expect(quote('x'.repeat(1_000_000))).toHaveLength(301);
  expect(quote(' \n')).toBeUndefined();
});

describe('an answer of a route that is not documented', () => {
  test.each([
    {
      name: '200 from chat',
      text: '{"error":{"message":"no","type":"x","code":"y"}}',
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
    { name: '200 from the model list', text: '{"success":false,"message":"no"}', message: 'no' },
    {
      name: '200 without a wrapper',
      text: '{"code":null,"message":"no","param":"x","type":"y"}',
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
    { name: '200 from Apigee', text: '{"fault":{"faultstring":"no"}}', message: 'no' },
    {
      name: '200 with an error and empty fields',
      text: '{"id":"","choices":[],"error":{"message":"no"}}',
      message: 'no',
    },
  ])('$name is an error', ({ text, message }) => {
    const found = errorByPath(JSON.parse(text));

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
  ])('%s is not an error', (_, text) => {
    expect(errorByPath(JSON.parse(text))).toBeUndefined();
  });

  test('never throws, whatever the JSON contains', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const found = errorByPath(value);
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

test.each([
  { object: 'chat.completion.chunk', choices: null, message: 'in moderation', code: 'pending' },
  { usageMetadata: { promptTokenCount: 1 }, message: 'in moderation', code: 'pending' },
])('an event that is part of a response is not an error: %j', (event) => {
  expect(readErrorEvent(event, undefined)).toBeUndefined();
  expect(readErrorEvent({ message: event.message, code: event.code }, undefined)).toBeDefined();
});

test('an event with content is not an error, whatever codes of its vendor it has', () => {
  const vendor = { base_resp: { status_code: 1027, status_msg: 'sensitive output' } };
  const choices = [{ index: 0, delta: { content: 'Hello' } }];

  expect(readErrorEvent({ ...vendor, choices }, undefined)).toBeUndefined();
  expect(readErrorEvent({ ...vendor, choices: null }, undefined)).toMatchObject({
    message: 'sensitive output',
  });
});

test.each([0, 200, 'success'])('an event with the code %j is not an error', (code) => {
  expect(readErrorEvent({ code, message: 'The request is queued.' }, undefined)).toBeUndefined();
});
