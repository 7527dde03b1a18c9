import { InvalidInputError } from '../errors/gateway-error.ts';
import type { EmbeddingCreateParams, EmbeddingsCreateManyParams } from './types.ts';
import { checkCount, checkModel, checkParams, show } from '../structured/checks.ts';

/** The body of a request for embeddings, checked. */
export function embeddingBody<Params extends EmbeddingCreateParams>(
  method: string,
  params: Params,
): Params {
  checkParams(method, params);
  checkModel(params.model);
  checkCount('dimensions', params.dimensions);
  checkInput(params.input);
  return params;
}

/** How many vectors an input asks for: a list of numbers is one text in tokens. */
export function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}

const leaveOut = 'is empty; leave it out, as it fails the whole request.';

/** A list of inputs that are each a text or a list of tokens. */
export function manyInputs(
  input: EmbeddingsCreateManyParams['input'],
): readonly (string | readonly number[])[] {
  if (Array.isArray(input) && typeof input[0] !== 'number') {
    const empty = input.findIndex((item) => item === '');
    // It would fail its request in the middle of others that are paid for.
    if (empty !== -1) throw new InvalidInputError(`input[${empty}]`, leaveOut);
    return input;
  }
  throw new InvalidInputError('input', 'must be a list of texts, or of texts in tokens.');
}

function checkInput(input: unknown): void {
  if (typeof input === 'string') return;
  if (!Array.isArray(input)) {
    throw new InvalidInputError('input', `must be a text or a list of texts, not ${show(input)}.`);
  }
  if (input.length === 0) throw new InvalidInputError('input', 'is empty; give at least one text.');
  const list: readonly unknown[] = input;
  const first = kindOf(list[0]);
  for (const [position, item] of list.entries()) checkItem(`input[${position}]`, item, first);
}

function checkItem(field: string, item: unknown, first: string | undefined): void {
  if (Array.isArray(item) && item.length === 0) throw new InvalidInputError(field, leaveOut);
  const kind = kindOf(item);
  if (kind === undefined) {
    throw new InvalidInputError(
      field,
      'must be a text, a token (an integer of at least 0) or a list of tokens.',
    );
  }
  if (kind !== first) {
    throw new InvalidInputError(
      field,
      `is ${kind}, but input[0] is ${first}; send each kind in a request of its own, because some providers skip what they do not expect.`,
    );
  }
}

function kindOf(item: unknown): string | undefined {
  if (typeof item === 'string') return 'a text';
  if (isToken(item)) return 'a token';
  return Array.isArray(item) && item.every(isToken) ? 'a list of tokens' : undefined;
}

function isToken(item: unknown): boolean {
  return Number.isInteger(item) && Number(item) >= 0;
}
