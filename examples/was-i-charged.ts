// Checks in the gateway's usage log whether a call with a lost response was charged.
import { APIError, Gateway, GatewayError, UnsupportedByGatewayError } from 'model-gateway';

// Cuts the response off after the image was charged.
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
    const { verdict, amount, reason } = await client.account.settle(error);
    console.log('verdict:', verdict, amount?.value ?? '', amount?.unit ?? '');
    console.log(reason);
  } catch (problem) {
    if (!UnsupportedByGatewayError.isInstance(problem)) throw problem;
    console.log(problem.message);
  }
}

const { used, available } = await client.account.balance();
console.log('used:', used.value, used.unit, '- left:', available?.value ?? 'no limit');
