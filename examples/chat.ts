// Asks a question and prints the answer.
import { Gateway } from 'model-gateway';

const client = new Gateway(); // reads GATEWAY_BASE_URL and GATEWAY_API_KEY

const completion = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [
    { role: 'system', content: 'You answer in one sentence.' },
    { role: 'user', content: 'Why is the sky blue?' },
  ],
});
console.log(completion.choices[0]?.message.content);
console.log(completion.usage);
