import { InvalidInputError } from '../errors/gateway-error.ts';
import type { EmbeddingCreateParams, EmbeddingsCreateManyParams } from './types.ts';
import { check, checkInteger, checkModel, checkParams, shown } from '../check.ts';

/** The body of a request for embeddings, checked. */
export function embeddingBody<Params extends EmbeddingCreateParams>(
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
export function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}

/** A list of inputs that are each a text or a list of tokens. */
export function manyInputs(
  input: EmbeddingsCreateManyParams['input'],
): readonly (string | readonly number[])[] {
  const isList = Array.isArray(input) && typeof input[0] !== 'number';
  check(isList, 'input', 'must be a list of texts, or of texts in tokens.');
  const empty = input.findIndex((item) => item === '');
  // It would fail its request in the middle of others that are paid for.
  check(empty === -1, `input[${empty}]`, 'is empty; leave it out, as it fails the whole request.');
  return input;
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
