// Tests an app without a network: the connection is lost right after the charge.
import assert from 'node:assert/strict';
import { Gateway, GatewayError } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';

const emulator = createEmulator();
const client = new Gateway({
  apiKey: emulator.apiKey,
  baseURL: emulator.baseURL,
  fetch: emulator.fetch,
});

emulator.fail({ operation: 'images.generate', fault: { type: 'reset', when: 'after-charge' } });
await assert.rejects(
  client.images.generate({ model: 'm-image', prompt: 'A fox' }),
  (error) => GatewayError.isInstance(error) && error.outcome === 'unknown',
);
assert.equal(emulator.charges.length, 1);
console.log('Charged once, and not sent again.');
