import { InvalidInputError } from '../../index.ts';
import { isJSONObject } from './options.ts';

/** Names that engines for durable steps look up in the class of a value, such as `@workflow/core`. */
const WORKFLOW_SERIALIZE = Symbol.for('workflow-serialize');
const WORKFLOW_DESERIALIZE = Symbol.for('workflow-deserialize');

/** The data of a model that an engine stores: enough to create it again in another process, without a key. */
export interface StoredModel {
  readonly kind: 'language' | 'embedding' | 'image' | 'video';
  readonly modelId: string;
  /** Options of the client. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Settings of the model. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** What a model is created from. */
export interface ModelOrigin extends Pick<StoredModel, 'kind' | 'modelId'> {
  readonly options: object;
  readonly settings: object;
}

/** Options whose values may contain secrets. */
const secret = /^(default)?(headers|query|queryParams)$|^fetchOptions$/i;

/** Returns whether a value is the same after it was stored as JSON. */
function isJSON(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJSON);
  if (isJSONObject(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === Object.prototype && Object.values(value).every(isJSON);
  }
  return value === null || /^(string|number|boolean|undefined)$/.test(typeof value);
}

function toStored(values: object): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    // Each process has a key of its own. `null` says that the gateway needs none.
    if (value === undefined || (name === 'apiKey' && value !== null)) continue;
    if (secret.test(name) || !isJSON(value)) {
      const fix = 'create the model inside of the step instead.';
      throw new InvalidInputError(name, `cannot be stored for a durable step; ${fix}`);
    }
    stored[name] = value;
  }
  return stored;
}

let create: (stored: StoredModel) => object;

/** Sets the function that creates a model from what was stored. */
export function setRestore(restore: typeof create): void {
  create = restore;
}

/** The class of the models that can be passed to a durable step, and be returned by one. */
class GatewayModel {
  readonly #origin: ModelOrigin;

  /** @internal */
  constructor(origin: ModelOrigin) {
    this.#origin = origin;
  }

  /** @throws `InvalidInputError` naming a setting that cannot be stored */
  static [WORKFLOW_SERIALIZE](model: GatewayModel): StoredModel {
    const { kind, modelId, options, settings } = model.#origin;
    return { kind, modelId, options: toStored(options), settings: toStored(settings) };
  }

  /** Creates the model again, whose client reads the key from the environment of its process. */
  static [WORKFLOW_DESERIALIZE](stored: StoredModel): object {
    return create(stored);
  }
}

/** Returns a model that can be stored. */
export function storable<Model extends object>(model: Model, origin: ModelOrigin): Model {
  return Object.assign(new GatewayModel(origin), model);
}
