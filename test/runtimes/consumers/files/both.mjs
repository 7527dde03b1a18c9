// A program that loads the package as a module and, as one of its CommonJS dependencies would, by `require()`.
import { createRequire } from 'node:module';
import { Gateway, GatewayError, APIError, toFile } from 'model-gateway';
import { ChatCompletionStream } from 'model-gateway/stream';
import { createEmulator } from 'model-gateway/testing';

const common = createRequire(import.meta.url)('model-gateway');
const { apiKey, baseURL, fetch } = createEmulator({ videoDuration: 0 });
const client = new Gateway({ apiKey, baseURL, fetch });
const other = new common.Gateway({ apiKey, baseURL, fetch });

const error = await other.get('/v1/models/none').catch((caught) => caught);
const task = await other.videos.create({ model: 'm-video', prompt: 'A boat' });
const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const image = await toFile(bytes, 'cat.png');
const edited = await other.images.edit({ model: 'm-image', prompt: 'A hat', image });
const messages = [{ role: 'user', content: 'Say hello' }];
const stream = await other.chat.completions.create({ model: 'm', messages, stream: true });
const read = ChatCompletionStream.fromReadableStream(stream.toReadableStream());
const checks = [
  common.Gateway !== Gateway,
  error instanceof common.APIError,
  APIError.isInstance(error) && GatewayError.isInstance(error),
  (await client.videos.retrieve(task.ref)).status === 'completed',
  edited.data.length === 1,
  (await read.finalContent()) !== '',
];
console.log(`consumer: ${checks.join(' ')}`);
