import type { Delivery } from '../../streams/protocol.ts';
import type { ChatCompletionChunk } from './types.ts';

type Field = readonly [name: string, value: unknown];

/** Fields that describe the chunk itself and are never moved to another chunk. */
const ownFields = new Set(['id', 'object', 'created', 'model', 'choices', '__proto__']);

/** Returns the fields of a chunk that can be moved to another chunk. */
function movableFields(chunk: ChatCompletionChunk): Field[] {
  return Object.entries<unknown>({ ...chunk }).filter(
    ([name, value]) => value !== undefined && value !== null && !ownFields.has(name),
  );
}

/** Returns the value of a field; `undefined` if it is missing or empty. */
function getValue(chunk: ChatCompletionChunk, name: string): unknown {
  const value: unknown = Object.hasOwn(chunk, name) ? Reflect.get(chunk, name) : undefined;
  return value === null || value === '' ? undefined : value;
}

/**
 * Returns whether adding a field would replace another value. Padding, which OpenAI adds to each chunk, may
 * be replaced.
 */
function conflicts(chunk: ChatCompletionChunk, [name, value]: Field): boolean {
  const existing = getValue(chunk, name);
  return existing !== undefined && existing !== value && value !== '' && name !== 'obfuscation';
}

function addFields(chunk: ChatCompletionChunk, fields: readonly Field[]): void {
  for (const [name, value] of fields) {
    if (value !== '' || getValue(chunk, name) === undefined) Reflect.set(chunk, name, value);
  }
}

/**
 * Delivers the chunks of a chat stream so that each has a choice, because callers read
 * `chunk.choices[0].delta`.
 *
 * Gateways send usage, filter results and moderation in chunks without choices. Their fields move to the
 * chunk with the finish reason, which is held until another chunk with choices arrives or the stream ends, or
 * else to the next chunk with choices. If that chunk has another value in such a field, or no chunk follows,
 * a chunk with an empty delta contains them.
 *
 * @param keepsUsage - `true` if usage was requested: a chunk with usage and no choices is then unchanged.
 */
export function deliverWithChoices(
  emit: (chunk: ChatCompletionChunk) => void,
  keepsUsage: boolean,
): Delivery<ChatCompletionChunk> {
  /** The last chunk with choices, if it has a finish reason. */
  let finish: ChatCompletionChunk | undefined;
  /** A chunk without choices, merged with the fields of later ones; unset while `finish` is set. */
  let pending: ChatCompletionChunk | undefined;
  /** The choice that the last chunk with choices belongs to. */
  let index = 0;

  function emitEmpty(chunk: ChatCompletionChunk): void {
    emit({ ...chunk, choices: [{ index, delta: {}, finish_reason: null }] });
  }

  function flush(): void {
    const [held, remaining] = [finish, pending];
    finish = undefined;
    pending = undefined;
    if (held !== undefined) emit(held);
    if (remaining !== undefined) emitEmpty(remaining);
  }

  function addToFinish(chunk: ChatCompletionChunk, fields: readonly Field[]): void {
    const replaced = fields.filter((field) => conflicts(chunk, field));
    if (replaced.length > 0) {
      const { id, object, created, model } = chunk;
      const earlier = { id, object, created, model, choices: [] };
      addFields(
        earlier,
        replaced.map(([name]) => [name, Reflect.get(chunk, name)]),
      );
      emitEmpty(earlier);
    }
    addFields(chunk, fields);
  }

  function addChoiceless(chunk: ChatCompletionChunk): void {
    const fields = movableFields(chunk);
    if (fields.every(([, value]) => value === '')) return;
    if (finish !== undefined) {
      addToFinish(finish, fields);
      return;
    }
    const target = pending;
    if (target !== undefined && !fields.some((field) => conflicts(target, field))) {
      addFields(target, fields);
      return;
    }
    flush();
    pending = chunk;
  }

  return {
    add(chunk) {
      const [first] = chunk.choices;
      if (first === undefined) {
        const isRequestedUsage = keepsUsage && Boolean(chunk.usage);
        if (isRequestedUsage) {
          flush();
          emit(chunk);
        } else addChoiceless(chunk);
        return isRequestedUsage;
      }
      const fields = pending === undefined ? [] : movableFields(pending);
      if (!fields.some((field) => conflicts(chunk, field))) {
        pending = undefined;
        addFields(chunk, fields);
      }
      flush();
      ({ index } = first);
      const isFinish = chunk.choices.some(
        ({ finish_reason: reason, delta }) => reason || delta.audio?.expires_at,
      );
      if (isFinish) finish = chunk;
      else emit(chunk);
      return true;
    },
    flush,
  };
}
