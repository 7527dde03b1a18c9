export { openTelemetry, type OpenTelemetryOptions } from './observer.ts';
