import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { PartialArg } from './types.ts';
import { growText } from '../streams/protocol.ts';

const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g;

/** The steps of a JSON path such as `$.stops[0].name`; numbers are list positions. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(step)].map(([, plain, position, single, double]) =>
    position === undefined ? (plain ?? single ?? double ?? '') : Number(position),
  );
}

function valueOf(piece: PartialArg): unknown {
  if (typeof piece.stringValue === 'string') return piece.stringValue;
  return piece.numberValue ?? piece.boolValue ?? null;
}

/** Puts a value into a list or an object, where it is not inherited and leaves no gaps. */
function setOwn(owner: JsonObject | unknown[], key: string | number, value: unknown): void {
  if (!Array.isArray(owner)) {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(owner, key, property);
  } else if (typeof key === 'number') {
    owner[Math.min(key, owner.length)] = value;
  }
}

function getOwn(owner: JsonObject | unknown[], key: string | number): unknown {
  return Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined;
}

/** Adds one streamed piece to the arguments of a function call; pieces of the same text are joined. */
export function addPartialArg(args: JsonObject, piece: PartialArg): void {
  const steps = stepsOf(piece.jsonPath ?? '');
  const last = steps.pop();
  if (last === undefined) return;
  let owner: JsonObject | unknown[] = args;
  for (const [position, key] of steps.entries()) {
    let inner = getOwn(owner, key);
    if (!isObject(inner) && !Array.isArray(inner)) {
      inner = typeof (steps[position + 1] ?? last) === 'number' ? [] : {};
      setOwn(owner, key, inner);
    }
    if (!isObject(inner) && !Array.isArray(inner)) return;
    owner = inner;
  }
  const before = getOwn(owner, last);
  const value = valueOf(piece);
  const isText = typeof before === 'string' && typeof value === 'string';
  setOwn(owner, last, isText ? growText(before, value) : value);
}
