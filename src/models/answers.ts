import { isEmptyAnswer } from '../answers/error-body.ts';
import { fill, holdsSomething, normalizeItems, objectsOf } from '../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../answers/reader.ts';
import { checkModel } from '../check.ts';
import { NotFoundError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { explained } from '../errors/operation-errors.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { attachRequestId } from '../http/response-body.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { JsonObject, OpenString, WithRequestId } from '../types.ts';

/** An API that a model can be called with. Gateways may use other values. */
export type ModelEndpointType = OpenString<
  | 'openai'
  | 'openai-response'
  | 'openai-response-compact'
  | 'anthropic'
  | 'gemini'
  | 'jina-rerank'
  | 'image-generation'
  | 'embeddings'
  | 'openai-video'
  | 'video'
  | 'video-to-music'
>;

/** A model available to the key. */
export interface Model {
  /** Value for the parameter `model`. */
  id: string;
  object: 'model';
  /** Creation time in Unix seconds. Many gateways use one constant for all models; 0 if unknown. */
  created: number;
  /** Owner of the model; empty if the gateway does not report it. */
  owned_by: string;
  /** Supported APIs. Empty if the gateway does not report them, so an empty list proves nothing. */
  supported_endpoint_types: ModelEndpointType[];
  /** Output type of the model, where the gateway reports it. */
  type?: OpenString<'text' | 'image' | 'video' | 'audio'> | null | undefined;
}

/** The response of `models.list()` as plain data. */
export interface ModelList extends WithRequestId {
  object: 'list';
  /** Models available to the key's group. */
  data: Model[];
}

/**
 * The models available to the key.
 *
 * The gateway does not paginate: this is always the complete list. The pagination methods exist for
 * compatibility. Extra fields that the gateway adds to the list are set on the page too.
 */
export class ModelsPage implements AsyncIterable<Model> {
  /** Always `"list"`. */
  readonly object = 'list';
  /** The models. */
  readonly data: Model[];
  declare readonly _request_id?: string | null;

  /** @internal */
  constructor(list: ModelList) {
    this.data = list.data;
    for (const [key, value] of Object.entries(list)) {
      // Fields of the gateway must not replace methods or the prototype.
      if (!(key in this)) Reflect.set(this, key, value);
    }
  }

  /** Returns the models, same as `data`. */
  getPaginatedItems(): Model[] {
    return this.data;
  }

  /** Always returns `false`. */
  hasNextPage(): boolean {
    return false;
  }

  /** Always rejects, because there is no next page. Check `hasNextPage()` first. */
  getNextPage(): Promise<this> {
    return Promise.reject(
      new InvalidInputError('getNextPage', 'there is no next page; ask hasNextPage() first.'),
    );
  }

  /** Iterates over the pages: this one only. */
  async *iterPages(): AsyncGenerator<this, void, undefined> {
    yield this;
  }

  /** Iterates over the models. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Model, void, undefined> {
    yield* this.data;
  }
}

const modelFields: FieldsOf<Model> = {
  id: 'string',
  object: 'any',
  created: numeric,
  owned_by: 'string',
  supported_endpoint_types: ['string'],
  type: 'string',
};

function normalizeModel(value: JsonObject): void {
  const { name, created, created_at: date } = value;
  // Lists in Gemini's format have the id in `name`, with a path prefix.
  value['id'] ||=
    typeof name === 'string' ? name.replace(/^(publishers\/[^/]+\/)?models\//, '') : '';
  value['object'] = 'model';
  if (typeof created !== 'number') {
    // Lists in Anthropic's format have an ISO 8601 date.
    const seconds = typeof date === 'string' ? Math.floor(Date.parse(date) / 1_000) : 0;
    value['created'] = Number(created ?? Number.NaN) || seconds || 0;
  }
  fill(value, { owned_by: '', supported_endpoint_types: [] });
}

/** Schema of a single model. */
const modelSchema: ResponseSchema<Model & WithRequestId> = {
  fields: modelFields,
  answer: { name: 'model', isIn: ({ id, name }) => holdsSomething(id ?? name) },
  normalize: normalizeModel,
};

const modelAnswer = jsonAnswer({ schema: modelSchema });

/** Returns whether the list is in `models`, as Gemini sends it, with `data` missing or empty. */
function isGeminiList({ data, models }: JsonObject): boolean {
  return Array.isArray(models) && !holdsSomething(data);
}

function holdsModels(list: unknown): boolean {
  return objectsOf(list).some(({ id, name }) => holdsSomething(id ?? name));
}

/** Accepts empty lists, because a key may have no models. Some gateways send `null` for an empty list. */
function areModels(value: JsonObject): boolean {
  const { object, data, models } = value;
  const list = isGeminiList(value) ? models : (data ?? (object === 'list' ? [] : undefined));
  return isEmptyAnswer(list, value) || holdsModels(list);
}

/** Parses a list of models. Wraps a bare array, as Together sends it, in `data`. */
function parseList(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) && holdsModels(value) ? { object: 'list', data: value } : value;
}

/** Schema of a list of models in OpenAI's, Gemini's, Anthropic's or Together's format. */
const modelListSchema: ResponseSchema<ModelList> = {
  fields: { object: 'any', data: [modelFields] } satisfies FieldsOf<ModelList>,
  answer: { name: 'model', isIn: areModels },
  parse: parseList,
  normalize(value) {
    value['object'] = 'list';
    if (isGeminiList(value)) {
      value['data'] = value['models'];
      // Otherwise a printed page would show every model twice.
      delete value['models'];
    }
    normalizeItems(value, 'data', normalizeModel);
  },
};

const modelsAnswer = jsonAnswer({ schema: modelListSchema }, (list, { requestId }) => {
  const page = new ModelsPage(list);
  attachRequestId(page, requestId);
  return page;
});

export function listModels(
  transport: Transport,
  options: RequestOptions | undefined,
): GatewayPromise<ModelsPage> {
  return transport.call('models.list', {}, modelsAnswer, options);
}

/** Gateways may respond with status 200 for an unknown model. */
const explainModel = (error: Error): Error | undefined =>
  explained(
    error,
    /not exist|not found/i,
    'models.list() tells which models your key can use.',
    NotFoundError,
  );

export function retrieveModel(
  transport: Transport,
  id: string,
  options: RequestOptions | undefined,
): GatewayPromise<Model & WithRequestId> {
  const request = () => {
    checkModel(id);
    return { params: { model: id }, explain: explainModel };
  };
  return transport.call('models.retrieve', request, modelAnswer, options);
}
