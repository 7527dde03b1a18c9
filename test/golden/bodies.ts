// Response bodies of gateways, of their providers, and of proxies in front of them.

const json = (value: unknown): string => JSON.stringify(value);

/** Bodies that are combined with every status. */
export const commonBodies: Readonly<Record<string, string | null>> = {
  nothing: null,
  page: '<html><head><title>Welcome</title></head></html>',
  text: 'upstream connect error',
  'error of the gateway': json({
    error: { message: 'No (request id: r-1)', type: 'new_api_error', param: '', code: '' },
  }),
};

/** Bodies that are combined with some statuses. */
export const rareBodies: Readonly<Record<string, string | null>> = {
  'no bytes': '',
  'relayed error': json({ error: { message: 'No', type: 'upstream_error', param: '', code: 429 } }),
  'error without type and code': json({
    error: { message: 'No', type: '', param: null, code: null, metadata: { provider_name: 'x' } },
  }),
  'error with text only': json({ error: 'quota exceeded' }),
  'error without message': json({
    error: { message: '', type: 'bad_response_status_code', param: '524', code: null },
  }),
  panic: json({ error: { message: 'Panic detected', type: 'new_api_panic' } }),
  'task error': json({ code: 'task_failed', message: 'No', data: null }),
  'console error': json({ success: false, message: 'No' }),
  'bare error': json({
    code: null,
    message: 'No',
    param: 'task_id',
    type: 'invalid_request_error',
  }),
  'typed error': json({ type: 'error', error: { type: 'overloaded_error', message: 'No' } }),
  "Google's error": json({
    error: {
      code: 429,
      message: 'No',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }],
    },
  }),
  "Google's error in a list": json([{ error: { code: 400, message: 'No', status: 'X' } }]),
  'error next to an id': json({ id: 'x-1', error: { message: 'No', code: 'failed' } }),
  'error next to content': json({
    error: { message: 'No' },
    data: [{ id: 'm', url: 'https://cdn.test/a.png' }],
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  }),
  'JSON of no gateway': json({ message: 'Internal server error' }),
  'detail of a framework': json({ detail: [{ msg: 'field required' }] }),
  'empty object': '{}',
  'empty list': '[]',
  'JSON text': '"no"',
  'cut JSON': '{"error":{"mess',
  'an answer to anything': json({
    id: 'task_1',
    status: 'queued',
    object: 'list',
    data: [{ id: 'm', object: 'model', created: 1, owned_by: 'x', url: 'https://cdn.test/a.png' }],
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  }),
  'a task': json({ id: 'task_1', object: 'video', status: 'queued', model: 'm', created_at: 1 }),
};

/** Error codes of gateways, and an unknown one. */
export const codes = [
  'unheard_of',
  'model_not_found',
  'invalid_request',
  'invalid_json',
  'missing_model',
  'build_request_failed',
  'convert_request_failed',
  'sensitive_words_detected',
  'count_token_failed',
  'model_price_error',
  'video_price_not_configured',
  'prompt_blocked',
  'content_policy_violation',
  'violation_fee.grok.csam',
  'insufficient_user_quota',
  'insufficient_quota',
  'pre_consume_token_quota_failed',
  'billing_hard_limit_reached',
  'insufficient_balance_error',
  'exceeded_current_quota_error',
  '1008',
  'rate_limit_exceeded',
  'read_response_body_failed',
  'unmarshal_response_body_failed',
  'bad_response_body',
  'bad_response',
  'bad_response_status_code',
  'blockrun_payment_rejected',
  'blockrun_settlement_unknown',
  'fail_to_fetch_task',
  'task_failed',
  'task_not_exist',
  'empty_response',
  'do_request_failed',
  'get_channel_failed',
  'channel:no_available_key',
  'query_data_error',
  'system_cpu_overloaded',
  'token_concurrency_unavailable',
  'access_denied',
  'invalid_api_key',
  'unknown_model',
  'idempotency_conflict',
  'api_not_implemented',
  'success',
  '0',
];

/** Bodies with a code, and their calls. */
export const codeBodies: Readonly<
  Record<string, { readonly operations: RegExp; make(code: string): string }>
> = {
  'the code of an error': {
    operations: /models|chat|images|videos.create/,
    make: (code) => json({ error: { message: 'No', type: 'new_api_error', code } }),
  },
  'the type of an error': {
    operations: /chat/,
    make: (type) => json({ error: { message: 'No', type, code: null } }),
  },
  'the code of a task error': {
    operations: /videos/,
    make: (code) => json({ code, message: 'No', data: null }),
  },
  'the code of a task error that tells of a task': {
    operations: /videos.create/,
    make: (code) => json({ code, message: json({ data: { task_id: '8801' } }), data: null }),
  },
};
