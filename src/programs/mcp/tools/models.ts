import { closeTo } from '../../../answers/similar-names.ts';
import type { Gateway } from '../../../index.ts';
import { ToolError } from './errors.ts';

/** Time that a list of models is used, in milliseconds. */
const freshFor = 300_000;

/** A model in the gateway's list. */
export interface ListedModel {
  readonly id: string;
  readonly owner: string | undefined;
}

/** Returns whether a list contains a model: by its name, by a pattern such as `openai/*`, or without its variant. */
function lists(names: readonly string[], model: string): boolean {
  const [base] = model.split(':');
  return names.some(
    (name) =>
      name === model ||
      name === base ||
      (name.endsWith('*') && model.startsWith(name.slice(0, -1))),
  );
}

/** The models of a gateway. */
export class ModelList {
  readonly #client: Gateway;
  #read: { readonly at: number; readonly models: Promise<readonly ListedModel[]> } | undefined;

  constructor(client: Gateway) {
    this.#client = client;
  }

  /** Returns the models that the key can use. Free. */
  get(): Promise<readonly ListedModel[]> {
    if (this.#read === undefined || Date.now() - this.#read.at > freshFor) {
      const models = this.#fetch();
      this.#read = { at: Date.now(), models };
      models.catch(() => {
        this.#read = undefined;
      });
    }
    return this.#read.models;
  }

  async #fetch(): Promise<readonly ListedModel[]> {
    const models: ListedModel[] = [];
    for await (const { id, owned_by: owner } of this.#client.models.list()) {
      models.push({ id, owner });
    }
    return models;
  }

  /**
   * Rejects a name that is probably misspelled. A name that is similar to none is sent: gateways also serve models
   * that they do not list, and reject unknown ones without a charge.
   *
   * @throws `ToolError` if the gateway lists similar names, and not this one
   */
  async check(model: string): Promise<void> {
    const names = await this.get().then(
      (models) => models.map(({ id }) => id),
      // A gateway without a list rejects unknown models itself, without a charge.
      () => [],
    );
    if (names.length === 0 || lists(names, model)) return;
    const close = closeTo(model, names);
    if (close.length === 0) return;
    const advice = `Did you mean ${close.join(' or ')}? list_models lists all.`;
    throw new ToolError(`The gateway has no model ${model}. ${advice} Nothing was sent.`);
  }
}
