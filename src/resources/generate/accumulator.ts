import { generateContentSchema, isGeneration } from './schema.ts';
import type {
  FunctionCall,
  Part,
  Candidate,
  GenerateContentResponse,
  UsageMetadata,
  PartialArg,
} from './types.ts';
import type { StreamProgress, StreamProtocol } from '../../streams/protocol.ts';
import { hasValue, isMissingWord, isObject, listObjects, toFields } from '../../answers/objects.ts';
import { copyUnknownFields, growText } from '../../answers/pieces.ts';
import { mergeUsage } from '../../answers/usage.ts';
import type { JsonObject } from '../../types.ts';
import { normalizeValue, readValue } from '../../answers/reader.ts';
import { isHollowCall, isNamelessCall, namelessCall } from '../../structured/calls.ts';

const responseFields = new Set(['candidates', 'usageMetadata']);
const candidateFields = new Set(['content', 'index', 'citationMetadata']);
const callFields = new Set(['args', 'partialArgs', 'willContinue']);

/** A candidate that is being assembled. */
interface OpenCandidate {
  readonly candidate: Candidate;
  /** Function calls with more pieces to follow. */
  readonly openCalls: FunctionCall[];
  /** The citations so far as JSON text, because some providers repeat them with each piece. */
  readonly citations: Set<string>;
  /** `true` once a function call without a name has arguments. */
  isNameless?: boolean;
}

/** Assembles a response from the pieces of its stream. */
class GenerateAccumulator implements StreamProgress<GenerateContentResponse> {
  readonly #candidates = new Map<number, OpenCandidate>();
  readonly #keepsParts: boolean;
  #response: GenerateContentResponse | undefined;

  /** @param keepsParts - `false` drops the parts after they were streamed. */
  constructor(keepsParts: boolean) {
    this.#keepsParts = keepsParts;
  }

  get started(): boolean {
    return this.#candidates.size > 0 || this.#isBlocked;
  }

  get partial(): GenerateContentResponse | undefined {
    return this.#keepsParts ? this.#response : undefined;
  }

  get usage(): UsageMetadata | undefined {
    return this.#response?.usageMetadata;
  }

  get #isBlocked(): boolean {
    return Boolean(this.#response?.promptFeedback?.blockReason);
  }

