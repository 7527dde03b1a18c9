import { isEmptyResult } from '../../answers/failure.ts';
import { fill, hasValue, normalizeItems, listObjects, toFields } from '../../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../../answers/reader.ts';
import { checkModel } from '../../options/check.ts';
import { NotFoundError } from '../../errors/api-errors.ts';
import { type DescribedFailure, explained } from '../../errors/operation-errors.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import { attachRequestId } from '../../http/responses/response-body.ts';
import { jsonFormat } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import { ListPage } from './list-page.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { JsonObject, OpenString, WithRequestId } from '../../types.ts';

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

/** Prices of a model in US dollars for a token, an image, a request or a search, as text. Gateways may add others. */
export interface ModelPricing {
  prompt?: string | undefined;
  completion?: string | undefined;
  request?: string | undefined;
  image?: string | undefined;
  audio?: string | undefined;
  web_search?: string | undefined;
  internal_reasoning?: string | undefined;
  input_cache_read?: string | undefined;
  input_cache_write?: string | undefined;
}

/** The kinds of input and output of a model. */
export interface ModelArchitecture {
  input_modalities?: OpenString<'text' | 'image' | 'audio' | 'video' | 'file'>[] | undefined;
  output_modalities?: OpenString<'text' | 'image' | 'audio' | 'video' | 'embeddings'>[] | undefined;
  /** For example `"text+image->text"`. */
  modality?: string | null | undefined;
  tokenizer?: string | undefined;
  instruct_type?: string | null | undefined;
}

/** A model available to the key. */
export interface Model {
  /** Value for the parameter `model`. */
  id: string;
  object: 'model';
  /** Creation time in Unix seconds. Many gateways use one constant for all models; 0 if unknown. */
  created: number;
  /** The date when the model will shut down, or `null` if none is announced. */
  shutdown_date?: string | null | undefined;
  /** Owner of the model; empty if the gateway does not report it. */
  owned_by: string;
  /** Supported APIs. Empty if the gateway does not report them, so an empty list proves nothing. */
  supported_endpoint_types: ModelEndpointType[];
  /** Output type of the model, where the gateway reports it. */
  type?: OpenString<'text' | 'image' | 'video' | 'audio'> | null | undefined;
  /** The most tokens of input and output together, at OpenRouter and others. */
  context_length?: number | null | undefined;
  /** Prices at OpenRouter. Other gateways may use the name for other contents. */
  pricing?: ModelPricing | null | undefined;
  architecture?: ModelArchitecture | null | undefined;
  /** Names of the parameters that the model supports, for example `"tools"`. */
  supported_parameters?: readonly string[] | null | undefined;
}

/** The response of `models.list()` as plain data. */
interface ModelList extends WithRequestId {
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
export class ModelsPage extends ListPage<Model> {
  declare readonly _request_id?: string | null;
}

const modelFields: FieldsOf<Model> = {
  id: 'string',
  object: 'any',
  created: numeric,
  owned_by: 'string',
  supported_endpoint_types: ['string'],
  type: 'string',
  context_length: 'any',
  pricing: 'any',
  architecture: 'any',
  supported_parameters: 'any',
  shutdown_date: 'any',
};

function normalizeModel(value: JsonObject): void {
  const { id, name: sent, created, created_at: date } = value;
  const name = typeof sent === 'string' ? sent : '';
  // The id of Workers AI is not the name with which a model is called.
  if (name.startsWith('@cf/')) value['id'] = name;
  // Lists in Gemini's format have the id in `name`, with a path prefix.
  else if (!id) value['id'] = name.replace(/^(publishers\/[^/]+\/)?models\//, '');
  value['object'] = 'model';
  if (typeof created !== 'number') {
    // Lists in Anthropic's format have an ISO 8601 date.
    const seconds = typeof date === 'string' ? Math.floor(Date.parse(date) / 1_000) : 0;
    value['created'] = Number(created ?? Number.NaN) || seconds || 0;
  }
  fill(value, { owned_by: '', supported_endpoint_types: [] });
}

const modelSchema: ResponseSchema<Model & WithRequestId> = {
  fields: modelFields,
  result: { name: 'model', isIn: ({ id, name }) => hasValue(id ?? name) },
  normalize: normalizeModel,
};

const modelFormat = jsonFormat({ schema: modelSchema });

function holdsModels(list: unknown): boolean {
  return listObjects(list).some(({ id, name }) => hasValue(id ?? name));
}

/** Fields in which Workers AI and Databricks list their models. */
const otherLists = ['result', 'endpoints'];

/** Moves the models to `data`: Together sends only the list, Gemini sends it in `models`, also if it is empty. */
function locateModels(value: unknown): unknown {
  if (Array.isArray(value)) return holdsModels(value) ? { object: 'list', data: value } : value;
  const body = toFields(value);
  if (hasValue(body['data'])) return value;
  const isOther = (field: string): boolean => holdsModels(body[field]);
  const name = Array.isArray(body['models']) ? 'models' : otherLists.find(isOther);
  if (name === undefined) return value;
  const { [name]: data, ...rest } = body;
  return { ...rest, data };
}

/** Accepts empty lists, because a key may have no models. Some gateways send `null` for an empty list. */
function areModels(value: JsonObject): boolean {
  const data = value['data'] ?? (value['object'] === 'list' ? [] : undefined);
  return isEmptyResult(data, value) || holdsModels(data);
}

/** Schema of a list of models in OpenAI's, Gemini's, Anthropic's or Together's format. */
const modelListSchema: ResponseSchema<ModelList> = {
  fields: { object: 'any', data: [modelFields] } satisfies FieldsOf<ModelList>,
  result: { name: 'model', isIn: areModels },
  locate: locateModels,
  normalize(value) {
    value['object'] = 'list';
    normalizeItems(value, 'data', normalizeModel);
  },
};

const modelsFormat = jsonFormat({ schema: modelListSchema }, (list, { requestId }) => {
  const page = new ModelsPage(list);
  attachRequestId(page, requestId);
  return page;
});

const listParts = { kind: 'json', write: () => ({}), format: () => modelsFormat } as const;

export function listModels(
  transport: Transport,
  options: RequestOptions | undefined,
): GatewayPromise<ModelsPage> {
  return transport.operate('models.list', {}, listParts, options);
}

/** Matches errors of gateways that don't serve the route. They say nothing about the model. */
const noRoute =
  /^(404 )?((page|route|path|url|endpoint|resource|file) )?not found\. The request|cannot get \/|invalid url|no (such )?route|not found \(get/i;

/** Gateways may respond with status 200 for an unknown model. */
const explainModel = (failure: DescribedFailure): Error | undefined =>
  explained(
    failure,
    noRoute,
    'The gateway has no route for a single model, which proves nothing about the model: look for it in models.list().',
  ) ??
  explained(
    failure,
    /not exist|not found/i,
    'models.list() returns the models that your key can use.',
    NotFoundError,
  );

const retrieveParts = {
  kind: 'json',
  write({ model }: { readonly model: string }) {
    checkModel(model);
    return { params: { model }, explain: explainModel };
  },
  format: () => modelFormat,
} as const;

export function retrieveModel(
  transport: Transport,
  id: string,
  options: RequestOptions | undefined,
): GatewayPromise<Model & WithRequestId> {
  return transport.operate('models.retrieve', { model: id }, retrieveParts, options);
}
