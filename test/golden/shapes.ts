// Response formats of gateways and their providers, by call.

/** The calls whose responses are read. */
export type Reader =
  | 'models'
  | 'chat'
  | 'generate'
  | 'embeddings'
  | 'images'
  | 'speech'
  | 'translation'
  | 'video'
  | 'submission'
  | 'vendor'
  | 'content'
  | 'any';

type Shapes = Readonly<Record<string, unknown>>;

const completion = (message: unknown, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  ...more,
});
const said = { role: 'assistant', content: 'Hi' };
const toolCall = (fields: object) => completion({ role: 'assistant', content: null, ...fields });

const chat: Shapes = {
  plain: completion(said, {
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  }),
  'tool calls': toolCall({
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"q":1}' } }],
  }),
  'tool calls with arguments as an object': toolCall({
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: { q: 1 } } }],
  }),
  'tool calls without id, type and arguments': toolCall({
    tool_calls: [{ function: { name: 'f' } }, { id: '', function: { name: 'g', arguments: '' } }],
  }),
  'tool calls that are null': toolCall({ tool_calls: null }),
  'a custom tool call': toolCall({
    tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'shell', input: 'ls' } }],
  }),
  'a function call of old': toolCall({ function_call: { name: 'f', arguments: '{}' } }),
  'a hollow function call': completion({ ...said, function_call: { name: '', arguments: '' } }),
  'content in parts': completion({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm' },
      { type: 'text', text: 'Hi' },
    ],
  }),
  'content that is an object': completion({ role: 'assistant', content: { city: 'Rome' } }),
  'content that is null': completion({ role: 'assistant', content: null }),
  'content that is missing': completion({ role: 'assistant' }),
  'a message that is null': completion(null),
  reasoning_content: completion({ ...said, reasoning_content: 'Hm' }),
  reasoning: completion({ ...said, reasoning: 'Hm' }),
  'a refusal': completion({ role: 'assistant', content: null, refusal: 'No.' }),
  'annotations and audio': completion({
    ...said,
    annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.test', title: 'A' } }],
    audio: { id: 'a', data: 'AAA=', transcript: 'Hi', expires_at: 7 },
  }),
  'choices that are empty': completion(said, { choices: [] }),
  'choices that are null': completion(said, { choices: null }),
  'choices that are missing': { id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  'a choice that is null': completion(said, { choices: [null] }),
  'a choice without index and reason': completion(said, { choices: [{ message: said }] }),
  'an empty finish reason': completion(said, { choices: [{ message: said, finish_reason: '' }] }),
  'an unheard-of finish reason': completion(said, {
    choices: [{ index: 0, message: said, finish_reason: 'eos' }],
  }),
  'created as text': completion(said, { created: '1' }),
  'created as a fraction': completion(said, { created: 1.5 }),
  'usage that is null or recomputed': completion(said, {
    usage: {
      prompt_tokens: 9,
      completion_tokens: 3,
      total_tokens: 334,
      prompt_tokens_details: null,
      input_tokens: 0,
      input_tokens_details: null,
      claude_cache_creation_5_m_tokens: 0,
    },
  }),
  'usage as text': completion(said, { usage: { prompt_tokens: '9', total_tokens: null } }),
  'fields of a provider': completion(said, {
    system_fingerprint: null,
    x_groq: { id: 'g' },
    prompt_filter_results: [],
    citations: ['https://a.test'],
  }),
  'an id that is a number': completion(said, { id: 7, object: '', model: null }),
  'an error next to an id': { id: 'c', error: { message: 'No', type: 'x', code: 'failed' } },
  'an error that is empty': completion(said, { error: {} }),
  'a list': [completion(said)],
  'a number': 7,
};

const part = (...parts: unknown[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
});

const generate: Shapes = {
  plain: {
    ...part({ text: 'Hi' }),
    usageMetadata: { promptTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'm-1',
    responseId: 'r',
  },
  'thoughts and calls': part(
    { text: 'Hm', thought: true, thoughtSignature: 's' },
    { text: 'Hi' },
    { functionCall: { name: 'f', args: { a: 1 } } },
    { functionCall: { id: 'x', name: 'g' } },
  ),
  'other parts': part(
    { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    { fileData: { mimeType: 'video/mp4', fileUri: 'gs://a' } },
    { executableCode: { language: 'PYTHON', code: '1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
  ),
  'snake case': {
    candidates: [
      {
        content: { role: 'model', parts: [{ function_call: { name: 'f' } }, { text: 'Hi' }] },
        finish_reason: 'STOP',
      },
    ],
    usage_metadata: { prompt_token_count: 1 },
    model_version: 'm-1',
  },
  'a blocked prompt': { promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'No' } },
  'a blocked answer': { candidates: [{ finishReason: 'SAFETY', index: 0 }] },
  'content without parts': { candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] },
  'what is null': { candidates: null, promptFeedback: null, usageMetadata: null },
  'a candidate that is null': { candidates: [null] },
  'a converted answer': {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Hi' }] },
        finishReason: null,
        safetyRatings: [],
      },
    ],
    usageMetadata: { promptTokenCount: 0, totalTokenCount: 0, promptTokensDetails: null },
  },
  nothing: {},
  'a list': [part({ text: 'Hi' })],
};

