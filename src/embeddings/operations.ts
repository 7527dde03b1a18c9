import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { check, checkInteger, checkModel, checkParams, shown } from '../check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { explained } from '../errors/operation-errors.ts';
import { embedMany, type EmbeddingsCreateManyOptions } from './create-many.ts';
import { embeddingsSchema } from './schema.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  EmbeddingCreateParams,
  EmbeddingsCreateManyParams,
  ManyEmbeddings,
} from './types.ts';

type AnyResponse = CreateEmbeddingResponse | Base64EmbeddingResponse;

export function embed(
  transport: Transport,
  params: EmbeddingCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<AnyResponse> {
  const request = () => ({ json: embeddingBody('embeddings.create', params) });
  return transport.call('embeddings.create', request, answerTo(params, options), options);
}

export function createForEngine(
  transport: Transport,
  params: EmbeddingCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<AnyResponse> {
  const request = () => {
    const json = embeddingBody('embeddings.createForEngine', params);
    return { params: { model: json.model }, json, explain: explainEngine };
  };
  return transport.call('embeddings.createForEngine', request, answerTo(params, options), options);
}

export function createMany(
  transport: Transport,
  params: EmbeddingsCreateManyParams,
  options: EmbeddingsCreateManyOptions | undefined,
): Promise<ManyEmbeddings> {
  // All inputs are looked at before the first is paid for.
  return embedMany(transport, embeddingBody('embeddings.createMany', params), options);
}

/** The engine-style route takes the bodies of another operation on some gateways. */
const explainEngine = (error: Error): Error | undefined =>
  explained(
    error,
    /contents is required/i,
    'This gateway does not serve the engine-style route with an embeddings body; use embeddings.create() instead.',
  );

/** What was asked for decides what the caller gets; what came decides how it is read. */
function answerTo(params: EmbeddingCreateParams, options: RequestOptions | undefined) {
  const { input, dimensions, encoding_format } = { ...params, ...options?.extraBody };
  const form = { inputs: countInputs(input), dimensions, format: encoding_format ?? 'float' };
  return jsonAnswer({ schema: embeddingsSchema(form) });
}

/** The body of a request for embeddings, checked. */
function embeddingBody<Params extends EmbeddingCreateParams>(
  method: string,
  params: Params,
): Params {
  checkParams(method, params);
  checkModel(params.model);
  checkInteger('dimensions', params.dimensions ?? 1, 1);
  checkInput(params.input);
  return params;
}

/** How many vectors an input asks for: a list of numbers is one text in tokens. */
function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}

function checkInput(input: unknown): void {
  if (typeof input === 'string') return;
  const list: readonly unknown[] | undefined = Array.isArray(input) ? input : undefined;
  check(list !== undefined, 'input', `must be a text or a list of texts, not ${shown(input)}.`);
  check(list.length > 0, 'input', 'is empty; give at least one text.');
  const first = kindOf(list[0]);
  const at = first === undefined ? 0 : list.findIndex((item) => kindOf(item) !== first);
  if (at === -1) return;
  const kind = kindOf(list[at]);
  throw new InvalidInputError(
    `input[${at}]`,
    kind === undefined
      ? 'must be a text, a token (an integer of at least 0) or a list of tokens that is not empty.'
      : `is ${kind}, but input[0] is ${first}; send each kind in a request of its own, because some providers skip what they do not expect.`,
  );
}

function kindOf(item: unknown): string | undefined {
  if (typeof item === 'string') return 'a text';
  if (isToken(item)) return 'a token';
  const isList = Array.isArray(item) && item.length > 0 && item.every(isToken);
  return isList ? 'a list of tokens' : undefined;
}

function isToken(item: unknown): boolean {
  return Number.isInteger(item) && Number(item) >= 0;
}
