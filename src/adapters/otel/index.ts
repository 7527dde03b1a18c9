/**
 * Traces and metrics of OpenTelemetry.
 *
 * @module model-gateway/otel
 */
export { openTelemetry, type OpenTelemetryOptions } from './observer.ts';
