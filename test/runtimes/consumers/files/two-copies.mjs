// Two copies of the package side by side, as a package manager may install them.
import * as first from 'model-gateway';
import * as second from 'model-gateway-copy';
import { createEmulator } from 'model-gateway/testing';

const { apiKey, baseURL, fetch } = createEmulator({ videoDuration: 0 });
const client = new second.Gateway({ apiKey, baseURL, fetch });
const error = await client.get('/v1/models/none').catch((caught) => caught);
const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
const own = new first.Gateway({ apiKey, baseURL, fetch });
const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const foreign = second.toStreamingFile(new Blob([bytes]).stream(), 'cat.png');
const edited = await own.images.edit({ model: 'm-image', prompt: 'A hat', image: foreign });
const checks = [
  !(error instanceof first.APIError),
  error instanceof second.APIError,
  first.APIError.isInstance(error),
  first.GatewayError.isInstance(error),
  first.InvalidInputError.isInstance(error) === second.InvalidInputError.isInstance(error),
  !first.RateLimitError.isInstance(error),
  (await own.videos.retrieve(task.ref)).status === 'completed',
  edited.data.length === 1,
];
console.log(`consumer: ${checks.join(' ')}`);
