/** An address as a provider prints it for its routes of OpenAI, and where it does. */
type Row = readonly [address: string, source: string];

const vertex = 'https://us-central1-aiplatform.googleapis.com';
const project = 'projects/p/locations/us-central1';
const cloudflare = 'https://gateway.ai.cloudflare.com/v1/account/gateway';
const azure = 'https://name.openai.azure.com/openai';
const kong = 'https://developer.konghq.com/plugins/ai-proxy';
const together =
  'https://github.com/togethercomputer/skills/blob/main/skills/together-chat-completions';

/** Addresses that code for `openai` passes as its base URL: the routes follow them directly. */
export const addresses: readonly Row[] = [
  // Addresses with a version at their end.
  ['https://api.openai.com/v1', 'https://platform.openai.com/docs/api-reference/introduction'],
  ['https://openrouter.ai/api/v1', 'https://openrouter.ai/docs/quickstart'],
  ['http://localhost:11434/v1/', 'https://docs.ollama.com/api/openai-compatibility'],
  ['http://localhost:1234/v1', 'https://lmstudio.ai/docs/developer/openai-compat'],
  ['https://ai-gateway.vercel.sh/v1', 'https://vercel.com/docs/ai-gateway/openai-compat'],
  ['https://api.groq.com/openai/v1', 'https://console.groq.com/docs/openai'],
  ['https://api.mistral.ai/v1', 'https://docs.mistral.ai/resources/migration-guides'],
  ['https://api.together.xyz/v1', `${together}/references/api-parameters.md`],
  ['https://api.x.ai/v1', 'https://docs.x.ai/docs/api-reference'],
  ['https://api.cerebras.ai/v1', 'https://inference-docs.cerebras.ai/resources/openai'],
  [
    'https://api.sambanova.ai/v1',
    'https://docs.sambanova.ai/docs/ja/features/openai-compatibility',
  ],
  ['https://integrate.api.nvidia.com/v1', 'https://docs.litellm.ai/docs/providers/nvidia_nim'],
  ['https://router.huggingface.co/v1', 'https://huggingface.co/docs/inference-providers/index'],
  [
    'https://api.fireworks.ai/inference/v1',
    'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
  ],
  ['https://api.cohere.ai/compatibility/v1', 'https://docs.cohere.com/docs/compatibility-api'],
  ['https://api.moonshot.ai/v1', 'https://platform.moonshot.ai/docs/guide/start-using-kimi-api'],
  ['https://api.minimax.io/v1', 'https://platform.minimax.io/docs/api-reference/text-openai-api'],
  ['https://api.siliconflow.cn/v1', 'https://docs.siliconflow.cn/docs/userguide/quickstart'],
  [
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'https://www.alibabacloud.com/help/tc/model-studio/developer-reference/compatibility-of-openai-with-dashscope',
  ],
  [
    'https://account.snowflakecomputing.com/api/v2/cortex/v1',
    'https://docs.snowflake.com/user-guide/snowflake-cortex/open_ai_sdk',
  ],
  [
    'https://api.cloudflare.com/client/v4/accounts/account/ai/v1',
    'https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility',
  ],
  [`${azure}/v1/`, 'https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle'],
  ['https://api.z.ai/api/paas/v4/', 'https://docs.z.ai/guides/develop/openai/python'],
  ['https://api.z.ai/api/coding/paas/v4', 'https://docs.z.ai/devpack/quick-start'],
  [
    'https://open.bigmodel.cn/api/paas/v4',
    'https://docs.bigmodel.cn/cn/guide/develop/http/introduction',
  ],
  ['https://ark.cn-beijing.volces.com/api/v3', 'QuantumNous/new-api#757'],
  ['https://qianfan.baidubce.com/v2', 'https://cloud.baidu.com/doc/WENXINWORKSHOP/s/2m3fihw8s'],
  ['https://api.upstage.ai/v1', 'https://console.upstage.ai/api-keys'],
  ['https://api.novita.ai/openai/v1', 'https://www.promptfoo.dev/docs/providers/novita/'],
  [
    `${cloudflare}/workers-ai/v1`,
    'https://www.librechat.ai/docs/configuration/librechat_yaml/ai_endpoints/cloudflare',
  ],
  // Addresses with a version in their middle.
  [
    'https://ark.cn-beijing.volces.com/api/v3/bots',
    'https://volcengine.com/docs/82379/1285207, QuantumNous/new-api#757',
  ],
  [
    'https://api.upstage.ai/v1/solar',
    'https://reference.langchain.com/v0.3/python/_modules/langchain_community/llms/solar.html',
  ],
  [`${cloudflare}/groq`, 'https://developers.cloudflare.com/ai-gateway/providers/groq'],
  [`${cloudflare}/compat`, 'https://developers.cloudflare.com/ai-gateway/get-started'],
  [`${cloudflare}/openai`, 'https://developers.cloudflare.com/ai-gateway/providers/openai/'],
  [`${cloudflare}/openrouter`, 'https://developers.cloudflare.com/ai-gateway/providers/openrouter'],
  [
    `${vertex}/v1/${project}/endpoints/openapi`,
    'https://cloud.google.com/vertex-ai/generative-ai/docs/migrate/openai/overview',
  ],
  [
    `${vertex}/v1/${project}/endpoints/5464397967697903616`,
    'https://cloud.google.com/vertex-ai/generative-ai/docs/migrate/openai/overview',
  ],
  [
    `${vertex}/v1beta1/${project}/endpoints/5464397967697903616`,
    'https://cloud.google.com/vertex-ai/generative-ai/docs/migrate/openai/overview',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    'https://ai.google.dev/gemini-api/docs/openai',
  ],
  ['https://api.deepinfra.com/v1/openai', 'https://deepinfra.com/docs/advanced/openai_api'],
  ['https://api.novita.ai/v3/openai', 'https://docs.litellm.ai/docs/providers/novita'],
  // Folders and hosts without a version.
  [
    'https://adb-1.2.azuredatabricks.net/serving-endpoints',
    'https://docs.litellm.ai/docs/providers/databricks',
  ],
  [
    'https://work.cloud.databricks.com/serving-endpoints/',
    'https://developers.llamaindex.ai/python/examples/llm/databricks',
  ],
  ['https://api.novita.ai/openai', 'https://docs.pipecat.ai/server/services/llm/novita'],
  ['https://models.github.ai/inference', 'https://docs.github.com/en/github-models/quickstart'],
  [
    'https://models.github.ai/orgs/org/inference/',
    'https://docs.github.com/en/rest/models/inference',
  ],
  ['https://models.inference.ai.azure.com', 'Azure-Samples/rag-postgres-openai-python#235'],
  ['https://api.perplexity.ai', 'https://docs.perplexity.ai/guides/chat-completions-guide'],
  ['https://api.deepseek.com', 'https://api-docs.deepseek.com'],
  ['https://api.deepseek.com/beta', 'https://api-docs.deepseek.com/guides/chat_prefix_completion'],
  ['http://localhost:8000/gpt-4', `${kong}/examples/sdk-dynamic-model-selection/`],
  ['http://localhost:8000/azure', `${kong}/examples/sdk-multiple-providers/`],
  // Inferred from those of Kong: it prints `/azure` and `/gpt-4`, not one below the other.
  ['http://localhost:8000/azure/gpt-4o', kong],
  [
    'http://127.0.0.1:8000/openai/deployments/azure-gpt-4',
    `${kong}/examples/sdk-multiple-azure-deployments`,
  ],
];

