// Uses the AI SDK with a gateway: text with a tool, an object, an image, and a resumable video.
import { writeFile } from 'node:fs/promises';
import {
  experimental_generateVideo as generateVideo,
  generateImage,
  generateText,
  isStepCount,
  Output,
  streamText,
  tool,
} from 'ai';
import { createModelGateway } from 'model-gateway/ai-sdk';
import { fileLedger } from 'model-gateway/node';
import * as z from 'zod';

const modelGateway = createModelGateway({
  ledger: fileLedger('submissions'),
  onSubmitted: ({ id }) => console.log(`Submitted ${id}; it is safe from now on.`),
}); // reads GATEWAY_BASE_URL and GATEWAY_API_KEY

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear' }),
});
const { textStream } = streamText({
  model: modelGateway('gpt-4o-mini'),
  prompt: 'What is the weather in Lisbon?',
  tools: { weather },
  stopWhen: isStepCount(3),
});
for await (const text of textStream) process.stdout.write(text);

const { output } = await generateText({
  model: modelGateway('gpt-4o-mini'),
  prompt: 'Plan three days in Lisbon.',
  output: Output.object({ schema: z.object({ city: z.string(), days: z.int() }) }),
});
console.log(`\n${output.days} days in ${output.city}`);

const { image } = await generateImage({
  model: modelGateway.imageModel('gpt-image-1'),
  prompt: 'A lighthouse at dusk',
  size: '256x256',
});
await writeFile('lighthouse.png', image.uint8Array);
console.log(`Saved lighthouse.png, ${image.uint8Array.length} bytes`);

// A second run with the same id waits for the video that is already paid for.
const { video } = await generateVideo({
  model: modelGateway.video('sora-2'),
  prompt: 'A paper boat on a quiet lake',
  duration: 4,
  poll: { intervalMs: 1_000 },
  providerOptions: { modelGateway: { callId: 'boat-1' } },
});
await writeFile('boat.mp4', video.uint8Array);
console.log(`Saved boat.mp4, ${video.uint8Array.length} bytes`);
