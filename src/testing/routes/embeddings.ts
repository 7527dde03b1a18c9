import { base64 } from '../media/bytes.ts';
import { charge, checkVendor, fieldsOf, invalid, modelOf, type Call } from '../server/call.ts';
import type { Fields } from './fields.ts';
import { checkWords } from './markers.ts';
import { refusal } from './errors.ts';
import { vendorOf } from './models.ts';
import { countTokens } from './tokens.ts';
import { gatewayUsage } from './usage.ts';
import { embed } from './vectors.ts';

type Input = string | readonly number[];

const defaultDimensions = 256;
const maxDimensions = 4096;

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item));
}

/** The input as a list: one text, several texts, one list of tokens, or several. */
function readInput(call: Call, value: unknown): Input[] {
  if (typeof value === 'string') return [value];
  if (isTokens(value)) return [value];
  if (!Array.isArray(value)) throw invalid(call, 'input is empty');
  return value.map((item: unknown, index) => {
    if (typeof item === 'string' || isTokens(item)) return item;
    throw invalid(call, `invalid type for field "input[${index}]": expected string`);
  });
}

function encoded(vector: Float32Array): string {
  const view = new DataView(new ArrayBuffer(4 * vector.length));
  for (const [index, value] of vector.entries()) view.setFloat32(4 * index, value, true);
  return base64(new Uint8Array(view.buffer));
}

function embedAll(call: Call, fields: Fields, model: string): Response {
  const { quirks } = call.world;
  checkVendor(call, model, 'anthropic');
  const inputs = readInput(call, fields.raw('input'));
  const dimensions = fields.integer('dimensions') ?? defaultDimensions;
  if (dimensions < 1 || dimensions > maxDimensions) {
    throw invalid(call, `dimensions must be from 1 to ${maxDimensions}`);
  }
  for (const input of inputs) if (typeof input === 'string') checkWords(input);
  const isConverted = vendorOf(call.world.models, model) === 'google';
  const isHonoured = quirks.embeddingEncoding === 'honoured' && !isConverted;
  const isBase64 = fields.string('encoding_format') === 'base64' && isHonoured;
  const isSkipping = quirks.embeddingTokens === 'skipped';
  const embedded = inputs.filter((input) => typeof input === 'string' || !isSkipping);
  const data = embedded.map((input, index) => {
    const vector = embed(typeof input === 'string' ? input : input.join(' '), dimensions);
    return { object: 'embedding', index, embedding: isBase64 ? encoded(vector) : [...vector] };
  });
  const counts = inputs.map((input) =>
    typeof input === 'string' ? countTokens(input) : input.length,
  );
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  charge(call, model, tokens);
  const ordered = quirks.embeddingOrder === 'reversed' ? data.toReversed() : data;
  return Response.json({
    object: 'list',
    data: call.fault?.type === 'empty' ? [] : ordered,
    model,
    usage: isConverted
      ? gatewayUsage({ prompt: tokens, completion: 0, reasoning: 0 }, 'google')
      : { prompt_tokens: tokens, total_tokens: tokens },
  });
}

/** `POST /v1/embeddings`. */
export function createEmbeddings(call: Call): Response {
  const fields = fieldsOf(call);
  return embedAll(call, fields, modelOf(call, fields.string('model')));
}

/** `POST /v1/engines/{model}/embeddings`. The model of the body is used when there is one. */
export function createEngineEmbeddings(call: Call): Response {
  const fields = fieldsOf(call);
  const model = modelOf(call, fields.string('model') ?? call.parameters['model']);
  if (call.world.quirks.enginePath === 'contents-required') {
    throw refusal(
      call.world.quirks.invalidRequestStatus,
      'invalid_request',
      'contents is required',
    );
  }
  return embedAll(call, fields, model);
}
