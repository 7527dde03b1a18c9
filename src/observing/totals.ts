import type { Outcome } from '../errors/gateway-error.ts';
import type { JsonObject } from '../types.ts';
import type { CallSpec } from '../http/request.ts';

/** What is known of a call when it ends. */
export interface Ending {
  readonly error?: unknown;
  readonly answer?: unknown;
  /** What a stream has come to. */
  readonly progress?: { readonly partial: unknown; readonly usage: unknown } | undefined;
  /** Whether all of the answer has come. */
  readonly isWhole?: boolean;
}

/** A call, as far as its price depends on it. */
export interface PricedCall {
  readonly spec: CallSpec;
  /** What the gateway said its price is multiplied by, as it came in a header. */
  readonly ratios: string | null;
  readonly scope: { readonly controller: AbortController };
}

/**
 * Asked before a call that may cost something is sent. Gives what is told how the call ended.
 *
 * @throws what the caller gets thrown, when the call may not be sent
 */
export type CallGuard = (call: PricedCall) => Promise<(ending: Ending) => void>;

/** Token usage that was added up, by the paths of its fields such as `prompt_tokens_details.cached_tokens`. */
export type UsageSum = Record<string, number>;

/** Calls that are alike. */
export interface CallTotal {
  /** A route that is not documented has only its method: it may hold ids, and there would be no end. */
  readonly operation: string;
  /** The model that was asked for, or, where none was named, the one that answered. */
  readonly model: string | undefined;
  /** The parameter `n`. */
  readonly count: number | undefined;
  readonly ratios: string | null;
  /** Of the error; `undefined` when there was none. */
  readonly outcome: Outcome | undefined;
  /** Whether they told their usage. */
  readonly isTold: boolean;
  calls: number;
  readonly usage: UsageSum;
}

/** An answer that is nested without end may not fail a call that is paid for. */
const longestPath = 100;

/**
 * What the calls of a client have come to. Every page has it, so it only counts: what that costs is the
 * matter of a part that is loaded when somebody asks. That part is handed this object and imports nothing
 * of this file, which bundlers would cut into a small file of its own.
 */
export class Totals {
  readonly lines = new Map<string, CallTotal>();

  add(call: PricedCall, ending: Ending): void {
    if (call.spec.charge === 'free') return;
    const { params: _, usage, ...kind } = this.describe(call, ending);
    const key = JSON.stringify(kind);
    const line = this.lines.get(key) ?? { ...kind, calls: 0, usage: {} };
    line.calls += 1;
    this.sum(usage, line.usage);
    this.lines.set(key, line);
  }

  /** What is known of a call and its end. */
  describe({ spec, ratios }: PricedCall, { error, answer, progress }: Ending) {
    const { operation, params: path, form, json, options } = spec;
    const fields = Object.fromEntries(form?.fields ?? []);
    const params: Readonly<JsonObject> = {
      ...path,
      ...fields,
      ...Object(json),
      ...options?.extraBody,
    };
    const said: { readonly [field: string]: unknown } = Object(answer);
    const thrown: { readonly outcome?: Outcome } = Object(error);
    const usage: object = Object(progress?.usage ?? said['usage'] ?? said['usageMetadata']);
    const { model = said['model'], n } = params;
    // Gateways fill it with zeros where they do not know.
    const isTold = Object.values(usage).some(Boolean);
    return {
      operation: operation.split(' ', 1).join(''),
      model: typeof model === 'string' ? model : undefined,
      count: typeof n === 'number' ? n : undefined,
      ratios,
      outcome: error === undefined ? undefined : (thrown.outcome ?? 'unknown'),
      params,
      isTold,
      usage,
    };
  }

  /** Adds all numbers of an object to a sum. */
  sum(more: object, sum: UsageSum, path = ''): UsageSum {
    const entries: [string, unknown][] = Object.entries(more);
    for (const [key, value] of entries) {
      const field = path + key;
      if (typeof value === 'number') sum[field] = (sum[field] ?? 0) + value;
      else if (typeof value === 'object' && value !== null && path.length < longestPath) {
        // Gemini lists tokens by their kind.
        const { modality = key }: { readonly modality?: string } = value;
        this.sum(value, sum, `${path}${modality}.`);
      }
    }
    return sum;
  }
}
