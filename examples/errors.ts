// Shows the fields of an error, such as whether the request may have been charged.
import { APIError, Gateway, GatewayError } from 'model-gateway';

const client = new Gateway();

try {
  await client.chat.completions.create({
    model: 'missing-model',
    messages: [{ role: 'user', content: 'Hello!' }],
  });
} catch (error) {
  if (!GatewayError.isInstance(error)) throw error;
  console.log(error.name, '-', error.message);
  console.log('outcome:', error.outcome);
  if (APIError.isInstance(error)) {
    console.log('status:', error.status, 'code:', error.code, 'request:', error.requestID);
  }
}