const embedding = (value: unknown, index?: unknown) => ({
  object: 'embedding',
  ...(index !== undefined && { index }),
  embedding: value,
});
const embedded = (...data: unknown[]) => ({ object: 'list', data, model: 'm' });

const embeddings: Shapes = {
  floats: embedded(embedding([0.5, 1], 0), embedding([0.25, 2], 1)),
  base64: embedded(embedding('AAAAPwAAgD8=', 0), embedding('AACAPgAAAEA=', 1)),
  'out of order': embedded(embedding([1], 1), embedding([0], 0)),
  'without an index': embedded(embedding([0]), embedding([1])),
  'an index as text': embedded(embedding([0], '0'), embedding([1], '1')),
  'fewer than asked for': embedded(embedding([0], 0)),
  'more than asked for': embedded(embedding([0], 0), embedding([1], 1), embedding([2], 2)),
  'the same index twice': embedded(embedding([0], 0), embedding([1], 0)),
  'different lengths': embedded(embedding([0], 0), embedding([1, 2], 1)),
  'numbers as text': embedded(embedding(['0.5'], 0), embedding([1], 1)),
  'null in it': embedded(embedding([null], 0), embedding([1], 1)),
  'no base64': embedded(embedding('???', 0), embedding([1], 1)),
  'a cut base64': embedded(embedding('AAAA', 0), embedding([1], 1)),
  'nothing in it': embedded(),
  'data that is null': { object: 'list', data: null, model: 'm', usage: null },
};

const images: Shapes = {
  urls: { created: 1, data: [{ url: 'https://cdn.test/a.png', revised_prompt: 'A' }] },
  base64: { created: 1, data: [{ b64_json: 'AAAA' }], usage: { total_tokens: 9 } },
  'both, one of them empty': { data: [{ url: '', b64_json: 'AAAA', revised_prompt: '' }] },
  'data URLs': { created: 1, data: [{ url: 'data:image/png;base64,AAAA' }] },
  'created as text': { created: '1', data: [{ url: 'https://cdn.test/a.png' }] },
  'no picture': { created: 1, data: [] },
  'data that is null': { created: 1, data: null },
  'data that is missing': { created: 1 },
  'a picture that is null': { data: [null] },
  'a picture without content': { data: [{ revised_prompt: 'A' }] },
  'text in place of a list': { data: 'https://cdn.test/a.png' },
  'a task in a list': { code: 200, data: [{ task_id: 'task_1', status: 'submitted' }] },
  'a task in data': { code: 'success', data: { task_id: 'task_1' } },
  'an object that is a task': { id: 'task_1', object: 'generation.task', created: 1 },
  'a picture with a task': { data: [{ task_id: 'task_1', url: 'https://cdn.test/a.png' }] },
  "a provider's error": {
    error: { message: 'No', type: 'ali_error', code: 'DataInspectionFailed' },
  },
};

const translation: Shapes = {
  json: { text: 'Hi', usage: { type: 'duration', seconds: 3 } },
  verbose: {
    task: 'translate',
    language: 'german',
    duration: '3.5',
    text: 'Hi',
    segments: [{ id: 0, seek: 0, start: 0, end: 3.5, text: 'Hi', tokens: [1] }],
  },
  'a duration that is a number, no segments': { text: 'Hi', duration: 3.5, segments: null },
  text: 'Hi there\n',
  subtitles: '1\n00:00:00,000 --> 00:00:03,500\nHi\n',
  'text that is empty': { text: '' },
  'text that is missing': { language: 'german' },
  'text that is null': { text: null },
  nothing: '',
  'a page': '<!doctype html><title>Welcome</title>',
  'JSON text': '"Hi"',
};

const models: Shapes = {
  "OpenAI's form": {
    success: true,
    object: 'list',
    data: [
      { id: 'm', object: 'model', created: 1, owned_by: 'x', supported_endpoint_types: ['openai'] },
      { id: 'n', object: 'model', created: 1, owned_by: 'x', supported_endpoint_types: null },
      { id: 'o' },
    ],
  },
  "Google's form": {
    models: [{ name: 'models/m', displayName: 'M', baseModelId: null }, { name: 'n' }],
    nextPageToken: null,
  },
  "Anthropic's form": {
    data: [{ id: 'm', type: 'model', display_name: 'M', created_at: '2026-01-01T00:00:00Z' }],
    has_more: false,
    first_id: 'm',
    last_id: 'm',
  },
  'no model': { object: 'list', data: [] },
  'data that is null': { object: 'list', data: null },
  'a model that is null': { data: [null, { id: 'm' }] },
  'a list': [{ id: 'm', object: 'model' }],
  failed: { success: false, message: 'get user group failed' },
};

