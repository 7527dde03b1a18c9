import { describe, expect, test } from 'vitest';
import { failureOf, json, scripted } from '../../helpers/clients.ts';

const params = { model: 'model-a', messages: [{ role: 'user' as const, content: 'hi' }] };
const completion = json({
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
});

interface Row {
  readonly server: string;
  /** The report that quotes the error. */
  readonly source: string;
  readonly status?: number;
  readonly body: unknown;
}

const flat = (message: string) => ({
  object: 'error',
  message,
  type: 'BadRequestError',
  param: null,
  code: 400,
});
const openAI = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: 'messages', code: null, ...more },
});
const claude = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
});
const gemini = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });

const tooLong: readonly Row[] = [
  {
    server: 'OpenAI, chat completions',
    source: 'https://github.com/fierceX/Document_QA/issues/3',
    body: openAI(
      "This model's maximum context length is 8191 tokens, however you requested 8238 tokens (8238 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    ),
  },
  {
    server: 'vLLM, chat completions',
    source: 'https://github.com/vllm-project/vllm/issues/20409',
    body: flat(
      "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    ),
  },
  {
    server: 'vLLM, input tokens',
    source: 'https://github.com/QwenLM/Qwen-Agent/issues/759',
    body: openAI(
      "This model's maximum context length is 16384 tokens. However, your request has 18225 input tokens. Please reduce the length of the input messages. None",
      { type: 'BadRequestError', param: null, code: 400 },
    ),
  },
  {
    server: 'vLLM, decoder prompt',
    source: 'https://github.com/Gabesarch/grounded-rl/issues/16',
    body: flat(
      'The decoder prompt (length 10127) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
    ),
  },
  {
    server: 'vLLM, images',
    source: 'https://github.com/vllm-project/vllm/issues/12165',
    body: flat(
      'The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
    ),
  },
  {
    server: 'SGLang',
    source: 'https://github.com/sgl-project/sglang/issues/4048',
    body: flat('Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).'),
  },
  {
    server: 'llama-cpp-python',
    source: 'https://github.com/abetlen/llama-cpp-python/issues/462',
    status: 500,
    body: openAI('Requested tokens (4085) exceed context window of 2048'),
  },
  {
    server: 'Gemini',
    source: 'https://github.com/google-gemini/gemini-cli/issues/4231',
    body: gemini(
      'The input token count (3475108) exceeds the maximum number of tokens allowed (1048576).',
    ),
  },
  {
    server: 'Gemini through OpenAI-compatible routes, as a list',
    source: 'https://github.com/google-gemini/gemini-cli/issues/6678',
    body: [
      gemini(
        'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
      ),
    ],
  },
  {
    server: 'Claude',
    source: 'https://github.com/earendil-works/pi/issues/102',
    body: claude('prompt is too long: 219898 tokens > 200000 maximum'),
  },
  {
    server: 'Claude, with max_tokens',
    source: 'https://github.com/anthropics/claude-code/issues/228',
    body: claude(
      'input length and `max_tokens` exceed context limit: 184915 + 20000 > 204648, decrease input length or `max_tokens` and try again',
    ),
  },
  {
    server: 'Bedrock',
    source: 'https://github.com/aws-samples/bedrock-chat/issues/95',
    body: { message: 'Input is too long for requested model.' },
  },
  {
    server: 'Qwen',
    source: 'https://github.com/QwenLM/Qwen-Agent/issues/615',
    body: openAI('Range of input length should be [1, 30720]', { code: 'invalid_parameter_error' }),
  },
  {
    server: 'OpenRouter',
    source: 'https://github.com/refly-ai/refly/issues/1177',
    body: openAI(
      'This endpoint\'s maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
      { code: 400 },
    ),
  },
];

/** Errors with similar words that another model would return too, or that the caller should fix. */
const other: readonly Pick<Row, 'server' | 'body'>[] = [
  {
    server: 'OpenAI, max_tokens',
    body: openAI(
      'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
    ),
  },
  { server: 'Qwen, max_tokens', body: openAI('Range of max_tokens should be [1, 8192]') },
  {
    server: 'OpenAI, a field',
    body: openAI(
      "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 90 instead.",
    ),
  },
  { server: 'a list of stop sequences', body: openAI("'stop' is too long - at most 4 entries.") },
];

describe('a prompt that is too long', () => {
  test.for(tooLong)(
    'a prompt that is too long is sent to the next model if $server rejects it',
    async (row) => {
      const { body, status = 400 } = row;
      const { client, requests } = scripted([json(body, status), completion], { maxRetries: 0 });

      const { choices } = await client.chat.completions.create(params, {
        fallback: ['model-b'],
        fallbackOn: ['context'],
      });

      expect(choices[0]?.message.content).toBe('hi');
      await expect(requests[1]?.json()).resolves.toHaveProperty('model', 'model-b');
    },
  );

  test('a prompt that is too long is sent to the next model if only the code says so', async () => {
    const error = { message: 'Bad request', code: 'context_length_exceeded', param: 'messages' };
    const { client, requests } = scripted([json({ error }, 400), completion], { maxRetries: 0 });
    await client.chat.completions.create(params, {
      fallback: ['model-b'],
      fallbackOn: ['context'],
    });
    expect(requests).toHaveLength(2);
  });

  test.for(other)(
    'a rejection of $server does not mean that the prompt is too long',
    async ({ body }) => {
      const { client, requests } = scripted([json(body, 400), completion], { maxRetries: 0 });

      const failed = await failureOf(
        client.chat.completions.create(params, { fallback: ['model-b'] }),
      );

      expect(failed).toMatchObject({ name: 'BadRequestError', outcome: 'rejected' });
      expect(requests).toHaveLength(1);
    },
  );
});
