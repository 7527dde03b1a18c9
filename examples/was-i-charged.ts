// Looks up in the gateway's usage log whether a call was charged whose response was lost.
import { APIError, Gateway, GatewayError, UnsupportedByGatewayError } from 'model-gateway';

// The answer breaks off on its way: the worst moment, as the picture is paid for.
const client = new Gateway({
  maxRetries: 0,
  fetch: async (input, init) => {
    const answer = await fetch(input, init);
    return init?.method === 'POST' ? new Response('{"created":17', answer) : answer;
  },
});

try {
  await client.images.generate({ model: 'dall-e-3', prompt: 'A lighthouse at dusk' });
} catch (error) {
  if (!GatewayError.isInstance(error) || error.outcome !== 'unknown') throw error;
  console.log('outcome:', error.outcome);
  if (APIError.isInstance(error)) console.log('request:', error.requestID);
  try {
    const { verdict, amount, why } = await client.account.settle(error);
    console.log('verdict:', verdict, amount?.value ?? '', amount?.unit ?? '');
    console.log(why);
  } catch (problem) {
    if (!UnsupportedByGatewayError.isInstance(problem)) throw problem;
    console.log(problem.message);
  }
}

const { used, available } = await client.account.balance();
console.log('used:', used.value, used.unit, '- left:', available?.value ?? 'no limit');
