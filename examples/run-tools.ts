// Runs the functions that the model calls until it answers, in both formats of the gateway.
import { Gateway, tool } from 'model-gateway';
import * as z from 'zod';

const client = new Gateway();
const weather = tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  schema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear', celsius: 24 }),
});

const runner = client.chat.completions
  .runTools({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'What is the weather in Lisbon?' }],
    tools: [weather],
    stream: true,
  })
  .on('functionToolCall', (call) => console.log(`The model calls ${call.name}(${call.arguments})`))
  .on('functionToolCallError', (error) => console.log('It went wrong:', error.message))
  .on('content', (delta) => process.stdout.write(delta));
await runner.done();
const { total_tokens: tokens } = await runner.totalUsage();
console.log(`\n${runner.allChatCompletions().length} completions, ${tokens} tokens`);

const { response, contents } = await client.generate.runTools({
  model: 'gemini-2.5-flash',
  contents: 'What is the weather in Porto?',
  functions: [weather],
});
console.log(`${response.text}\n${contents.length} turns`);
