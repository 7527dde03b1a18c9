// An agent of @openai/agents on its default API, /v1/responses: npm install @openai/agents openai zod
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import { Gateway, StreamTruncatedError, asOpenAI } from 'model-gateway';
import type OpenAI from 'openai';
import * as z from 'zod';

// Traces would be sent to OpenAI.
setTracingDisabled(true);

const client = new Gateway();
const forecaster = new Agent({
  name: 'Forecaster',
  model: new OpenAIResponsesModel(asOpenAI<OpenAI>(client), 'gpt-4o-mini'),
  tools: [
    tool({
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => `${city}: sunny, 24 degrees`,
    }),
  ],
});

const stream = await run(forecaster, 'What is the weather in Lisbon?', { stream: true });
try {
  for await (const text of stream.toTextStream()) process.stdout.write(text);
  await stream.completed;
} catch (error) {
  // The agent's answer is never taken from a stream that was cut.
  if (!(error instanceof StreamTruncatedError)) throw error;
  console.log(`\nCut, and probably charged: ${error.message}`);
}

const { lines } = await client.account.spent();
for (const { operation, calls, tokens } of lines) {
  console.log(`\n${calls} calls of ${operation}, ${tokens.input + tokens.output} tokens`);
}
