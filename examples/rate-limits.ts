// Sends many requests at once, and lets the client keep to the limits of the gateway.
import { Gateway } from 'model-gateway';

const client = new Gateway({
  limits: { requestsPerMinute: 500, tokensPerMinute: 200_000, concurrency: 2 },
});
const subjects = ['the sky', 'the sea', 'snow', 'grass', 'sand', 'smoke'];

let running = 0;
let most = 0;
const counting = client.withOptions({
  onRequest: () => {
    running += 1;
    most = Math.max(most, running);
  },
  onResponse: () => {
    running -= 1;
  },
});
const answers = await Promise.all(
  subjects.map((subject) =>
    counting.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: `Which colour has ${subject}?` }],
    }),
  ),
);
for (const { choices } of answers) console.log(choices[0]?.message.content);
console.log(`${answers.length} answers, at most ${most} at a time`);
