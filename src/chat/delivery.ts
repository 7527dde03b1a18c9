import type { Delivery } from '../streams/protocol.ts';
import type { ChatCompletionChunk } from './types.ts';

type Field = readonly [name: string, value: unknown];

/** Fields that describe the chunk itself, so that no other chunk takes them over. */
const ownFields = new Set(['id', 'object', 'created', 'model', 'choices', '__proto__']);

/** The fields of a chunk that another chunk can carry. */
function carriedFields(chunk: ChatCompletionChunk): Field[] {
  return Object.entries<unknown>({ ...chunk }).filter(
    ([name, value]) => value !== undefined && value !== null && !ownFields.has(name),
  );
}

/** What a chunk has in a field; `undefined` for nothing. */
function valueIn(chunk: ChatCompletionChunk, name: string): unknown {
  const value: unknown = Object.hasOwn(chunk, name) ? Reflect.get(chunk, name) : undefined;
  return value === null || value === '' ? undefined : value;
}

/** Whether adding a field would replace another value. Padding, which OpenAI adds to each chunk, may be. */
function clashes(chunk: ChatCompletionChunk, [name, value]: Field): boolean {
  const before = valueIn(chunk, name);
  return before !== undefined && before !== value && value !== '' && name !== 'obfuscation';
}

function addFields(chunk: ChatCompletionChunk, fields: readonly Field[]): void {
  for (const [name, value] of fields) {
    if (value !== '' || valueIn(chunk, name) === undefined) Reflect.set(chunk, name, value);
  }
}

/**
 * Hands out the chunks of a chat stream so that each has a choice, because loops read
 * `chunk.choices[0].delta`.
 *
 * Gateways send usage, filter results and moderation in chunks without choices. Their fields move to the
 * chunk with the finish reason, which is held until another chunk with choices comes or the stream ends,
 * or else to the next chunk with choices. If that chunk has another value in such a field, or no chunk
 * follows, a chunk with an empty delta carries them.
 *
 * @param keepsUsage - Whether usage was requested: a chunk with usage and no choices stays as it is.
 */
export function deliverWithChoices(
  emit: (chunk: ChatCompletionChunk) => void,
  keepsUsage: boolean,
): Delivery<ChatCompletionChunk> {
  /** The last chunk with choices, if it has a finish reason. */
  let finish: ChatCompletionChunk | undefined;
  /** A chunk without choices, with the fields of those after it; never set while `finish` is. */
  let carried: ChatCompletionChunk | undefined;
  /** The choice that the last chunk with choices belongs to. */
  let index = 0;

  function emitEmpty(chunk: ChatCompletionChunk): void {
    emit({ ...chunk, choices: [{ index, delta: {}, finish_reason: null }] });
  }

  function flush(): void {
    const [held, rest] = [finish, carried];
    finish = undefined;
    carried = undefined;
    if (held !== undefined) emit(held);
    if (rest !== undefined) emitEmpty(rest);
  }

  function addToFinish(chunk: ChatCompletionChunk, fields: readonly Field[]): void {
    const replaced = fields.filter((field) => clashes(chunk, field));
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
    const fields = carriedFields(chunk);
    if (fields.every(([, value]) => value === '')) return;
    if (finish !== undefined) {
      addToFinish(finish, fields);
      return;
    }
    const target = carried;
    if (target !== undefined && !fields.some((field) => clashes(target, field))) {
      addFields(target, fields);
      return;
    }
    flush();
    carried = chunk;
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
      const fields = carried === undefined ? [] : carriedFields(carried);
      if (!fields.some((field) => clashes(chunk, field))) {
        carried = undefined;
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
