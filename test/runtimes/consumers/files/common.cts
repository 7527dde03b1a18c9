// TypeScript that is compiled to CommonJS, with what each entry exports.
import OpenAI, {
  Gateway,
  GatewayError,
  type ChatCompletion,
  type VideoTaskRef,
} from 'model-gateway';
import node = require('model-gateway/node');
import testing = require('model-gateway/testing');
import { Chat, createGateway } from 'model-gateway/core';
import { ChatCompletionStream } from 'model-gateway/stream';
import { postgresLedger } from 'model-gateway/postgres';
import { redisLedger } from 'model-gateway/redis';

const { apiKey, baseURL, fetch } = testing.createEmulator();
const client: OpenAI = new Gateway({ apiKey, baseURL, fetch });

export const models = client.models.list().then(
  ({ data }) => data.map(({ id }) => id),
  (error: unknown) => (GatewayError.isInstance(error) ? [error.outcome] : []),
);

export async function chat(content: string): Promise<ChatCompletion> {
  return client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
}

export async function submit(prompt: string): Promise<VideoTaskRef> {
  return (await client.videos.create({ model: 'm-video', prompt })).ref;
}

export const read = (body: ReadableStream): ChatCompletionStream =>
  ChatCompletionStream.fromReadableStream(body);
export const fail = (): Promise<unknown> => client.get('/v1/models/none');
export const others = [node.saveTo, postgresLedger, redisLedger];
export const chatAlone = createGateway({ apiKey, baseURL, fetch }, { chat: Chat }).chat;
