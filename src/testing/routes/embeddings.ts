import { hash, randomFrom } from '../media/hash.ts';
import { base64 } from '../media/bytes.ts';
import {
  charge,
  costField,
  checkVendor,
  readFields,
  invalid,
  checkModelName,
  type Call,
} from '../server/call.ts';
import type { Fields } from '../server/fields.ts';
import { checkWords } from './prompts.ts';
import { refusal } from '../server/errors.ts';
import { findVendor } from '../control/models.ts';
import { countTokens, gatewayUsage } from './usage.ts';

const common = new Set(
  'a an and are as at be by for from has i in is it of on or that the this to was were will with you'.split(
    ' ',
  ),
);

/** Returns the features of a text with their weights: words, stems and letter groups. */
function extractFeatures(text: string): Map<string, number> {
  const features = new Map<string, number>();
  const add = (feature: string, weight: number): void => {
    features.set(feature, (features.get(feature) ?? 0) + weight);
  };
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const weight = common.has(word) ? 0.1 : 1;
    add(`word ${word}`, weight);
    add(`stem ${word.slice(0, 5)}`, weight);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at += 1) {
      add(`letters ${padded.slice(at, at + 3)}`, 0.3 * weight);
    }
  }
  return features;
}

/**
 * Creates an embedding: a vector of length 1 that is always the same for the same text.
 *
 * Texts that share words, or words with the same beginnings, have a high cosine similarity; texts with nothing
 * in common have a similarity near 0.
 */
function embed(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const features = extractFeatures(text);
  if (features.size === 0) features.set(`text ${text}`, 1);
  for (const [feature, weight] of features) {
    const random = randomFrom(hash(feature));
    // Spread each feature over several signed positions, so that two features rarely collide.
    for (let place = 0; place < 8; place += 1) {
      const index = Math.floor(random() * dimensions);
      vector[index] = (vector[index] ?? 0) + (random() < 0.5 ? -weight : weight);
    }
  }
  const length = Math.hypot(...vector);
  return length === 0
    ? vector.fill(1 / Math.sqrt(dimensions))
    : vector.map((value) => value / length);
}

type Input = string | readonly number[];

const defaultDimensions = 256;
const maxDimensions = 4096;

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item));
}

/** Converts the input to a list: one text, several texts, one list of tokens, or several. */
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
  const isConverted = findVendor(call.world.models, model) === 'google';
  const isHonoured = quirks.embeddingEncoding === 'honoured' && !isConverted;
  const isBase64 = fields.string('encoding_format') === 'base64' && isHonoured;
  const isSkipping = quirks.embeddingTokens === 'skipped';
  const embedded = inputs.filter((input) => typeof input === 'string' || !isSkipping);
  const data = embedded.map((input, index) => {
    const vector = embed(typeof input === 'string' ? input : input.join(' '), dimensions);
    const sent = isBase64 ? encoded(vector) : [...vector];
    const isBroken = quirks.embeddingBroken && index === 0;
    return { object: 'embedding', index, embedding: isBroken ? [...vector].fill(NaN) : sent };
  });
  const counts = inputs.map((input) =>
    typeof input === 'string' ? countTokens(input) : input.length,
  );
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  charge(call, model, tokens, { tokens: [tokens, 0] });
  const ordered = quirks.embeddingOrder === 'reversed' ? data.toReversed() : data;
  return Response.json({
    object: 'list',
    data: call.fault?.type === 'empty' ? [] : ordered,
    model,
    usage: {
      ...(isConverted
        ? gatewayUsage({ prompt: tokens, completion: 0, reasoning: 0 }, 'google')
        : { prompt_tokens: tokens, total_tokens: tokens }),
      ...costField(tokens, quirks),
    },
  });
}

/** `POST /v1/embeddings`. */
export function createEmbeddings(call: Call): Response {
  const fields = readFields(call);
  return embedAll(call, fields, checkModelName(call, fields.string('model')));
}

/** `POST /v1/engines/{model}/embeddings`. The model in the body takes precedence. */
function createEngineEmbeddings(call: Call): Response {
  const fields = readFields(call);
  const model = checkModelName(call, fields.string('model') ?? call.parameters['model']);
  if (call.world.quirks.enginePath === 'contents-required') {
    throw refusal(
      call.world.quirks.invalidRequestStatus,
      'invalid_request',
      'contents is required',
    );
  }
  return embedAll(call, fields, model);
}

/** Returns the text of a document: a string, or an object with a text. */
function readDocument(call: Call, document: unknown, index: number): string {
  const text: unknown =
    typeof document === 'object' && document !== null && 'text' in document
      ? document.text
      : document;
  if (typeof text === 'string') return text;
  throw invalid(call, `documents[${index}] must be a text`);
}

/** `POST /v1/rerank`, in the format of Jina. Documents that share words with the query rank first. */
function rerank(call: Call): Response {
  const fields = readFields(call);
  const model = checkModelName(call, fields.string('model'));
  const query = fields.string('query') ?? '';
  const documents: unknown = fields.raw('documents');
  if (query === '') throw invalid(call, 'query is empty');
  if (!Array.isArray(documents) || documents.length === 0)
    throw invalid(call, 'documents is empty');
  const texts = documents.map((document: unknown, index) => readDocument(call, document, index));
  const topN = fields.integer('top_n') ?? texts.length;
  if (topN < 1) throw invalid(call, 'top_n must be at least 1');
  checkWords(query);
  const wanted = embed(query, defaultDimensions);
  const scores = texts.map((text, index) => {
    const vector = embed(text, defaultDimensions);
    const score = vector.reduce((sum, value, at) => sum + value * (wanted[at] ?? 0), 0);
    return { index, relevance_score: Math.min(1, Math.max(0, score)) };
  });
  const tokens = [query, ...texts].reduce((sum, text) => sum + countTokens(text), 0);
  charge(call, model, tokens, { tokens: [tokens, 0] });
  const results = scores
    .toSorted((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, topN)
    .map((result) => ({ ...result, document: { text: texts[result.index] } }));
  return Response.json({
    model,
    object: 'list',
    results: call.fault?.type === 'empty' ? [] : results,
    usage: { total_tokens: tokens, prompt_tokens: tokens, ...costField(tokens, call.world.quirks) },
  });
}

export const embeddingHandlers = {
  'embeddings.create': createEmbeddings,
  'embeddings.createForEngine': createEngineEmbeddings,
  'rerank.create': rerank,
};
