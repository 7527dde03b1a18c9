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
  usageOf,
} from '../../index.ts';
import { inputAttributes, outputAttributes } from './content.ts';
import {
  commonAttributes,
  type Edition,
  errorType,
  operationName,
  requestAttributes,
  isPoll,
  responseAttributes,
  spanName,
  submitsTask,
} from './conventions.ts';
import { type Recorder, createRecorder } from './metrics.ts';
import { linksTo, PollMemory, formatTraceparent } from './videos.ts';

declare const __VERSION__: string;

/** Options of `openTelemetry()`. */
export interface OpenTelemetryOptions {
  /**
   * Edition of OpenTelemetry's semantic conventions for generative AI: `1.41` of the general conventions, or
   * `0.1.0` of those for generative AI alone. Both are unstable, and their metric names differ.
   * @defaultValue "1.41"
   */
  semconv?: Edition | undefined;
  /**
   * Record messages, prompts, responses and the error messages of gateways in spans. They may be private
   * and large. Files are never recorded.
   * @defaultValue false
   */
  captureContent?: boolean | undefined;
  /**
   * `gen_ai.provider.name`.
   * @defaultValue `"openai"`, and `"gcp.gen_ai"` for calls in Gemini's format: the wire format, because
   * the provider behind a gateway is unknown
   */
  providerName?: string | undefined;
  /** @defaultValue the global provider, even if it is registered later */
  tracerProvider?: TracerProvider | undefined;
  /** @defaultValue the global provider, even if it is registered later */
  meterProvider?: MeterProvider | undefined;
}

/** Validated options with defaults applied. */
interface Settings {
  readonly semconv: Edition;
  readonly captureContent: boolean;
  readonly providerName: string | undefined;
  readonly tracer: () => Tracer;
  readonly recorder: Recorder;
}

const library = 'model-gateway';

function check(holds: boolean, field: string, problem: string): void {
  if (!holds) throw new InvalidInputError(field, problem);
}

function readSettings(options: OpenTelemetryOptions): Settings {
  const { semconv = '1.41', captureContent = false, providerName } = options;
  const { tracerProvider, meterProvider } = options;
  check(['1.41', '0.1.0'].includes(semconv), 'semconv', 'must be "1.41" or "0.1.0".');
  check(typeof captureContent === 'boolean', 'captureContent', 'must be true or false.');
  const isName =
    providerName === undefined || (typeof providerName === 'string' && providerName !== '');
  check(isName, 'providerName', 'must be a name such as "openai".');
  const traces = tracerProvider === undefined || typeof tracerProvider.getTracer === 'function';
  check(traces, 'tracerProvider', 'must have a method getTracer().');
  const measures = meterProvider === undefined || typeof meterProvider.getMeter === 'function';
  check(measures, 'meterProvider', 'must have a method getMeter().');
  let counting: { readonly provider: MeterProvider; readonly recorder: Recorder } | undefined;
  return {
    semconv,
    captureContent,
    providerName,
    tracer: () => (tracerProvider ?? trace).getTracer(library, __VERSION__),
    get recorder() {
      // Instruments created before the global provider was set record nothing.
      const provider = meterProvider ?? metrics.getMeterProvider();
      if (counting?.provider !== provider) {
        const meter = provider.getMeter(library, __VERSION__);
        counting = { provider, recorder: createRecorder(meter, semconv) };
      }
      return counting.recorder;
    },
  };
}

/**
 * Creates an observer that records traces and metrics of a client's calls with OpenTelemetry.
 *
 * Each call is a span over all its attempts, which are child spans. The span of a streamed call ends
 * when the stream ends or is closed. A video submission stores its trace in the handle (`ref.trace`), and
 * reads of the task link to it, in any process. Polls are recorded only if they see a change.
 * Requires the package `@opentelemetry/api`; nothing is recorded unless an SDK is registered with it.
 *
 * @throws `InvalidInputError` if an option is invalid
 *
 * @example
 * ```ts
 * const client = new Gateway({ observer: openTelemetry() });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Observer {
  const settings = readSettings(options);
  const polls = new PollMemory();
  return {
    start(call) {
      return isPoll(call) ? observePoll(call, settings, polls) : observeCall(call, settings);
    },
  };
}

function callAttributes(call: ObservedCall, { providerName, semconv }: Settings): Attributes {
  return { ...commonAttributes(call, providerName), ...requestAttributes(call, semconv) };
}

/** Returns the message of a span status: for gateway errors name, status and code, because their messages may quote the prompt. */
function statusMessage(error: unknown, captureContent: boolean): string {
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
    span.setStatus({ code: SpanStatusCode.ERROR, message: statusMessage(error, captureContent) });
  }
  span.end();
}