  /** Finish reasons are the only proof, because these streams have no terminator. */
  isFinished(): boolean {
    if (this.failure !== undefined) return false;
    if (this.#candidates.size === 0) return this.#isBlocked;
    return [...this.#candidates.values()].every(({ candidate }) => candidate.finishReason);
  }

  get failure(): string | undefined {
    const isNameless = [...this.#candidates.values()].some((open) => open.isNameless);
    return isNameless ? namelessCall : undefined;
  }

  add(piece: GenerateContentResponse): void {
    const response = (this.#response ??= normalizeValue({}, generateContentSchema));
    copyUnknownFields(piece, response, responseFields);
    if (piece.usageMetadata) {
      // Some pieces contain only a part, so fields are merged.
      response.usageMetadata = mergeUsage(response.usageMetadata, piece.usageMetadata);
    }
    piece.candidates?.forEach((candidate, position) => {
      this.#addCandidate(response, candidate, candidate.index ?? position);
    });
  }

  #addCandidate(response: GenerateContentResponse, piece: Candidate, index: number): void {
    const open = this.#candidates.get(index) ?? this.#begin(response, index);
    const { candidate } = open;
    // Server-side tools and code execution finish a candidate that then continues.
    if (hasContent(piece)) delete candidate.finishReason;
    copyUnknownFields(piece, candidate, candidateFields);
    if (this.#keepsParts) addCitations(open, piece);
    if (!piece.content) return;
    const { role, parts = [] } = piece.content;
    const content = (candidate.content ??= { parts: [] });
    if (role) content.role ??= role;
    const kept = (content.parts ??= []);
    const sum = this.#keepsParts ? kept : [];
    for (const part of parts) addPart(sum, open, part);
  }

  #begin(response: GenerateContentResponse, index: number): OpenCandidate {
    const open: OpenCandidate = { candidate: { index }, openCalls: [], citations: new Set() };
    const list = (response.candidates ??= []);
    list.push(open.candidate);
    list.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
    this.#candidates.set(index, open);
    return open;
  }
}

/** Returns whether a piece has content. Empty text is sent with and after a finish reason. */
function hasContent({ content }: Candidate): boolean {
  return content?.parts?.some((part) => hasValue({ ...part, thought: undefined })) === true;
}

/** Adds the citations of a piece, except repeated ones. */
function addCitations({ candidate, citations }: OpenCandidate, piece: Candidate): void {
  const { citationMetadata: metadata } = piece;
  if (!isObject(metadata)) return;
  const sum = isObject(candidate.citationMetadata) ? candidate.citationMetadata : {};
  const isNew = (citation: unknown): boolean => {
    const text = JSON.stringify(citation);
    return !citations.has(text) && Boolean(citations.add(text));
  };
  const added = Object.entries(metadata).map(([name, value]): [string, unknown] => [
    name,
    Array.isArray(value) ? value.filter(isNew) : value,
  ]);
  copyUnknownFields(Object.fromEntries(added), sum, undefined, true);
  candidate.citationMetadata = sum;
}

function addPart(parts: Part[], open: OpenCandidate, part: Part): void {
  if (part.functionCall) {
    addCall(parts, open, part, part.functionCall);
    return;
  }
  const last = parts.at(-1);
  const isText = isPlainText(part);
  if (isText && last !== undefined && isPlainText(last) && last.thought === part.thought) {
    last.text = growText(last.text, part.text ?? '');
  } else if (!isText || part.text !== '') {
    parts.push({ ...part });
  }
}

/** Returns whether a part is text that may be merged. A part with a signature must be sent back unchanged. */
function isPlainText(part: Part): boolean {
  return part.text !== undefined && part.thoughtSignature === undefined && !part.inlineData;
}

/** Adds a function call, or the next piece of an open one. */
function addCall(parts: Part[], open: OpenCandidate, part: Part, piece: FunctionCall): void {
  const { openCalls } = open;
  const { id, name, args, partialArgs, willContinue } = piece;
  const isSameCall = (call: FunctionCall): boolean =>
    id && call.id ? call.id === id : !name || call.name === name;
  let call = openCalls.findLast(isSameCall);
  if (call === undefined) {
    // A piece without a name ends a call; if none is open, it is ignored.
    const isEmpty = isHollowCall(name, args) && !partialArgs?.length;
    if (isEmpty && willContinue !== true) return;
    call = {};
    parts.push({ ...part, functionCall: call });
    openCalls.push(call);
  }
  copyUnknownFields(piece, call, callFields);
  if (args !== undefined) call.args = { ...call.args, ...args };
  for (const arg of partialArgs ?? []) addPartialArg((call.args ??= {}), arg);
  if (willContinue === true) return;
  openCalls.splice(openCalls.indexOf(call), 1);
  open.isNameless ||= isNamelessCall(call.name, call.args);
}

const pathStep = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g;

/** Parses a JSON path such as `$.stops[0].name` to its steps; numbers are list positions. */
function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(pathStep)].map(([, plain, position, single, double]) =>
    position === undefined ? (plain ?? single ?? double ?? '') : Number(position),
  );
}

/** Sets a value in a list or an object, without calling setters of prototypes or leaving gaps in lists. */
function setOwn(owner: JsonObject | unknown[], key: string | number, value: unknown): void {
  if (!Array.isArray(owner)) {
    const property = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(owner, key, property);
  } else if (typeof key === 'number') {
    owner[Math.min(key, owner.length)] = value;
  }
}

/** Adds a streamed piece to the arguments of a function call; pieces of the same text are concatenated. */
function addPartialArg(args: JsonObject, piece: PartialArg): void {
  const { jsonPath = '', stringValue, numberValue, boolValue } = piece;
  const value = stringValue ?? numberValue ?? boolValue ?? null;
  const steps = parsePath(jsonPath);
  let owner: JsonObject | unknown[] = args;
  for (const [position, key] of steps.entries()) {
    const existing: unknown = Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined;
    const next = steps[position + 1];
    if (next === undefined) {
      const isText = typeof existing === 'string' && typeof value === 'string';
      setOwn(owner, key, isText ? growText(existing, value) : value);
    } else if (isObject(existing) || Array.isArray(existing)) {
      owner = existing;
    } else {
      const inner = typeof next === 'number' ? [] : {};
      setOwn(owner, key, inner);
      owner = inner;
    }
  }
}

/** Returns whether a candidate has no finish reason, so that it may have been cut, or a call without a name. */
function isUnfinished(candidate: JsonObject): boolean {
  const { finishReason, finish_reason: reason = finishReason, content } = candidate;
  if (!hasValue(reason) || isMissingWord(reason)) return true;
  return listObjects(toFields(content)['parts']).some((part) => {
    const { functionCall, function_call: call = functionCall } = part;
    return isObject(call) && isNamelessCall(call['name'], call['args']);
  });
}

/** Protocol of streamed content generation, which ends with its connection and has no terminator. */
export const generateProtocol: StreamProtocol<GenerateContentResponse> = {
  read: (value, check) => readValue(value, generateContentSchema, check),
  follow: (keepsParts) => new GenerateAccumulator(keepsParts),
  isTornContent: (data) => /"(?:content|parts)"/.test(data),
  hasContent: ({ candidates = [] }) => candidates.some(hasContent),
  fromResponse: (value) => (isObject(value) && isGeneration(value) ? [value] : []),
  // The first line of an NDJSON stream looks like a complete response.
  isPiece: (value) => isObject(value) && listObjects(value['candidates']).some(isUnfinished),
};