const task = (fields: object) => ({
  id: 'task_1',
  task_id: 'task_1',
  object: 'video',
  model: 'm',
  status: 'queued',
  progress: 0,
  created_at: 1_790_000_123,
  ...fields,
});
const done = { status: 'completed', progress: 100 };
const failed = { status: 'failed', progress: 100 };

const submission: Shapes = {
  plain: task({}),
  'task_id only': { task_id: 'task_1', status: 'processing' },
  'id only': { id: 'video_1', status: 'pending' },
  'video_id only': { video_id: 'v-1', status: 'queued' },
  'request_id only': { request_id: 'r-1' },
  'id in data': { code: 'success', data: { task_id: 'task_1' } },
  'id in data of a vendor': {
    code: 0,
    message: 'SUCCEED',
    data: { task_id: '8801', task_status: 'submitted' },
  },
  'an id that is a number': { id: 88, status: 'queued' },
  'an id that is long': task({ id: 'a'.repeat(120), task_id: undefined }),
  'two ids': task({ task_id: 'task_2' }),
  'an empty id next to a task_id': task({ id: '' }),
  'no id': { status: 'queued' },
  'failed at once': task({ ...failed, error: { message: 'No', code: 'x' } }),
  'an error next to an id': { id: 'task_1', error: { message: 'No' } },
  'a success without data': { code: 'success', message: '', data: null },
};

const video: Shapes = {
  completed: task({
    ...done,
    completed_at: 1_790_000_200,
    expires_at: 1_790_003_800,
    seconds: '8',
    size: '1280x720',
    metadata: { url: 'https://cdn.test/v.mp4' },
  }),
  'a url at the top': task({ ...done, url: 'https://cdn.test/v.mp4' }),
  'a video_url': task({ ...done, video_url: 'https://cdn.test/v.mp4' }),
  'a url in a video': task({ ...done, video: { url: 'https://cdn.test/v.mp4', duration: 8 } }),
  'a url in a result': task({ ...done, result: { video_url: 'https://cdn.test/v.mp4' } }),
  'a url in a list': task({ ...done, data: [{ url: 'https://cdn.test/v.mp4' }] }),
  'a url in output': task({ ...done, output: { video_url: 'https://cdn.test/v.mp4' } }),
  'a url among outputs': task({ ...done, result: { outputs: ['https://cdn.test/v.mp4'] } }),
  'a url behind a cover': task({
    ...done,
    result: {
      assets: [{ type: 'image', url: 'https://cdn.test/c' }, { url: 'https://cdn.test/v.mp4' }],
    },
  }),
  'the state 2 with a url': { id: 'task_1', status: 2, outputUrls: ['https://cdn.test/v.mp4'] },
  'the state 2 alone': { id: 'task_1', status: 2 },
  'the state 3 with a reason': { id: 'task_1', status: 3, failedReason: 'No' },
  'the state 3 alone': { id: 'task_1', status: 3 },
  'a data URL': task({ ...done, metadata: { url: 'data:video/mp4;base64,AAAA' } }),
  'a url that is empty': task({ ...done, metadata: { url: '' } }),
  'a url that is a sentence': task({ ...failed, metadata: { url: 'the content was refused' } }),
  'no url': task(done),
  'times in milliseconds': task({ created_at: 1_790_000_123_000, completed_at: '1790000200' }),
  'a time that is a date': task({ created_at: '2026-09-01T10:00:00Z' }),
  'seconds as a number': task({ seconds: 8 }),
  'seconds as a fraction': task({ seconds: '5.0', duration: 5 }),
  'progress as text': task({ progress: '30%' }),
  'progress as a fraction': task({ progress: 0.3 }),
  'progress that is missing': task({ progress: undefined }),
  'progress that is null': task({ progress: null, model: '' }),
  'an error with a code': task({ ...failed, error: { message: 'No', code: 'moderation_blocked' } }),
  'an error with a number': task({ ...failed, error: { message: 'No', code: 7 } }),
  'an error that is text': task({ ...failed, error: 'No' }),
  'an error that is null': task({ ...failed, error: null }),
  'an error with JSON in it': task({
    ...failed,
    error: { message: '{"error":{"message":"blocked","code":"p"}}', code: '' },
  }),
  'a failedReason': task({ ...failed, failedReason: 'No' }),
  'a fail_reason': task({ ...failed, fail_reason: 'No' }),
  'a failure without a word': task({ status: 'failed' }),
  'an error while it runs': task({ status: 'in_progress', error: { message: 'odd', code: '5' } }),
  'no status': { id: 'task_1', error: { message: 'No', code: 'x' } },
  'no status, no error': { id: 'task_1' },
  'another id inside': task({ ...done, task_id: 'inner-1' }),
  'no id': { status: 'completed', url: 'https://cdn.test/v.mp4' },
  'usage and more': task({
    ...done,
    usage: { total_tokens: 9 },
    quality: 'hd',
    remixed_from_video_id: 'task_0',
  }),
};