function observeCall(call: ObservedCall, settings: Settings): CallObserver {
  const { captureContent, semconv, providerName } = settings;
  const tracer = settings.tracer();
  const begunAt = performance.now();
  const elapsed = (): number => (performance.now() - begunAt) / 1_000;
  const span = tracer.startSpan(spanName(call), {
    kind: SpanKind.CLIENT,
    attributes: callAttributes(call, settings),
    links: linksTo(call.trace),
  });
  const inside = trace.setSpan(context.active(), span);
  let attempts = 0;
  let firstChunk: number | undefined;
  let lastChunk: number | undefined;
  const chunkGaps: number[] = [];
  return {
    trace: submitsTask(call) ? formatTraceparent(span.spanContext()) : undefined,
    run: (work) => context.with(inside, work),
    attempt(request) {
      attempts = request.attempt;
      if (captureContent && attempts === 1) span.setAttributes(inputAttributes(request));
      const { url, method, delayMs, waitMs } = request;
      if (waitMs !== undefined) {
        settings.recorder.wait(waitMs / 1_000, commonAttributes(call, providerName));
      }
      const attemptSpan = tracer.startSpan(
        `attempt ${attempts}`,
        { kind: SpanKind.INTERNAL },
        inside,
      );
      attemptSpan.setAttributes({ 'http.request.method': method, 'url.full': url });
      if (attempts > 1) {
        attemptSpan.setAttributes({
          'http.request.resend_count': attempts - 1,
          'model_gateway.delay_ms': delayMs,
        });
      }
      return ({ status, code, requestId, phase }) => {
        const hasFailed = status === undefined || status >= 400 || code !== undefined;
        if (status !== undefined) attemptSpan.setAttribute('http.response.status_code', status);
        if (requestId !== undefined)
          attemptSpan.setAttribute('model_gateway.request_id', requestId);
        if (phase !== undefined) attemptSpan.setAttribute('model_gateway.phase', phase);
        if (hasFailed) {
          const type = code ?? String(status ?? '_OTHER');
          attemptSpan.setAttribute('error.type', type);
          attemptSpan.setStatus({ code: SpanStatusCode.ERROR, message: type });
        }
        attemptSpan.end();
      };
    },
    chunk() {
      const now = elapsed();
      firstChunk ??= now;
      if (lastChunk !== undefined) chunkGaps.push(now - lastChunk);
      lastChunk = now;
    },
    end(end) {
      span.setAttributes(responseAttributes(end, semconv, { attempts, firstChunk }));
      if (captureContent) span.setAttributes(outputAttributes(end.answer));
      const { fallbackFrom } = call;
      const { possibleCharges, budget } = end;
      settings.recorder.risks({
        attributes: commonAttributes(call, providerName),
        retries: Math.max(0, attempts - 1),
        fallbackFrom,
        possibleCharges,
        budgetLeft: budget && budget.limit - budget.spent - budget.reserved,
      });
      const operation = operationName(call)?.name;
      if (operation !== undefined && operation !== 'fetch_response') {
        const attributes = commonAttributes(call, providerName);
        const { error, responseModel, usage, cost } = end;
        if (responseModel !== undefined) attributes['gen_ai.response.model'] = responseModel;
        const { recorder } = settings;
        if (cost !== undefined) recorder.cost(cost, attributes);
        recorder.call({
          attributes,
          errorType: error === undefined ? undefined : errorType(error),
          duration: elapsed(),
          firstChunk,
          chunkGaps,
          usage: usageOf(usage),
          isEmbedding: operation === 'embeddings',
          result: {
            'model_gateway.outcome': end.outcome,
            'model_gateway.charge_class': call.chargeClass,
          },
        });
      }
      endSpan(span, end, settings);
    },
  };
}

/** Observes a poll, which becomes a span at its end, and only if it saw a change. */
function observePoll(call: ObservedCall, settings: Settings, polls: PollMemory): CallObserver {
  const startTime = Date.now();
  const parent = context.active();
  let attempts = 0;
  return {
    attempt(request) {
      attempts = request.attempt;
    },
    end(end) {
      const { error, answer, cost } = end;
      const task = `${call.baseURL} ${call.params['task_id']}`;
      if (cost !== undefined && polls.isFirstCost(task)) {
        settings.recorder.cost(cost, commonAttributes(call, settings.providerName));
      }
      const {
        status,
        raw_status: rawStatus,
        progress,
      }: Record<string, unknown> = { ...Object(answer) };
      const seen = error === undefined ? String(status) : errorType(error);
      if (!polls.isChange(task, seen)) return;
      const attributes = callAttributes(call, settings);
      const links = linksTo(call.trace);
      const options = { kind: SpanKind.CLIENT, attributes, links, startTime };
      const span = settings.tracer().startSpan(spanName(call), options, parent);
      const measured = { attempts, firstChunk: undefined };
      span.setAttributes(responseAttributes(end, settings.semconv, measured));
      if (error === undefined) span.setAttribute('model_gateway.video.status', seen);
      if (typeof rawStatus === 'string')
        span.setAttribute('model_gateway.video.raw_status', rawStatus);
      if (typeof progress === 'number') span.setAttribute('model_gateway.video.progress', progress);
      endSpan(span, end, settings);
    },
  };
}
