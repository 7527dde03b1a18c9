/** What a gateway may answer instead of a result, one form a line. */

/** A form of an answer without a result. */
export interface Form {
  readonly name: string;
  /** JSON, or text that is not JSON. */
  readonly body: unknown;
  /** The words that must reach the user, once. */
  readonly words: string;
  /** The code of the error, as text. */
  readonly code?: string;
  /** `true` if it does not say that something failed, so that a paid task is not given up. */
  readonly isMild?: true;
  /** `true` if it is the status of a task, which failed. */
  readonly isTask?: true;
  /** `true` if it has the form of errors of submissions, which prove that there is no task. */
  readonly isTaskError?: true;
  /** `true` if its code tells that nothing was done, so that it costs nothing behind any status. */
  readonly isRefused?: true;
}

export const words = 'Too many kittens';

/** Errors as gateways and vendors write them. */
export const errors: readonly Form[] = [
  {
    name: 'an unknown model',
    isRefused: true,
    body: { error: { message: words, code: 'model_not_found' } },
    words,
    code: 'model_not_found',
  },
  {
    name: 'no credit',
    isRefused: true,
    body: { error: { message: words, code: 'insufficient_user_quota' } },
    words,
    code: 'insufficient_user_quota',
  },
  {
    name: 'OpenAI',
    body: { error: { message: words, type: 'x', param: null, code: 'c1' } },
    words,
    code: 'c1',
  },
  { name: 'an error as text', body: { error: words }, words },
  { name: 'error.msg', body: { error: { msg: words, code: 7 } }, words, code: '7' },
  {
    name: 'an error in an error',
    body: { error: { error: { message: words, code: 'c1' } } },
    words,
    code: 'c1',
  },
  {
    name: 'Anthropic',
    body: { type: 'error', error: { type: 'overloaded_error', message: words } },
    words,
  },
  {
    name: 'Google in a list',
    body: [{ error: { code: 400, message: words, status: 'INVALID_ARGUMENT' } }],
    words,
    code: '400',
  },
  {
    name: 'vLLM',
    body: { object: 'error', message: words, type: 'BadRequestError', param: null, code: 40001 },
    words,
    code: '40001',
  },
  { name: 'the console', body: { success: false, message: words }, words },
  {
    name: 'a task error',
    isTaskError: true,
    body: { code: 'c1', message: words, data: null },
    words,
    code: 'c1',
  },
  {
    name: 'code and message',
    body: { code: 1102, message: words, request_id: 'r1' },
    words,
    code: '1102',
  },
  { name: 'code and msg', body: { code: 500, msg: words, data: null }, words, code: '500' },
  { name: 'status and message', isTask: true, body: { status: 'error', message: words }, words },
  { name: 'errors', body: { errors: [{ message: words, code: 'c1' }] }, words, code: 'c1' },
  { name: 'errors as texts', body: { errors: [words] }, words },
  { name: 'FastAPI', body: { detail: words }, words },
  {
    name: 'FastAPI with an object',
    body: { detail: { message: words, code: 'c1' } },
    words,
    code: 'c1',
  },
  {
    name: 'FastAPI with a list',
    body: { detail: [{ loc: ['body', 'n'], msg: words, type: 'missing' }] },
    words: `body.n: ${words}`,
  },
  {
    name: 'FastAPI with several',
    body: {
      detail: [
        { loc: ['body', 'messages', 0, 'content'], msg: words, type: 'missing' },
        { loc: ['body', 'n'], msg: 'Not a number' },
      ],
    },
    words: `body.messages.0.content: ${words}; body.n: Not a number`,
  },
  {
    name: 'lm-proxy',
    body: { detail: { error: { message: words, code: 'c1' } } },
    words,
    code: 'c1',
  },
  {
    name: 'NestJS',
    body: { statusCode: 400, message: [words], error: 'Bad Request' },
    words,
  },
  {
    name: 'Spring',
    body: { timestamp: 1, status: 400, error: 'Bad Request', message: words, path: '/v1' },
    words,
  },
  {
    name: 'RFC 9457',
    body: { type: 'about:blank', title: 'Bad Request', status: 400, detail: words },
    words,
  },
  { name: 'a title', isMild: true, body: { title: words }, words },
  {
    name: 'a description',
    isMild: true,
    body: { description: words, type: 'invalid', code: 'c1' },
    words,
    code: 'c1',
  },
  {
    name: 'OAuth',
    body: { error: 'invalid_request', error_description: words },
    words,
  },
  {
    name: 'MiniMax',
    body: { base_resp: { status_code: 1008, status_msg: words } },
    words,
    code: '1008',
  },
  { name: 'Spark', body: { header: { code: 11_200, message: words } }, words, code: '11200' },
  { name: 'a header without a code', isMild: true, body: { header: { message: words } }, words },
  {
    name: 'Tencent',
    body: { Response: { Error: { Code: 'c1', Message: words }, RequestId: 'r' } },
    words,
    code: 'c1',
  },
  {
    name: 'Volcengine',
    body: { ResponseMetadata: { RequestId: 'r', Error: { Code: 'c1', Message: words } } },
    words,
    code: 'c1',
  },
  { name: 'errmsg', body: { errcode: 40_001, errmsg: words }, words, code: '40001' },
  { name: 'Baidu', body: { error_code: 17, error_msg: words }, words, code: '17' },
  { name: 'error_message', body: { error_message: words }, words },
  { name: 'errorMessage', body: { errorMessage: words, errorCode: 'c1' }, words, code: 'c1' },
  { name: 'AWS', isMild: true, body: { __type: 'ValidationException', Message: words }, words },
  { name: 'Apigee', body: { fault: { faultstring: words, detail: { errorcode: 'c1' } } }, words },
  {
    name: 'an error in data',
    body: { data: { error: { message: words, code: 'c1' } } },
    words,
    code: 'c1',
  },
  {
    name: 'an error in a response',
    body: { response: { error: { message: words, code: 'c1' } } },
    words,
    code: 'c1',
  },
  {
    name: 'an error in a result',
    body: { result: { error: { message: words, code: 'c1' } } },
    words,
    code: 'c1',
  },
  {
    name: 'an error in meta',
    body: { meta: { error: { message: words, code: 'c1' } } },
    words,
    code: 'c1',
  },
  {
    name: 'error_info',
    body: { error_info: { message: words, code: 'c1' } },
    words,
    code: 'c1',
  },
  { name: 'an exception', body: { exception: words }, words },
  {
    name: 'a status with a code and a message',
    body: { status: { code: 14, message: words } },
    words,
    code: '14',
  },
  {
    name: 'an error in a choice',
    body: { choices: [{ error: { message: words, code: 503 } }] },
    words,
    code: '503',
  },
  { name: 'status_msg', body: { status_code: 1004, status_msg: words }, words, code: '1004' },
  { name: 'fail_reason', body: { fail_reason: words, failCode: 'c1' }, words, code: 'c1' },
  { name: 'a reason', isTaskError: true, body: { reason: words, code: 'c1' }, words, code: 'c1' },
  { name: 'err', isMild: true, body: { err: words }, words },
  { name: 'a message as an object', isMild: true, body: { message: { message: words } }, words },
  {
    name: 'JSON in a message',
    body: { error: { message: JSON.stringify({ error: { message: words } }) } },
    words,
  },
  {
    name: 'a Python dictionary',
    body: { error: { message: `400: {'error': '${words}'}` } },
    words,
  },
  {
    name: 'without a wrapper',
    body: { message: words, type: 'x', param: '', code: '' },
    words,
    code: '',
  },
  {
    name: 'OpenRouter with text',
    body: { error: { message: 'Provider returned error', code: 400, metadata: { raw: words } } },
    words,
    code: '400',
  },
  {
    name: 'OpenRouter with JSON',
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: JSON.stringify({ error: { message: words, code: 'c1' } }) },
      },
    },
    words,
    code: 'c1',
  },
  {
    name: 'messages by field',
    body: { errors: { prompt: [words, 'Try again'], size: ['is odd'] } },
    words: `prompt: ${words}; size: is odd`,
  },
];

