import type { Attributes, Meter } from '@opentelemetry/api';
import type { AnswerUsage } from '../../index.ts';
import type { Edition } from './conventions.ts';

const seconds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const tokenCounts = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];

/** Measurements of a finished call. Durations are in seconds. */
interface Measured {
  /** Attributes of the metrics. */
  readonly attributes: Attributes;
  readonly errorType: string | undefined;
  readonly duration: number;
  /** Time to the first chunk of a stream. */
  readonly firstChunk: number | undefined;
  /** Times between the chunks of a stream. */
  readonly chunkGaps: readonly number[];
  readonly usage: AnswerUsage;
  readonly isEmbedding: boolean;
  /** Attributes of the duration: outcome and charge class. */
  readonly result: Attributes;
}

/** What a call put at risk, or waited for. */
interface Risks {
  readonly attributes: Attributes;
  readonly retries: number;
  /** The model that failed before, if the call is its fallback. */
  readonly fallbackFrom: string | undefined;
  readonly possibleCharges: number;
  /** What is left of the budget of the client, in US dollars. */
  readonly budgetLeft: number | undefined;
}

/** Records measurements. */
export interface Recorder {
  /** Records a finished call without its cost. */
  call(measured: Measured): void;
  /** Records the cost of a call or a video task, in US dollars. */
  cost(cost: number, attributes: Attributes): void;
  /** Records how long an attempt waited for its turn, in seconds. */
  wait(duration: number, attributes: Attributes): void;
  /** Records the retries, fallbacks and possible charges of a finished call, and what is left of the budget. */
  risks(risks: Risks): void;
}

/** Creates the instruments of an edition. */
export function createRecorder(meter: Meter, edition: Edition): Recorder {
  const cost = meter.createCounter('model_gateway.cost', {
    unit: '{USD}',
    description: 'Cost in US dollars that responses report.',
  });
  const wait = timer(
    meter,
    'model_gateway.turn.wait',
    'Time an attempt waited for its turn within limits.',
  );
  return {
    call: edition === '0.1.0' ? newer(meter) : older(meter),
    cost: (amount, attributes) => cost.add(amount, attributes),
    wait: (duration, attributes) => wait.record(duration, attributes),
    risks: riskRecorder(meter),
  };
}

function riskRecorder(meter: Meter): Recorder['risks'] {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`model_gateway.${name}`, { unit, description });
  const retried = counter('retries', '{retry}', 'Attempts after the first one of a call.');
  const fallbacks = counter('fallbacks', '{fallback}', 'Calls that were sent to the next model.');
  const possible = counter(
    'possible_charges',
    '{charge}',
    'Attempts that may have been charged although no response was received.',
  );
  const left = meter.createGauge('model_gateway.budget.remaining', {
    unit: '{USD}',
    description: 'US dollars of the budget that are neither spent nor reserved.',
  });
  return ({ attributes, retries, fallbackFrom, possibleCharges, budgetLeft }) => {
    if (retries > 0) retried.add(retries, attributes);
    if (fallbackFrom !== undefined) {
      fallbacks.add(1, { ...attributes, 'model_gateway.fallback.from': fallbackFrom });
    }
    if (possibleCharges > 0) possible.add(possibleCharges, attributes);
    if (budgetLeft !== undefined) left.record(budgetLeft);
  };
}

function timer(meter: Meter, name: string, description: string) {
  const advice = { explicitBucketBoundaries: seconds };
  return meter.createHistogram(name, { unit: 's', description, advice });
}

function tokenHistogram(meter: Meter, name: string, description: string) {
  const advice = { explicitBucketBoundaries: tokenCounts };
  return meter.createHistogram(name, { unit: '{token}', description, advice });
}

/** Returns the attributes of a duration. */
function withResult({ attributes, result, errorType }: Measured): Attributes {
  const all = { ...attributes, ...result };
  return errorType === undefined ? all : { ...all, 'error.type': errorType };
}

/** Creates the timers of streams, whose names begin with `prefix`, and returns a function that records them. */
function streamRecorder(meter: Meter, prefix: string) {
  const first = timer(
    meter,
    `${prefix}.time_to_first_chunk`,
    'Time to receive the first chunk of a stream.',
  );
  const next = timer(
    meter,
    `${prefix}.time_per_output_chunk`,
    'Time from one chunk of a stream to the next.',
  );
  return ({ firstChunk, chunkGaps, attributes }: Measured): void => {
    if (firstChunk !== undefined) first.record(firstChunk, attributes);
    for (const gap of chunkGaps) next.record(gap, attributes);
  };
}

function older(meter: Meter): Recorder['call'] {
  const duration = timer(meter, 'gen_ai.client.operation.duration', 'GenAI operation duration.');
  const recordStream = streamRecorder(meter, 'gen_ai.client.operation');
  const usage = tokenHistogram(
    meter,
    'gen_ai.client.token.usage',
    'Number of input and output tokens used.',
  );
  return (measured) => {
    const { attributes, usage: used } = measured;
    duration.record(measured.duration, withResult(measured));
    recordStream(measured);
    for (const type of ['input', 'output'] as const) {
      const count = used[`${type}Tokens`];
      if (count !== undefined) usage.record(count, { ...attributes, 'gen_ai.token.type': type });
    }
  };
}

/** Token counters of 0.1.0, with the token counts that they record. */
const counted = [
  ['input_tokens', 'inputTokens', 'Input tokens used, including cached tokens.'],
  ['output_tokens', 'outputTokens', 'Output tokens used, including reasoning tokens.'],
  ['cache_read.input_tokens', 'cacheReadTokens', 'Input tokens read from a cache.'],
  ['cache_write.input_tokens', 'cacheWriteTokens', 'Input tokens written to a cache.'],
  ['reasoning.output_tokens', 'reasoningTokens', 'Output tokens used for reasoning.'],
] as const;

function newer(meter: Meter): Recorder['call'] {
  const duration = timer(
    meter,
    'gen_ai.client.inference.duration',
    'GenAI client inference operation duration.',
  );
  const embeddingDuration = timer(
    meter,
    'gen_ai.client.embeddings.duration',
    'GenAI client embeddings operation duration.',
  );
  const recordStream = streamRecorder(meter, 'gen_ai.client.inference');
  const counters = counted.map(([name, kind, description]) => {
    const fullName = `gen_ai.client.inference.usage.${name}`;
    return { kind, counter: meter.createCounter(fullName, { unit: '{token}', description }) };
  });
  const perCall = (['input', 'output'] as const).map((kind) => {
    const name = `gen_ai.client.inference.operation.${kind}_tokens`;
    return { kind, histogram: tokenHistogram(meter, name, `The ${kind} tokens of one call.`) };
  });
  const embeddingTokens = tokenHistogram(
    meter,
    'gen_ai.client.embeddings.operation.input_tokens',
    'The input tokens of one call.',
  );
  return (measured) => {
    const { attributes, usage, isEmbedding } = measured;
    (isEmbedding ? embeddingDuration : duration).record(measured.duration, withResult(measured));
    recordStream(measured);
    if (isEmbedding) {
      const { inputTokens } = usage;
      if (inputTokens !== undefined) embeddingTokens.record(inputTokens, attributes);
      return;
    }
    for (const { kind, counter } of counters) {
      const count = usage[kind];
      // Gateways do not report the modality of tokens.
      const modality = { ...attributes, 'gen_ai.token.modality': 'unknown' };
      if (count !== undefined) counter.add(count, modality);
    }
    for (const { kind, histogram } of perCall) {
      const count = usage[`${kind}Tokens`];
      if (count !== undefined) histogram.record(count, attributes);
    }
  };
}
