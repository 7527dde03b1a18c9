// What a project finds by `main`, `types` and `typesVersions`, without `exports`: CommonJS, as it always was.
import OpenAI, { Gateway, type ChatCompletion } from 'model-gateway';
import { Chat, createGateway } from 'model-gateway/core';
import { mcpTools } from 'model-gateway/helpers/mcp';
import { standardTextFormat } from 'model-gateway/helpers/standard-schema';
import { saveTo } from 'model-gateway/node';
import { postgresLedger } from 'model-gateway/postgres';
import { redisLedger } from 'model-gateway/redis';
import type { ChatCompletionMessageParam } from 'model-gateway/resources/chat/completions';
import { ChatCompletionStream } from 'model-gateway/stream';
import { createEmulator } from 'model-gateway/testing';

const { apiKey, baseURL, fetch } = createEmulator();
const client: OpenAI = new Gateway({ apiKey, baseURL, fetch });
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];
const functions: unknown[] = [mcpTools, standardTextFormat, saveTo, postgresLedger, redisLedger];

async function main(): Promise<void> {
  const completion: ChatCompletion = await client.chat.completions.create({ model: 'm', messages });
  const small = createGateway({ apiKey, baseURL, fetch }, { chat: Chat });
  const same = await small.chat.completions.create({ model: 'm', messages });
  const areThere = [...functions, ChatCompletionStream].every(
    (value) => typeof value === 'function',
  );
  console.log(`consumer: ${completion.choices.length === same.choices.length} ${areThere}`);
}

void main();
