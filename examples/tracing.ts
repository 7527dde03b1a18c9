// Records traces and metrics with OpenTelemetry. A retried chat is one span with two attempts.
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { Gateway } from 'model-gateway';
import { openTelemetry } from 'model-gateway/otel';

// Your program registers an SDK once, and calls openTelemetry() without options.
const exporter = new InMemorySpanExporter();
const tracerProvider = new TracerProvider({
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
});

let isFirst = true;
const client = new Gateway({
  observer: openTelemetry({ tracerProvider }),
  // Simulates a gateway that is briefly overloaded.
  async fetch(input, init) {
    if (!isFirst) return fetch(input, init);
    isFirst = false;
    return new Response('{}', { status: 429, headers: { 'retry-after': '0' } });
  },
}); // reads GATEWAY_BASE_URL and GATEWAY_API_KEY

const stream = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
console.log();

for (const { name, attributes } of exporter.getFinishedSpans()) {
  const shown = [
    'http.response.status_code',
    'model_gateway.outcome',
    'gen_ai.usage.output_tokens',
  ];
  console.log(name, ...shown.flatMap((attribute) => attributes[attribute] ?? []));
}