/** Answers without a message, which are quoted. */
export const quotes: readonly Form[] = [
  { name: 'text', body: 'upstream connect error', words: 'upstream connect error' },
  {
    name: 'a page with a title',
    body: '<html><head><title>Kitten not found</title></head><body>x</body></html>',
    words: 'Kitten not found',
  },
  {
    name: 'a page without a title',
    body: '<html><body>Kittens only</body></html>',
    words: 'Kittens only',
  },
  { name: 'unknown JSON', isMild: true, body: { kittens: ['only'] }, words: '"kittens"' },
  {
    name: 'an error without a message',
    body: { error: { innererror: { kittens: 1 } } },
    words: '"innererror"',
  },
  { name: 'a word', isMild: true, body: { ok: false }, words: '"ok"' },
  { name: 'nothing', body: '', words: '' },
  { name: 'a space', body: ' ', words: '' },
  { name: 'null', body: 'null', words: 'null' },
  { name: 'a list', body: '[]', words: '[]' },
  { name: 'a list of an empty object', body: '[{}]', words: '{}' },
];

export const textOf = ({ body }: Form): string =>
  typeof body === 'string' ? body : JSON.stringify(body);

/** Sends a form as a whole answer. */
export function whole(form: Form, status: number): () => Response {
  const text = textOf(form);
  const plain = text.startsWith('<') ? 'text/html' : 'text/plain';
  const type = /^[[{n]/.test(text) ? 'application/json' : plain;
  return () => new Response(text, { status, headers: { 'content-type': type } });
}
