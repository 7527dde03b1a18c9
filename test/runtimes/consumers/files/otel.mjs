// An observer of OpenTelemetry, with a provider that writes down the names of its spans.
import { Gateway } from 'model-gateway';
import { openTelemetry } from 'model-gateway/otel';
import { createEmulator } from 'model-gateway/testing';
import { trace } from '@opentelemetry/api';

const names = [];
const none = trace.getTracer('none').startSpan('none');
const tracer = {
  startSpan(name) {
    names.push(name);
    return none;
  },
};
const observer = openTelemetry({ tracerProvider: { getTracer: () => tracer } });
const { apiKey, baseURL, fetch } = createEmulator();
const client = new Gateway({ apiKey, baseURL, fetch, observer });
await client.models.list();

console.log(`consumer: ${names.join() === 'models.list,attempt 1'}`);