/** Addresses of a route, which people copy from a console or a document, and the base that they mean. */
export const pasted: readonly (readonly [address: string, base: string])[] = [
  ['https://api.z.ai/api/paas/v4/chat/completions', 'https://api.z.ai/api/paas/v4'],
  ['https://api.perplexity.ai/chat/completions', 'https://api.perplexity.ai'],
  ['https://gw.example/llm/chat/completions', 'https://gw.example/llm'],
  ['https://gw.example/v1beta/chat/completions', 'https://gw.example/v1beta'],
  ['https://gw.example/v1/models', 'https://gw.example/v1'],
  ['https://gw.example/v1/models/gpt-5', 'https://gw.example/v1'],
  ['https://gw.example/openai/images/generations', 'https://gw.example/openai'],
  [`${azure}/responses?api-version=2025-04-01-preview`, azure],
  [`${azure}/deployments/x/embeddings?api-version=2024-10-21`, `${azure}/deployments/x`],
  ...[
    'responses',
    'completions',
    'messages',
    'rerank',
    'moderations',
    'files',
    'batches',
    'realtime',
    'embeddings',
    'engines/m/embeddings',
    'chat/completions',
    'images/edits',
    'audio/speech',
    'videos',
    'videos/task_1',
    'videos/task_1/content',
    'videos/task_1/remix',
  ].map((route) => [`https://gw.example/v1/${route}`, 'https://gw.example/v1'] as const),
];
