// Runs a function that the model calls, and returns the result to the model.
import { Gateway, type ChatCompletionMessageParam, type ChatCompletionTool } from 'model-gateway';

const client = new Gateway();

const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
    },
  },
];
const messages: ChatCompletionMessageParam[] = [
  { role: 'user', content: 'What is the weather in Lisbon?' },
];

const question = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools });
const message = question.choices[0]?.message;
if (message === undefined) throw new Error('The model gave no answer.');
messages.push(message);
for (const call of message.tool_calls ?? []) {
  if (call.type !== 'function') continue;
  console.log(`The model calls ${call.function.name}(${call.function.arguments})`);
  messages.push({ role: 'tool', tool_call_id: call.id, content: '{"sky":"clear","celsius":24}' });
}

const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools });
console.log(answer.choices[0]?.message.content);
