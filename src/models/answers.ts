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

/** A way to call a model. Gateways have more words than these. */
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

/** A model that the key may use. */
export interface Model {
  /** What to give as `model`. */
  id: string;
  object: 'model';
  /** When the model was made, in Unix seconds. Many gateways give one constant for all; 0 when unknown. */
  created: number;
  /** Who offers the model; empty when the gateway does not say. */
  owned_by: string;
  /** How the model can be called. Empty when the gateway does not say, so it proves nothing then. */
  supported_endpoint_types: ModelEndpointType[];
  /** What the model makes, where the gateway says it. */
  type?: OpenString<'text' | 'image' | 'video' | 'audio'> | null | undefined;
}

/** The answer of `models.list()` as data. */
export interface ModelList extends WithRequestId {
  object: 'list';
  /** The models that the group of the key may use. */
  data: Model[];
}

/**
 * The models that the key can use.
 *
 * The gateway has no pages: this is always the whole list. The methods of a page are there for code
 * that was written for one. Fields that the gateway adds to the list are on the page too.
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
      // What the gateway sends may not replace a method, nor the prototype.
      if (!(key in this)) Reflect.set(this, key, value);
    }
  }

  /** The models, the same as `data`. */
  getPaginatedItems(): Model[] {
    return this.data;
  }

  /** Always `false`. */
  hasNextPage(): boolean {
    return false;
  }

  /** Always rejects, because there is no next page. Ask `hasNextPage()` first. */
  getNextPage(): Promise<this> {
    return Promise.reject(
      new InvalidInputError('getNextPage', 'there is no next page; ask hasNextPage() first.'),
    );
  }

  /** The pages of the list: this one. */
  async *iterPages(): AsyncGenerator<this, void, undefined> {
    yield this;
  }

  /** The models, one after the other. */
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
  // Lists in Gemini's form call the id `name` and put a path in front of it.
  value['id'] ||=
    typeof name === 'string' ? name.replace(/^(publishers\/[^/]+\/)?models\//, '') : '';
  value['object'] = 'model';
  if (typeof created !== 'number') {
    // Lists in Anthropic's form give an ISO 8601 date.
    const seconds = typeof date === 'string' ? Math.floor(Date.parse(date) / 1_000) : 0;
    value['created'] = Number(created ?? Number.NaN) || seconds || 0;
  }
  fill(value, { owned_by: '', supported_endpoint_types: [] });
}

/** One model by itself. */
const modelSchema: ResponseSchema<Model & WithRequestId> = {
  fields: modelFields,
  answer: { name: 'model', isIn: ({ id, name }) => holdsSomething(id ?? name) },
  normalize: normalizeModel,
};

/** How one model is read. */
const modelAnswer = jsonAnswer({ schema: modelSchema });

/** Whether the list is in `models`, as Gemini sends it; `data` may be there too, but empty. */
function isGeminiList({ data, models }: JsonObject): boolean {
  return Array.isArray(models) && !holdsSomething(data);
}

function holdsModels(list: unknown): boolean {
  return objectsOf(list).some(({ id, name }) => holdsSomething(id ?? name));
}

/** A key may have no models. Some gateways write an empty list as `null`, and say that it is a list. */
function areModels(value: JsonObject): boolean {
  const { object, data, models } = value;
  const list = isGeminiList(value) ? models : (data ?? (object === 'list' ? [] : undefined));
  return isEmptyAnswer(list, value) || holdsModels(list);
}

/** Parses a list of models. A bare array of them, as Together sends it, becomes `data`. */
function parseList(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) && holdsModels(value) ? { object: 'list', data: value } : value;
}

/** A list of models in the form of OpenAI, Gemini, Anthropic or Together. */
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

/** How a list of models is read. */
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

/** A gateway also answers 200 for a model that it does not know. */
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
