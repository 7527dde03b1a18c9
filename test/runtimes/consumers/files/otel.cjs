// CommonJS: the observer of OpenTelemetry by `require()`.
const { Gateway } = require('model-gateway');
const { openTelemetry } = require('model-gateway/otel');
const { createEmulator } = require('model-gateway/testing');

async function main() {
  const { apiKey, baseURL, fetch } = createEmulator();
  const client = new Gateway({ apiKey, baseURL, fetch, observer: openTelemetry() });
  const { data } = await client.models.list();
  console.log(`consumer: ${data.length > 3}`);
}

void main();
