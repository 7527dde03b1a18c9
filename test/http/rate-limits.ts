/** A 429 as a vendor documents it, or as its users report it. */
export interface RateLimit {
  readonly name: string;
  readonly source: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The wait before the retry in milliseconds; `undefined` if the request is not sent again. */
  readonly wait: number | undefined;
}

/** The time of the tests. */
export const now = Date.UTC(2026, 8, 1, 12, 0, 0);

const message = (text: string, fields: object = {}): object => ({
  error: { message: text, ...fields },
});

const unix = (seconds: number): string => String(now / 1_000 + seconds);

export const rateLimits: readonly RateLimit[] = [
  {
    name: 'OpenAI, in headers',
    source: 'https://platform.openai.com/docs/guides/rate-limits',
    headers: {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    wait: 1_000,
  },
  {
    name: 'OpenAI, in words',
    source: 'continuedev/continue#9563',
    body: message('Rate limit reached for m on tokens per min (TPM). Please try again in 6.5s.'),
    wait: 6_500,
  },
  {
    name: 'Anthropic',
    source: 'https://docs.anthropic.com/en/api/rate-limits',
    headers: {
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-09-01T12:00:55Z',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-09-01T12:00:09Z',
    },
    wait: 9_000,
  },
  {
    name: 'Cerebras, for a minute',
    source: 'QwenLM/qwen-code#670',
    headers: {
      'x-ratelimit-remaining-requests-day': '100',
      'x-ratelimit-reset-requests-day': '33011.382867',
      'x-ratelimit-remaining-tokens-minute': '0',
      'x-ratelimit-reset-tokens-minute': '11.382867',
    },
    wait: 11_383,
  },
  {
    name: 'Cerebras, for a day',
    source: 'https://inference-docs.cerebras.ai/support/rate-limits',
    headers: {
      'x-ratelimit-remaining-requests-day': '0',
      'x-ratelimit-reset-requests-day': '33011.382867',
      'x-ratelimit-remaining-tokens-minute': '5',
      'x-ratelimit-reset-tokens-minute': '11.3',
    },
    wait: undefined,
  },
  {
    name: 'Mistral',
    source:
      'https://github.com/prism-php/prism/blob/main/src/Providers/Mistral/Concerns/ProcessRateLimits.php',
    headers: { 'ratelimitbysize-remaining': '0', 'ratelimitbysize-reset': '34' },
    wait: 34_000,
  },
  {
    name: 'Mistral, which has headers of a minute',
    source: 'https://docs.mistral.ai/resources/error-glossary, mistralai/client-ts#169',
    headers: {
      'retry-after': '3',
      'x-ratelimit-limit-req-minute': '720',
      'x-ratelimit-remaining-req-minute': '0',
      'x-ratelimit-tokens-query-cost': '52',
    },
    wait: 3_000,
  },
  {
    name: 'Together, of requests',
    source: 'https://docs.together.ai/docs/rate-limits, togethercomputer/skills#61',
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3' },
    wait: 3_000,
  },
  {
    name: 'Together, of tokens',
    source:
      'https://github.com/togethercomputer/skills/blob/main/skills/together-chat-completions/references/api-parameters.md, togethercomputer/skills#61',
    headers: {
      'x-ratelimit-remaining': '5',
      'x-ratelimit-reset': '3',
      'x-tokenlimit-remaining': '0',
    },
    wait: 3_000,
  },
  {
    name: 'Groq',
    source: 'https://console.groq.com/docs/rate-limits',
    headers: { 'retry-after': '2', 'x-ratelimit-reset-requests': '2m59.56s' },
    wait: 2_000,
  },
  {
    name: 'GitHub, in words',
    source: 'reported in public code of its users',
    body: message(
      'Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 2 seconds before retrying.',
      { code: 'RateLimitReached' },
    ),
    wait: 2_000,
  },
  {
    name: 'GitHub, in a header',
    source: 'reported in public code of its users',
    headers: { 'x-ratelimit-timeremaining': '7' },
    wait: 7_000,
  },
  {
    name: 'GitHub, for a day',
    source: 'reported in public code of its users',
    headers: { 'x-ratelimit-timeremaining': '41234' },
    body: message('Please wait 41234 seconds before retrying.'),
    wait: undefined,
  },
  {
    name: 'LiteLLM, which forwards OpenAI',
    source: 'https://docs.litellm.ai/docs/proxy/response_headers',
    headers: {
      'llm_provider-x-ratelimit-remaining-tokens': '0',
      'llm_provider-x-ratelimit-reset-tokens': '12s',
    },
    wait: 12_000,
  },
  {
    name: 'LiteLLM, which forwards a wait',
    source: 'BerriAI/litellm#21553',
    headers: { 'llm_provider-retry-after': '4' },
    wait: 4_000,
  },
  {
    name: 'Cloudflare',
    source: 'https://developers.cloudflare.com/fundamentals/api/reference/limits',
    headers: { ratelimit: '"default";r=0;t=30', 'ratelimit-policy': '"burst";q=100;w=60' },
    wait: 30_000,
  },
  {
    name: 'APISIX',
    source: 'https://apisix.apache.org/docs/apisix/3.12/plugins/ai-rate-limiting',
    headers: {
      'x-ai-ratelimit-limit-openai': '300',
      'x-ai-ratelimit-remaining-openai': '0',
      'x-ai-ratelimit-reset-openai': '11',
    },
    wait: 11_000,
  },
  {
    name: "the IETF's draft",
    source: 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers',
    headers: { ratelimit: '"default";r=0;t=2', 'ratelimit-policy': '"default";q=100;w=60' },
    wait: 2_000,
  },
  {
    name: "the IETF's draft, with two limits",
    source: 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers',
    headers: { ratelimit: '"hour";r=10;t=1800, "minute";r=0;t=5' },
    wait: 5_000,
  },
  {
    name: "the IETF's draft of 2023",
    source: 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/07',
    headers: { ratelimit: 'limit=100, remaining=0, reset=8' },
    wait: 8_000,
  },
  {
    name: 'ratelimit-reset',
    source: 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/02',
    headers: { 'ratelimit-limit': '100', 'ratelimit-remaining': '0', 'ratelimit-reset': '30' },
    wait: 30_000,
  },
  {
    name: 'Kong',
    source: 'https://developer.konghq.com/plugins/ai-rate-limiting-advanced',
    headers: {
      'x-ai-ratelimit-limit-30-azure': '100',
      'x-ai-ratelimit-remaining-30-azure': '0',
      'x-ai-ratelimit-reset-30-azure': '30',
      'x-ai-ratelimit-retry-after-30-azure': '29',
    },
    wait: 29_000,
  },
  {
    name: 'OpenRouter, in headers',
    source: 'https://openrouter.ai/docs/api-reference/limits',
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now + 7_000}` },
    wait: 7_000,
  },
  {
    name: 'OpenRouter, in the body',
    source: 'everruns/everruns#2280, dirge-code/dirge#719',
    body: message('Rate limit exceeded: limit_rpm/m', {
      metadata: {
        headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${now + 9_000}` },
      },
    }),
    wait: 9_000,
  },
  {
    name: 'a Unix time',
    source: 'https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api',
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': unix(6) },
    wait: 6_000,
  },
  {
    name: 'Google',
    source: 'continuedev/continue#10066, googleapis/python-genai#2044',
    body: message('You exceeded your current quota. Please retry in 3.2s.', {
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }],
    }),
    wait: 3_000,
  },
  {
    name: 'Azure',
    source: 'simonkurtz-MSFT/python-openai-loadbalancer#14',
    headers: { 'retry-after-ms': '1500', 'retry-after': '2' },
    wait: 1_500,
  },
  {
    name: 'Azure, in words',
    source:
      'https://www.dotnetstudioai.com/hospital/fix-429-rate-limit-exceeded-azure-openai-dotnet, alex-wolf-ps/dbchatprov2#2',
    body: message(
      'Requests to the ChatCompletions_Create Operation have exceeded call rate limit of your current tier. Please retry after 6 seconds.',
      { code: '429' },
    ),
    wait: 6_000,
  },
  {
    name: 'Moonshot',
    source: 'harry0703/MoneyPrinterTurbo#339',
    body: message('Your account request reached max request: 3, please try again after 1 seconds', {
      type: 'rate_limit_reached_error',
    }),
    wait: 1_000,
  },
  {
    name: 'Django REST framework',
    source:
      'https://github.com/encode/django-rest-framework/blob/main/rest_framework/exceptions.py',
    body: { detail: 'Request was throttled. Expected available in 17 seconds.' },
    wait: 17_000,
  },
  {
    name: 'retry_after in the body',
    source: 'https://docs.discord.com/developers/topics/rate-limits',
    body: message('You are being rate limited.', { retry_after: 0.25 }),
    wait: 250,
  },
  {
    name: 'x-retry-after',
    source: 'constructed',
    headers: { 'x-retry-after': '3' },
    wait: 3_000,
  },
  {
    name: 'minutes, in words',
    source: 'constructed',
    body: message('Too many requests. Retry in about 6 minutes.'),
    wait: undefined,
  },
  {
    name: 'Chinese, after seconds',
    source: 'constructed',
    body: message('请求过于频繁，请在 5 秒后重试'),
    wait: 5_000,
  },
  {
    name: 'Chinese, a pause',
    source: 'constructed',
    body: message('已达到速率限制，请等待 30 秒再试'),
    wait: 30_000,
  },
  {
    name: 'Chinese, minutes',
    source: 'constructed',
    body: message('请求超限，请于 3 分钟后再试'),
    wait: undefined,
  },
  {
    name: 'Zhipu, for five hours',
    source: 'https://docs.bigmodel.cn/cn/api/api-code',
    body: message('已达到 5 小时的使用上限。您的限额将在 2026-09-02 01:00:00 重置', {
      code: '1308',
    }),
    wait: undefined,
  },
  {
    name: 'Zhipu, soon, in the time of Beijing',
    source: 'https://github.com/can1357/oh-my-pi/issues/11014',
    body: message('已达到 5 小时的使用上限。您的限额将在 2026-09-01 20:00:30 重置', {
      code: '1308',
    }),
    wait: 30_000,
  },
  {
    name: 'Z.ai, for five hours',
    source: 'https://docs.z.ai/api-reference/api-code',
    body: message('Usage limit reached for 5 hour. Your limit will reset at 2026-09-02 01:00:00', {
      code: '1308',
    }),
    wait: undefined,
  },
  {
    name: 'Z.ai, soon, in the time of Beijing',
    source: 'https://github.com/can1357/oh-my-pi/issues/11014',
    body: message('Usage limit reached for 5 hour. Your limit will reset at 2026-09-01 20:00:30', {
      code: '1308',
    }),
    wait: 30_000,
  },
  {
    name: 'a reset at a time with its zone',
    source: 'constructed',
    body: message('The limit resets at 2026-09-01T12:00:30Z.'),
    wait: 30_000,
  },
  {
    name: 'a reset at a time in milliseconds with its zone',
    source: 'constructed',
    body: message('The limit resets at 2026-09-01T12:00:30.000Z.'),
    wait: 30_000,
  },
  {
    name: 'a reset at a time with the name of its zone',
    source: 'constructed',
    body: message('Your limit will reset at 2026-09-01 12:00:30 UTC.'),
    wait: 30_000,
  },
  {
    name: 'a reset in five hours, with the name of its zone',
    source: 'constructed',
    body: message('Your limit will reset at 2026-09-01 17:00:00 UTC.'),
    wait: undefined,
  },
];
