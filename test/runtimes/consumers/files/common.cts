// TypeScript that is compiled to CommonJS.
import { Gateway, GatewayError } from 'model-gateway';
import testing = require('model-gateway/testing');

const { apiKey, baseURL, fetch } = testing.createEmulator();
const client = new Gateway({ apiKey, baseURL, fetch });

export const models = client.models.list().then(
  ({ data }) => data.map(({ id }) => id),
  (error: unknown) => (GatewayError.isInstance(error) ? [error.outcome] : []),
);
