import {
  type Attributes,
  context,
  type MeterProvider,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import {
  type CallObserver,
  InvalidInputError,
  type ObservedCall,
  type ObservedEnd,
  type Observer,
} from '../index.ts';
import { inputAttributes, outputAttributes } from './content.ts';
import {
  commonAttributes,
  type Edition,
  errorTypeOf,
  operationNameOf,
  requestAttributes,
  responseAttributes,
  spanNameOf,
  tokensOf,
} from './conventions.ts';
import { type Recorder, recorderOf } from './metrics.ts';
import { linksTo, PollMemory, traceparentOf } from './videos.ts';

declare const __VERSION__: string;

/** Options of `openTelemetry()`. */
export interface OpenTelemetryOptions {
  /**
   * Which edition of OpenTelemetry's conventions for generative AI is written. Both are unstable;
   * `latest` may change with any release of this package.
   * @defaultValue "1.41"
   */
  semconv?: Edition | undefined;
  /**
   * Whether messages, prompts and answers are written into spans, and what a gateway says in its errors.
   * They may be private and large. Files never are.
   * @defaultValue false
   */
  captureContent?: boolean | undefined;
  /**
   * `gen_ai.provider.name`.
   * @defaultValue `"openai"`, and `"gcp.gen_ai"` of calls in Gemini's format: the format, as nobody knows
   * who stands behind a gateway
   */
  providerName?: string | undefined;
  /** @defaultValue the global one, also when it is set later */
  tracerProvider?: TracerProvider | undefined;
  /** @defaultValue the global one, also when it is set later */
  meterProvider?: MeterProvider | undefined;
}

/** The options, decided. */
interface Settings {
  readonly semconv: Edition;
  readonly captureContent: boolean;
  readonly providerName: string | undefined;
  readonly tracer: () => Tracer;
  readonly record: Recorder;
}

const library = 'model-gateway';

function check(holds: boolean, field: string, problem: string): void {
  if (!holds) throw new InvalidInputError(field, problem);
}

function settingsOf(options: OpenTelemetryOptions): Settings {
  const { semconv = '1.41', captureContent = false, providerName } = options;
  const { tracerProvider, meterProvider } = options;
  check(['1.41', 'latest'].includes(semconv), 'semconv', 'must be "1.41" or "latest".');
  check(typeof captureContent === 'boolean', 'captureContent', 'must be true or false.');
  const isName =
    providerName === undefined || (typeof providerName === 'string' && providerName !== '');
  check(isName, 'providerName', 'must be a name such as "openai".');
  const traces = tracerProvider === undefined || typeof tracerProvider.getTracer === 'function';
  check(traces, 'tracerProvider', 'must have a method getTracer().');
  const measures = meterProvider === undefined || typeof meterProvider.getMeter === 'function';
  check(measures, 'meterProvider', 'must have a method getMeter().');
  let counting: { readonly provider: MeterProvider; readonly record: Recorder } | undefined;
  return {
    semconv,
    captureContent,
    providerName,
    tracer: () => (tracerProvider ?? trace).getTracer(library, __VERSION__),
    record(measured) {
      // Instruments that were made before the global provider was set count nothing.
      const provider = meterProvider ?? metrics.getMeterProvider();
      if (counting?.provider !== provider) {
        const meter = provider.getMeter(library, __VERSION__);
        counting = { provider, record: recorderOf(meter, semconv) };
      }
      counting.record(measured);
    },
  };
}

/**
 * An observer that writes traces and metrics of a client's calls with OpenTelemetry.
 *
 * Each call is one span, over all its attempts, which are spans within it; of a stream it ends when the
 * stream does, however that is. A submission of a video leaves its trace in the handle (`ref.trace`), and
 * reads of the task link to it, in any process; of polls only those that see something new are spans.
 * Needs the package `@opentelemetry/api`; without an SDK that is registered with it nothing is written.
 *
 * @throws `InvalidInputError` when an option cannot work
 *
 * @example
 * ```ts
 * const client = new Gateway({ observer: openTelemetry() });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Observer {
  const settings = settingsOf(options);
  const polls = new PollMemory();
  return {
    start(call) {
      const isPoll = call.operation.startsWith('videos.retrieve');
      return isPoll ? observePoll(call, settings, polls) : observeCall(call, settings);
    },
  };
}

function attributesOf(call: ObservedCall, { providerName, semconv }: Settings): Attributes {
  return { ...commonAttributes(call, providerName), ...requestAttributes(call, semconv) };
}

/** The words for an error: of a gateway's its name, as what it says may repeat what it was asked. */
function messageOf(error: unknown, captureContent: boolean): string {
  if (!(error instanceof Error)) return String(error);
  const status: unknown = Reflect.get(error, 'status');
  if (captureContent || status === undefined) return error.message;
  const known = [error.name, status, Reflect.get(error, 'code')].filter(
    (part) => typeof part === 'string' || typeof part === 'number',
  );
  return known.join(' ');
}

function endSpan(span: Span, { error }: ObservedEnd, { captureContent }: Settings): void {
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error, captureContent) });
  }
  span.end();
}