const entry = (fields: object, data: unknown = null) => ({
  code: 'success',
  message: '',
  data: {
    id: 41,
    task_id: 'task_1',
    platform: '50',
    action: 'textGenerate',
    status: 'SUCCESS',
    fail_reason: '',
    result_url: 'https://cdn.test/v.mp4',
    submit_time: 1_790_000_100,
    start_time: 1_790_000_115,
    finish_time: 1_790_000_200,
    progress: '100%',
    properties: { input: '', origin_model_name: 'kling-v1' },
    data,
    ...fields,
  },
});
const native = (data: object) => ({ code: 0, message: 'SUCCEED', request_id: 'x', data });
const kling = native({
  task_id: '8801',
  task_status: 'succeed',
  task_result: { videos: [{ id: '1', url: 'https://cdn.test/k.mp4', duration: '5.0' }] },
  created_at: 1_790_000_001_000,
  updated_at: 1_790_000_009_000,
});

const vendor: Shapes = {
  'a task': entry({}, kling),
  'a task in progress': entry({ status: 'IN_PROGRESS', progress: '30%', result_url: '' }),
  'a task that has not begun': entry({ status: 'NOT_START', progress: '', result_url: '' }),
  'a failed task': entry({ status: 'FAILURE', fail_reason: 'No', result_url: 'No' }),
  'a failed task without a reason': entry({ status: 'FAILURE', result_url: '' }),
  'a task with its url in fail_reason': entry({
    fail_reason: 'https://cdn.test/v.mp4',
    result_url: '',
  }),
  'a task behind another gateway': entry({}, entry({})),
  'a simple task': {
    code: 'success',
    data: { task_id: 'task_1', status: 'succeeded', url: 'https://cdn.test/v.mp4', format: 'mp4' },
  },
  'a simple task, failed': {
    task_id: 'task_1',
    status: 'failed',
    error: { code: 400, message: 'No' },
  },
  'a native body': kling,
  'a native body, failed': native({
    task_id: '8801',
    task_status: 'failed',
    task_status_msg: 'No',
  }),
  'no data': { code: 'success', data: null },
  'a video object': task(done),
  'a task error': { code: 'task_not_exist', message: 'task_not_exist', data: null },
};

const file: Shapes = {
  bytes: 'ftypisom',
  'an error': { error: { message: 'No', type: 'x' } },
  'JSON with a url': { url: 'https://cdn.test/v.mp4' },
  'a page': '<!doctype html><title>Welcome</title>',
  nothing: '',
  'what begins like JSON': '{not JSON at all',
};

const any: Shapes = {
  'an object': { ok: true },
  'a list': [1],
  text: 'Hi',
  'JSON text': '"Hi"',
  nothing: '',
  'a page': '<!doctype html><title>Welcome</title>',
  'an error': { error: { message: 'No', code: 'x' } },
  'a task error': { code: 'x', message: 'No', data: null },
  'a success': { code: 'success', message: '', data: { a: 1 } },
  'success: false': { success: false, message: 'No' },
};

/** Bodies by name; text is sent unchanged. */
export const shapes: Readonly<Record<Reader, Shapes>> = {
  models,
  chat,
  generate,
  embeddings,
  images,
  translation,
  submission,
  video,
  vendor,
  speech: file,
  content: file,
  any,
};

/** Statuses of gateways. */
export const statusWords: readonly unknown[] = [
  'queued',
  'in_progress',
  'completed',
  'failed',
  'unknown',
  'processing',
  'succeeded',
  'cancelled',
  'canceled',
  'expired',
  'rejected',
  'moderated',
  'NOT_START',
  'SUBMITTED',
  'QUEUED',
  'IN_PROGRESS',
  'SUCCESS',
  'FAILURE',
  'UNKNOWN',
  'submitted',
  'succeed',
  'PENDING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELED',
  'pending',
  'created',
  'queueing',
  'Preparing',
  'Queueing',
  'Processing',
  'Success',
  'Fail',
  'in_queue',
  'done',
  'complete',
  'finished',
  'error',
  'waiting',
  'generating',
  'rendering',
  'In-Progress',
  'baking',
  'archived',
  'paused',
  'timeout',
  'stopped',
  'in progress',
  '',
  null,
  7,
  true,
];
