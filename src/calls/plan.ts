import { isObject } from '../answers/objects.ts';
import type { Operation, ResponseKind } from '../endpoints.ts';
import { type CallSpec, type Change, type OperationRequest, unchanged } from '../http/request.ts';
import { toInputError } from '../options/check.ts';
import type { OutputMode } from '../options/options.ts';
import type { JsonObject } from '../types.ts';
import type { AnswerFormat } from './request.ts';

/** The modes in which an operation can request JSON. */
export interface OutputModes {
  /** Describes requests that a provider may treat alike, for example those with tools. */
  readonly kind: string;
  /** The modes to try, in this order. */
  readonly order: readonly OutputMode[];
}

/** How an operation can request JSON. */
export interface OutputRules<Params> extends OutputModes {
  /** Returns the parameters as the mode sends them. */
  inMode(params: Params, mode: OutputMode): Params;
}

/** How a resource writes the requests of an operation and reads their responses. */
export interface OperationParts<
  Name extends Operation,
  Params,
  T,
  Kind extends ResponseKind = ResponseKind,
> {
  /**
   * Checks parameters and writes their request. Must not have side effects: the request may never be sent.
   *
   * @param params - The parameters of the request: those of the caller, with `change.params`, in the mode
   * `change.output`.
   */
  write(params: Params, change: Change): OperationRequest<Name>;
  readonly kind: Kind;
  /** Returns the format of the response to a request with these parameters, which are checked. */
  format(params: Params, change: Change): AnswerFormat<T, Kind>;
  /** Set if the request is for JSON. */
  readonly output?: OutputRules<Params> | undefined;
  /** Parameters of the request that only add to its response, so that it can be sent again without one. */
  readonly optional?: readonly string[] | undefined;
}

/** A written request. */
export interface WrittenPlan<T> {
  readonly spec: CallSpec;
  readonly format: AnswerFormat<T>;
}

/** @throws `InvalidInputError` naming the field whose getter throws */
function copyFields(name: string, value: unknown): JsonObject {
  try {
    return isObject(value) ? { ...value } : {};
  } catch (cause) {
    throw toInputError(cause, value, `${name}.`);
  }
}

function collectParams({ params, form, json, options }: CallSpec): Readonly<JsonObject> {
  const body = copyFields('body', json);
  const { extraBody } = options ?? {};
  // Most requests have only a body; one copy of it is cheaper than a union.
  if (!params && !form && !extraBody) return body;
  const fields = form?.fields && Object.fromEntries(form.fields);
  return { ...params, ...fields, ...body, ...copyFields('extraBody', extraBody) };
}

/** Details of a plan that its copies keep. */
interface PlanInit {
  /** `true` if the parameters cannot change: the call is by path. */
  readonly isFixed?: boolean;
  readonly output?: OutputModes | undefined;
  readonly optional?: readonly string[] | undefined;
  readonly change?: Change;
  readonly holds?: readonly (() => boolean)[];
}

/** What one request of a call will send and how its response is read. Immutable; policies make changed copies. */
export class Plan<T> {
  readonly #write: (change: Change) => WrittenPlan<T>;
  readonly #init: PlanInit;
  #written: WrittenPlan<T> | undefined;
  #params: Readonly<JsonObject> | undefined;

  constructor(
    write: (change: Change) => WrittenPlan<T>,
    init: PlanInit = {},
    written?: WrittenPlan<T>,
  ) {
    this.#write = write;
    this.#init = init;
    this.#written = written;
  }

  /** How the request differs from the caller's. */
  get change(): Change {
    return this.#init.change ?? unchanged;
  }

  get isFixed(): boolean {
    return this.#init.isFixed === true;
  }

  /** How the request can ask for JSON; `undefined` if it doesn't. */
  get output(): OutputModes | undefined {
    return this.#init.output;
  }

  /** Parameters that the request can be sent without. */
  get optional(): readonly string[] {
    return this.#init.optional ?? [];
  }

  /**
   * Writes the request, once.
   *
   * @throws `InvalidInputError` if the parameters are invalid
   */
  write(): WrittenPlan<T> {
    return (this.#written ??= this.#write(this.change));
  }

  get spec(): CallSpec {
    return this.write().spec;
  }

  get format(): AnswerFormat<T> {
    return this.write().format;
  }

  /** The parameters of path and body, by name. */
  get params(): Readonly<JsonObject> {
    return (this.#params ??= collectParams(this.spec));
  }

  /** Returns the plan of a request that differs from the caller's by these fields of `Change`. */
  with(change: Partial<Change>): Plan<T> {
    return new Plan(this.#write, { ...this.#init, change: { ...this.change, ...change } });
  }

  /** Returns a plan whose stream is held back until its first content while `holds` returns `true`. */
  holding(holds: () => boolean): Plan<T> {
    const all = [...(this.#init.holds ?? []), holds];
    return new Plan(this.#write, { ...this.#init, holds: all }, this.#written);
  }

  /** Returns whether another request may follow an error that precedes the content of the stream. */
  holdsStream(): boolean {
    return this.#init.holds?.some((holds) => holds()) ?? false;
  }
}
