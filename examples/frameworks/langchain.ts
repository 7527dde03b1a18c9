// LangChain's model on /v1/responses: npm install @langchain/core @langchain/openai zod
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAIResponses } from '@langchain/openai';
import { Gateway, asOpenAI } from 'model-gateway';
import * as z from 'zod';

const client = new Gateway();
// The requests are those of our client, which also decides about retries.
const model = new ChatOpenAIResponses({ model: 'gpt-4o-mini', apiKey: 'not used', maxRetries: 0 });
model.client = asOpenAI(client);

const weather = tool(({ city }) => `${city}: sunny, 24 degrees`, {
  name: 'get_weather',
  description: 'The weather in a city.',
  schema: z.object({ city: z.string() }),
});

const question = new HumanMessage('What is the weather in Lisbon?');
const answer = await model.bindTools([weather]).invoke([question]);
const results = await Promise.all((answer.tool_calls ?? []).map((call) => weather.invoke(call)));
for await (const chunk of await model.stream([question, answer, ...results])) {
  process.stdout.write(chunk.text);
}

const place = z.object({ city: z.string() });
const parser = model.withStructuredOutput(place, { name: 'place', method: 'jsonSchema' });
console.log('\n', await parser.invoke('Where is the Eiffel Tower?'));
