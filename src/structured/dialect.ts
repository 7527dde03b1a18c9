import type { OutputRules } from '../calls/operation.ts';
import type { Transport } from '../calls/transport.ts';
import { type Change, unchanged, withoutChanged } from '../http/request.ts';
import { check } from '../options/check.ts';
import type { RequestOptions } from '../options/options.ts';
import { peek } from '../options/snapshot.ts';
import type { JsonObject } from '../types.ts';
import { outputInstruction } from './json.ts';
import type { CallableTool } from './tool-loop.ts';

/** How the requests of an API request JSON. */
export interface OutputDialect<Source extends object, Params extends Source> {
  /** Tells the requests of this API from others that a provider treats differently. */
  readonly name: string;
  /** Returns the schema in parameters that may be invalid; `undefined` if they ask for no JSON by a schema. */
  readonly findSchema: (params: Source) => JsonObject | undefined;
  /** Returns whether the JSON mode of providers can return values of the schema. */
  readonly allowsJSONMode: (schema: JsonObject) => boolean;
  /** Returns parameters without the schema but with an instruction, in JSON mode or without it. */
  readonly withInstruction: (params: Params, instruction: string, isJSONMode: boolean) => Params;
}

/** Returns how requests with a schema ask for JSON; `undefined` if these parameters have none. */
export function findOutput<Source extends object, Params extends Source>(
  dialect: OutputDialect<Source, Params>,
  params: Source & { tools?: unknown },
): OutputRules<Params> | undefined {
  const schema = dialect.findSchema(params);
  if (schema === undefined) return undefined;
  const kind = `${dialect.name} ${peek(params, 'tools') ? 'tools' : ''}`;
  const hasJSONMode = dialect.allowsJSONMode(schema);
  return {
    kind,
    order: hasJSONMode ? ['json_schema', 'json_object', 'prompt'] : ['json_schema', 'prompt'],
    inMode(own, mode) {
      // A fallback may have replaced the schema.
      const current = mode === 'json_schema' ? undefined : dialect.findSchema(own);
      if (current === undefined) return own;
      return dialect.withInstruction(own, outputInstruction(current), mode === 'json_object');
    },
  };
}

/** Rejects parameters of a run that request several choices. */
export function checkSingle(field: string, count: number | null | undefined): void {
  check((count ?? 1) === 1, field, 'must be 1: a run follows one conversation.');
}

/** Returns tools by name. Two with the same name are rejected, because the model's calls could mean either. */
export function toolsByName(
  field: string,
  tools: readonly CallableTool[],
): Map<string, CallableTool> {
  const names = tools.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const problem = `has the same name as another tool, "${name}"; names must be unique (mcpTools() takes a prefix).`;
    check(names.indexOf(name) === index, `${field}[${index}]`, problem);
  }
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** The longest key that leaves room for the suffix of a turn; a header may have 255 characters. */
const longestKey = 240;

/** The requests of a run of tools. The model that answers the first one answers all. */
export class Turns<Options extends RequestOptions> {
  readonly #transport: Transport;
  readonly #options: Options;
  #count = 0;
  /** How the first request was changed, if a fallback served it. */
  #change = unchanged;

  /** @param transport - A snapshot, so that all requests go to one gateway with one key. */
  constructor(transport: Transport, options: Options) {
    this.#transport = transport;
    this.#options = options;
  }

  /** The parameters of the model that responded, if that was a fallback. */
  get params(): Readonly<JsonObject> {
    return this.#change.params;
  }

  /**
   * Returns the options of the next request. Only the first may use another model, and each has its own
   * idempotency key: a gateway that honours keys answers another body under the same key with the first response.
   */
  next(): Options {
    this.#count += 1;
    const options = this.#options;
    if (this.#count === 1) return options;
    const { callId, idempotencyKey = callId } = options;
    const { idempotency = this.#transport.client.call.idempotency } = options;
    const stays = withoutChanged({ ...options, fallback: null }, this.#change);
    if (idempotencyKey === undefined || !idempotency) return stays;
    const key = idempotencyKey.replaceAll(/[^!-~]/g, '_').slice(0, longestKey);
    return { ...stays, idempotencyKey: `${key}-turn-${this.#count}` };
  }

  /** Remembers how the request that was answered differs from the caller's. */
  follow(change: Change): void {
    if (this.#count === 1) this.#change = change;
  }
}