function observeCall(call: ObservedCall, settings: Settings): CallObserver {
  const { captureContent, semconv, providerName } = settings;
  const tracer = settings.tracer();
  const begunAt = performance.now();
  const elapsed = (): number => (performance.now() - begunAt) / 1_000;
  const span = tracer.startSpan(spanNameOf(call), {
    kind: SpanKind.CLIENT,
    attributes: attributesOf(call, settings),
    links: linksTo(call.trace),
  });
  const inside = trace.setSpan(context.active(), span);
  const submits = call.operation.startsWith('videos.') && call.chargeClass === 'charged';
  let attempts = 0;
  let firstChunk: number | undefined;
  return {
    trace: submits ? traceparentOf(span.spanContext()) : undefined,
    run: (work) => context.with(inside, work),
    attempt(request) {
      attempts = request.attempt;
      if (captureContent && attempts === 1) span.setAttributes(inputAttributes(request));
      const { url, method, delayMs } = request;
      const one = tracer.startSpan(`attempt ${attempts}`, { kind: SpanKind.INTERNAL }, inside);
      one.setAttributes({ 'http.request.method': method, 'url.full': url });
      if (attempts > 1) {
        one.setAttributes({
          'http.request.resend_count': attempts - 1,
          'model_gateway.delay_ms': delayMs,
        });
      }
      return ({ status, code, requestId }) => {
        const hasFailed = status === undefined || status >= 400 || code !== undefined;
        if (status !== undefined) one.setAttribute('http.response.status_code', status);
        if (requestId !== undefined) one.setAttribute('model_gateway.request_id', requestId);
        if (hasFailed) {
          const type = code ?? String(status ?? '_OTHER');
          one.setAttribute('error.type', type);
          one.setStatus({ code: SpanStatusCode.ERROR, message: type });
        }
        one.end();
      };
    },
    firstChunk() {
      firstChunk = elapsed();
    },
    end(end) {
      span.setAttributes(responseAttributes(end, semconv, { attempts, firstChunk }));
      if (captureContent) span.setAttributes(outputAttributes(end.answer));
      const operation = operationNameOf(call)?.name;
      if (operation !== undefined && operation !== 'fetch_response') {
        const attributes = commonAttributes(call, providerName);
        const { error, responseModel, usage } = end;
        if (responseModel !== undefined) attributes['gen_ai.response.model'] = responseModel;
        settings.record({
          attributes,
          errorType: error === undefined ? undefined : errorTypeOf(error),
          duration: elapsed(),
          firstChunk,
          tokens: tokensOf(usage),
          isEmbedding: operation === 'embeddings',
        });
      }
      endSpan(span, end, settings);
    },
  };
}

/** A poll becomes a span when it has ended, and only when it has seen something new. */
function observePoll(call: ObservedCall, settings: Settings, polls: PollMemory): CallObserver {
  const startTime = Date.now();
  const parent = context.active();
  let attempts = 0;
  return {
    attempt(request) {
      attempts = request.attempt;
    },
    end(end) {
      const { error, answer } = end;
      const { status, raw_status: word, progress }: Record<string, unknown> = { ...Object(answer) };
      const seen = error === undefined ? String(status) : errorTypeOf(error);
      if (!polls.isNews(`${call.baseURL} ${call.params['task_id']}`, seen)) return;
      const attributes = attributesOf(call, settings);
      const links = linksTo(call.trace);
      const options = { kind: SpanKind.CLIENT, attributes, links, startTime };
      const span = settings.tracer().startSpan(spanNameOf(call), options, parent);
      const told = { attempts, firstChunk: undefined };
      span.setAttributes(responseAttributes(end, settings.semconv, told));
      if (error === undefined) span.setAttribute('model_gateway.video.status', seen);
      if (typeof word === 'string') span.setAttribute('model_gateway.video.raw_status', word);
      if (typeof progress === 'number') span.setAttribute('model_gateway.video.progress', progress);
      endSpan(span, end, settings);
    },
  };
}
