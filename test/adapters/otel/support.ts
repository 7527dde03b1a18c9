import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';
import { openTelemetry, type OpenTelemetryOptions } from '../../../src/adapters/otel/index.ts';

/** The real SDK, with everything kept in memory, and an observer that writes to it. */
export function traced(options: OpenTelemetryOptions = {}) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const meterProvider = new MeterProvider({ readers: [reader] });
  // Its interval would go on; a second shutdown only warns.
  onTestFinished(() => meterProvider.shutdown());
  const observer = openTelemetry({ tracerProvider, meterProvider, ...options });
  /** Measurements by name. */
  const measured = async (): Promise<Map<string, MetricData>> => {
    await meterProvider.forceFlush();
    const metrics = metricExporter
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((one) => one.metrics);
    await meterProvider.shutdown();
    return new Map(metrics?.map((metric) => [metric.descriptor.name, metric]));
  };
  return {
    observer,
    tracerProvider,
    meterProvider,
    measured,
    /** The spans that have ended, in that order. */
    spans: () => exporter.getFinishedSpans(),
    /** Those of whole calls. */
    calls: () => exporter.getFinishedSpans().filter(({ name }) => !name.startsWith('attempt ')),
  };
}

/** The spans within a span. */
export function within(parent: ReadableSpan | undefined, spans: readonly ReadableSpan[]) {
  const id = parent?.spanContext().spanId;
  return spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === id);
}
