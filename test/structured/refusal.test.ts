import { describe, expect, test } from 'vitest';
import { readErrorText } from '../../src/answers/failure.ts';
import { classifyStatus } from '../../src/http/classify.ts';
import { refusesStructuredOutput } from '../../src/policies/modes/refusal.ts';

/** Returns the verdict on an error response. */
function verdict(status: number, answer: unknown): boolean {
  const body = readErrorText(typeof answer === 'string' ? answer : JSON.stringify(answer));
  const kind = classifyStatus(status, body, new Headers(), 'metered');
  return refusesStructuredOutput({ kind, status, body });
}

interface Row {
  readonly by: string;
  readonly status: number;
  readonly answer: unknown;
  /** Where the error was reported. */
  readonly source: string;
}

const rejected: readonly Row[] = [
  {
    by: 'OpenAI',
    status: 400,
    answer: {
      error: {
        message:
          "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
    source: 'langchain-ai/langchain#31490',
  },
  {
    by: "Google's API without the field",
    status: 400,
    answer: {
      error: {
        code: 400,
        message:
          'Invalid JSON payload received. Unknown name "responseJsonSchema" at \'generation_config\': Cannot find field.',
        status: 'INVALID_ARGUMENT',
      },
    },
    source: 'constructed',
  },
  {
    by: 'OpenAI, of JSON mode',
    status: 400,
    answer: {
      error: {
        message:
          "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.",
        type: 'invalid_request_error',
        param: 'response_format',
        code: null,
      },
    },
    source: 'mrwadams/stride-gpt#19',
  },
  {
    by: 'OpenAI through new-api',
    status: 400,
    answer: {
      error: {
        message:
          "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. (request id: 20241022210315850288268h2ZnBgbC)",
        type: 'invalid_request_error',
        param: '',
        code: null,
      },
    },
    source: 'AgnostiqHQ/multi-agent-llm#2',
  },
  {
    by: 'Azure',
    status: 400,
    answer: {
      error: {
        message:
          'response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later (request id: 2024100312073850903022739187310)',
        type: '',
        param: '',
        code: 'BadRequest',
      },
    },
    source: 'langgenius/dify#8994',
  },
  {
    by: 'Cloudflare, with its misspelling',
    status: 400,
    answer: { errors: [{ message: "AiError: 5025: This model doesn't suuport JSON Schema." }] },
    source: 'cloudflare/cloudflare-docs#21316',
  },
  {
    by: 'Gemini',
    status: 400,
    answer: {
      error: {
        code: 400,
        message: 'Json mode is not enabled for models/gemini-pro',
        status: 'INVALID_ARGUMENT',
      },
    },
    source: 'google-gemini/deprecated-generative-ai-python#137',
  },
  {
    by: 'Gemini, together with tools',
    status: 400,
    answer: [
      {
        error: {
          code: 400,
          message: "Function calling with a response mime type: 'application/json' is unsupported",
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    source: 'Simpleyyt/ai-manus#101',
  },
  {
    by: 'DeepSeek',
    status: 400,
    answer: {
      error: {
        message: 'This response_format type is unavailable now',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request_error',
      },
    },
    source: 'llm-exe/llm-exe#662',
  },
  {
    by: 'DeepSeek, older',
    status: 422,
    answer:
      'Failed to deserialize the JSON body into the target type: response_format: response_format.type `json_schema` is unavailable now at line 1 column 12440',
    source: 'browser-use/browser-use#215',
  },
  {
    by: 'Groq',
    status: 400,
    answer: {
      error: {
        message: 'This model does not support response format `json_schema`.',
        type: 'invalid_request_error',
      },
    },
    source: 'plune-ai/cairn#36',
  },
  {
    by: 'Groq, older',
    status: 400,
    answer: {
      error: {
        message:
          "'response_format.type' : value is not one of the allowed values ['text','json_object']",
        type: 'invalid_request_error',
      },
    },
    source: 'dzhng/deep-research#127',
  },
  {
    by: 'the server of llama.cpp',
    status: 500,
    answer: {
      error: {
        code: 500,
        message:
          'response_format type must be one of "text" or "json_object", but got: json_schema',
        type: 'server_error',
      },
    },
    source: 'ikawrakow/ik_llama.cpp#778',
  },
  {
    by: 'llama-cpp-python',
    status: 500,
    answer: {
      error: {
        message:
          "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}]",
        type: 'internal_server_error',
        param: null,
        code: null,
      },
    },
    source: 'ggml-org/llama.cpp#23463',
  },
  {
    by: 'Groq, of a stream',
    status: 400,
    answer: {
      error: {
        message: 'response_format` does not support streaming',
        type: 'invalid_request_error',
      },
    },
    source: 'langchain-ai/langchain#23629',
  },
  {
    by: 'vLLM',
    status: 400,
    answer: {
      object: 'error',
      message: 'The provided JSON schema contains features not supported by xgrammar.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    source: 'vllm-project/vllm#26421',
  },
  {
    by: 'Volcengine',
    status: 400,
    answer: {
      error: {
        code: 'InvalidParameter',
        message:
          'The parameter `response_format.type` specified in the request are not valid: invalid value: `json_schema`, supported values are: `json_object` and `text`. Request id: 021742961050484e54042c903da3a08a41d73404311af537b7310',
        param: 'response_format.type',
        type: 'BadRequest',
      },
    },
    source: 'agno-agi/agno#2553',
  },
  {
    by: 'SiliconFlow',
    status: 400,
    answer: { code: 20024, message: 'Json mode is not supported for this model.', data: null },
    source: 'egoist/chatwise-releases#141',
  },
  {
    by: 'FastAPI',
    status: 422,
    answer: {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'response_format'],
          msg: 'Extra inputs are not permitted',
          input: { type: 'json_schema' },
        },
      ],
    },
    source: 'constructed',
  },
  {
    by: 'FastAPI, of a part',
    status: 422,
    answer: {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'response_format', 'type'],
          msg: "Input should be 'text' or 'json_object'",
        },
      ],
    },
    source: 'constructed',
  },
  {
    by: 'Mistral',
    status: 422,
    answer: {
      object: 'error',
      message: {
        detail: [
          { type: 'enum', loc: ['body', 'response_format', 'type'], msg: "Input should be 'text'" },
        ],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
    source: 'constructed',
  },
  {
    by: 'xAI',
    status: 400,
    answer: {
      code: 'Client specified an invalid argument',
      error: 'The response_format parameter is unsupported at the moment. Leave it unset.',
    },
    source: 'BerriAI/litellm#6610',
  },
  {
    by: 'LiteLLM',
    status: 400,
    answer: {
      error: {
        message:
          "litellm.UnsupportedParamsError: together_ai does not support parameters: ['response_format'], for model=meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8. To drop these, set `litellm.drop_params=True` or for proxy:",
        type: 'None',
        param: null,
        code: '400',
      },
    },
    source: 'BerriAI/litellm#8278',
  },
  {
    by: 'a gateway that names only the parameter',
    status: 501,
    answer: { error: { message: 'Not implemented', param: 'response_format', code: null } },
    source: 'the spec of `param`',
  },
];

const other: readonly Row[] = [
  {
    by: 'a gateway, of a key that may not use it',
    status: 403,
    answer: { error: { message: 'This key is not allowed to use response_format', code: null } },
    source: 'constructed',
  },
  {
    by: "OpenAI, of the caller's schema",
    status: 400,
    answer: {
      error: {
        message:
          "Invalid schema for response_format 'default': In context=(), 'additionalProperties' is required to be supplied and to be false.",
        type: 'invalid_request_error',
        param: 'response_format',
        code: null,
      },
    },
    source: 'dottxt-ai/outlines#844',
  },
  {
    by: "OpenAI, of the caller's schema, by its code",
    status: 400,
    answer: {
      error: {
        message: 'The schema is not closed.',
        code: 'invalid_json_schema',
        param: 'text.format.schema',
      },
    },
    source: 'mavam/pi-web-providers#14',
  },
  {
    by: "Groq, of the caller's schema",
    status: 400,
    answer: {
      error: {
        message:
          'invalid schema for response format: response_format/json_schema/next_step: minItems is not supported',
        type: 'invalid_request_error',
      },
    },
    source: 'i-am-bee/beeai-framework#1215',
  },
  {
    by: 'DeepSeek, of the schema of a tool',
    status: 400,
    answer: {
      error: {
        message:
          "Invalid schema for function 'image_generate': schema must be a JSON Schema of 'type: \"object\"', got 'type: null'.",
        type: 'invalid_request_error',
      },
    },
    source: 'Jamailar/Beav#44',
  },
  {
    by: 'OpenAI, of a missing field',
    status: 400,
    answer: {
      error: {
        message: "Missing required parameter: 'response_format.json_schema'.",
        param: 'response_format.json_schema',
      },
    },
    source: 'the same error for other parameters',
  },
  {
    by: 'a gateway, of something else',
    status: 400,
    answer: { error: { message: "Unsupported parameter: 'temperature'", param: 'temperature' } },
    source: 'kd-research/Techies#42',
  },
  {
    by: 'a gateway that is overloaded',
    status: 503,
    answer: { error: { message: 'response_format is unavailable now', code: null } },
    source: 'the status decides',
  },
  {
    by: 'a gateway, of a limit',
    status: 429,
    answer: { error: { message: 'Too many requests with structured outputs', code: null } },
    source: 'the status decides',
  },
  {
    by: 'a filter, of a prompt about it',
    status: 400,
    answer: { error: { message: 'The prompt asks for a JSON schema', code: 'prompt_blocked' } },
    source: 'the code decides',
  },
];

describe('refusesStructuredOutput()', () => {
  test.each(rejected)('recognizes $status by $by ($source)', ({ status, answer }) => {
    expect(verdict(status, answer)).toBe(true);
  });

  test.each(other)('ignores $status by $by ($source)', ({ status, answer }) => {
    expect(verdict(status, answer)).toBe(false);
  });
});
