import { emptyResponse, generateContentSchema, isGeneration } from './schema.ts';
import type {
  FunctionCall,
  Part,
  Candidate,
  GenerateContentResponse,
  UsageMetadata,
  PartialArg,
} from './types.ts';
import type { StreamProgress, StreamProtocol } from '../streams/protocol.ts';
import {
  copyUnknownFields,
  growText,
  holdsSomething,
  isObject,
  objectsOf,
} from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import { readValue } from '../answers/reader.ts';

const responseFields = new Set(['candidates', 'usageMetadata']);
const candidateFields = new Set(['content', 'index', 'citationMetadata']);
const callFields = new Set(['args', 'partialArgs', 'willContinue']);
const nothing = new Set<string>();

/** A candidate that is being put together. */
interface OpenCandidate {
  readonly candidate: Candidate;
  /** Function calls of which more pieces follow. */
  readonly openCalls: FunctionCall[];
  /** The citations so far, each as its JSON text: some providers send them again with each piece. */
  readonly citations: Set<string>;
}

/** Puts the pieces of a streamed generation together. */
class GenerateAccumulator implements StreamProgress<GenerateContentResponse> {
  readonly #candidates = new Map<number, OpenCandidate>();
  readonly #keeps: boolean;
  #whole: GenerateContentResponse | undefined;

  /** @param keeps - Whether the parts of the answer are kept. */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  get started(): boolean {
    return this.#candidates.size > 0 || this.#isBlocked;
  }

  get partial(): GenerateContentResponse | undefined {
    return this.#keeps ? this.#whole : undefined;
  }

  get usage(): UsageMetadata | undefined {
    return this.#whole?.usageMetadata;
  }

  get #isBlocked(): boolean {
    return Boolean(this.#whole?.promptFeedback?.blockReason);
  }

  /** This kind of stream has no terminator, so the finish reasons are the only proof. */
  isFinished(): boolean {
    if (this.#candidates.size === 0) return this.#isBlocked;
    for (const { candidate } of this.#candidates.values()) {
      if (!candidate.finishReason) return false;
    }
    return true;
  }

  add(piece: GenerateContentResponse): void {
    const whole = (this.#whole ??= emptyResponse());
    copyUnknownFields(piece, whole, responseFields);
    if (piece.usageMetadata) {
      // Some pieces carry only part of it, so the fields are kept one by one.
      whole.usageMetadata ??= {};
      copyUnknownFields(piece.usageMetadata, whole.usageMetadata, nothing);
    }
    piece.candidates?.forEach((candidate, position) => {
      this.#addCandidate(whole, candidate, candidate.index ?? position);
    });
  }

  #addCandidate(whole: GenerateContentResponse, piece: Candidate, index: number): void {
    const open = this.#candidates.get(index) ?? this.#begin(whole, index);
    const { candidate, openCalls } = open;
    // Server-side tools and code execution finish a candidate that then goes on.
    if (hasContent(piece)) delete candidate.finishReason;
    copyUnknownFields(piece, candidate, candidateFields);
    if (this.#keeps) addCitations(open, piece);
    if (!piece.content) return;
    const { role, parts = [] } = piece.content;
    const content = (candidate.content ??= { parts: [] });
    if (role) content.role ??= role;
    const sum = (content.parts ??= []);
    if (this.#keeps) for (const part of parts) addPart(sum, openCalls, part);
  }

  #begin(whole: GenerateContentResponse, index: number): OpenCandidate {
    const open: OpenCandidate = { candidate: { index }, openCalls: [], citations: new Set() };
    const list = (whole.candidates ??= []);
    list.push(open.candidate);
    list.sort((one, other) => (one.index ?? 0) - (other.index ?? 0));
    this.#candidates.set(index, open);
    return open;
  }
}

/** Whether a piece adds anything to its candidate. Empty text comes with and after a finish reason. */
function hasContent({ content }: Candidate): boolean {
  return content?.parts?.some((part) => holdsSomething({ ...part, thought: undefined })) === true;
}

/** Adds the citations of a piece; each piece carries those of its own text. */
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
  copyUnknownFields(Object.fromEntries(added), sum, nothing, true);
  candidate.citationMetadata = sum;
}

function addPart(parts: Part[], openCalls: FunctionCall[], part: Part): void {
  if (part.functionCall) {
    addCall(parts, openCalls, part, part.functionCall);
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

/** Text that may be joined. A part with a signature must be sent back as it came. */
function isPlainText(part: Part): boolean {
  return part.text !== undefined && part.thoughtSignature === undefined && !part.inlineData;
}

/** Adds a function call, or the next piece of one that the model is still writing. */
function addCall(parts: Part[], openCalls: FunctionCall[], part: Part, piece: FunctionCall): void {
  const { id, name, args, partialArgs, willContinue } = piece;
  const continues = (call: FunctionCall): boolean =>
    id && call.id ? call.id === id : !name || call.name === name;
  let call = openCalls.findLast(continues);
  if (call === undefined) {
    // A piece without a name closes a call; when none is open it says nothing.
    if (!name && !id && args === undefined && partialArgs === undefined) return;
    call = {};
    parts.push({ ...part, functionCall: call });
    openCalls.push(call);
  }
  copyUnknownFields(piece, call, callFields);
  if (args !== undefined) call.args = { ...call.args, ...args };
  for (const arg of partialArgs ?? []) addPartialArg((call.args ??= {}), arg);
  if (willContinue !== true) openCalls.splice(openCalls.indexOf(call), 1);
}

const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g;

/** The steps of a JSON path such as `$.stops[0].name`; numbers are list positions. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(step)].map(([, plain, position, single, double]) =>
    position === undefined ? (plain ?? single ?? double ?? '') : Number(position),
  );
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

/** Adds one streamed piece to the arguments of a function call; pieces of the same text are joined. */
function addPartialArg(args: JsonObject, piece: PartialArg): void {
  const { jsonPath = '', stringValue, numberValue, boolValue } = piece;
  const value = stringValue ?? numberValue ?? boolValue ?? null;
  const steps = stepsOf(jsonPath);
  let owner: JsonObject | unknown[] = args;
  for (const [position, key] of steps.entries()) {
    const before: unknown = Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined;
    const next = steps[position + 1];
    if (next === undefined) {
      const isText = typeof before === 'string' && typeof value === 'string';
      setOwn(owner, key, isText ? growText(before, value) : value);
    } else if (isObject(before) || Array.isArray(before)) {
      owner = before;
    } else {
      const inner = typeof next === 'number' ? [] : {};
      setOwn(owner, key, inner);
      owner = inner;
    }
  }
}

/** Whether a candidate has no finish reason, so that more of it may have been cut off. */
function isUnfinished({ finishReason, finish_reason: reason = finishReason }: JsonObject): boolean {
  return !holdsSomething(reason);
}

/** How streamed content generation is read: it ends with its connection and has no terminator. */
export const generateProtocol: StreamProtocol<GenerateContentResponse> = {
  read: (value, check) => readValue(value, generateContentSchema, check),
  follow: (keeps) => new GenerateAccumulator(keeps),
  fromAnswer: (answer) => (isObject(answer) && isGeneration(answer) ? [answer] : []),
  // The first line of a stream in NDJSON looks like a whole answer.
  isPiece: (answer) => isObject(answer) && objectsOf(answer['candidates']).some(isUnfinished),
};
