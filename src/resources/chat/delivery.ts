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
  /** A chunk with a finish reason, or one without choices, merged with the fields of later ones. */
  let held: ChatCompletionChunk | undefined;
  /** The choice that the last chunk with choices belongs to. */
  let index = 0;

  function emitEmpty(chunk: ChatCompletionChunk): void {
    emit({ ...chunk, choices: [{ index, delta: {}, finish_reason: null }] });
  }

  function flush(): void {
    const chunk = held;
    held = undefined;
    if (chunk === undefined) return;
    if (chunk.choices.length === 0) emitEmpty(chunk);
    else emit(chunk);
  }

  function addChoiceless(chunk: ChatCompletionChunk): void {
    const fields = movableFields(chunk);
    if (fields.every(([, value]) => value === '')) return;
    const target = held;
    const replaced = fields.filter((field) => target !== undefined && conflicts(target, field));
    if (target === undefined || (replaced.length > 0 && target.choices.length === 0)) {
      flush();
      held = chunk;
      return;
    }
    if (replaced.length > 0) {
      const { id, object, created, model } = target;
      const earlier = { id, object, created, model, choices: [] };
      addFields(
        earlier,
        replaced.map(([name]) => [name, Reflect.get(target, name)]),
      );
      emitEmpty(earlier);
    }
    addFields(target, fields);
  }

  return {
    add(chunk) {
      const [first] = chunk.choices;
      if (first === undefined) {
        const isRequestedUsage = keepsUsage && Boolean(chunk.usage);
        if (!isRequestedUsage) addChoiceless(chunk);
        else {
          flush();
          emit(chunk);
        }
        return isRequestedUsage;
      }
      if (held?.choices.length === 0) {
        const fields = movableFields(held);
        if (!fields.some((field) => conflicts(chunk, field))) {
          held = undefined;
          addFields(chunk, fields);
        }
      }
      flush();
      ({ index } = first);
      const isFinish = chunk.choices.some(
        ({ finish_reason: reason, delta }) => reason || delta.audio?.expires_at,
      );
      if (isFinish) held = chunk;
      else emit(chunk);
      return true;
    },
    flush,
  };
}
