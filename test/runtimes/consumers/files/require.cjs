// CommonJS: `require()` loads the CommonJS files of the package.
const { Gateway, APIError, default: fallback } = require('model-gateway');
const OpenAI = require('model-gateway');
const { createEmulator } = require('model-gateway/testing');
const { saveTo } = require('model-gateway/node');
const { postgresLedger } = require('model-gateway/postgres');
const { redisLedger } = require('model-gateway/redis');
const { createGateway } = require('model-gateway/core');
const { ChatCompletionStream } = require('model-gateway/stream');

async function main() {
  const { apiKey, baseURL, fetch } = createEmulator();
  const client = new Gateway({ apiKey, baseURL, fetch });
  const { data } = await client.models.list();
  const error = await client.get('/v1/models/none').catch((caught) => caught);
  const isError = APIError.isInstance(error) && error instanceof APIError;
  const functions = [saveTo, postgresLedger, redisLedger, ChatCompletionStream, createGateway];
  const areThere = functions.every((value) => typeof value === 'function');
  const isCommonJS = require.resolve('model-gateway').endsWith('.cjs');
  const checks = [data.length > 3, isError, fallback === Gateway, areThere, isCommonJS];
  // The module itself is the class, as that of `openai` is.
  class Own extends OpenAI {}
  const own = new Own({ apiKey, baseURL, fetch });
  checks.push(own instanceof Own && own instanceof Gateway && client instanceof OpenAI);
  checks.push((await own.models.list()).data.length > 3, OpenAI.Chat === Gateway.Chat);
  console.log(`consumer: ${checks.join(' ')}`);
}

void main();
