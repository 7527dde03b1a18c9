import { hasValue, isObject, listObjects } from '../../answers/objects.ts';
import { copyUnknownFields, growText } from '../../answers/pieces.ts';
import { mergeUsage } from '../../answers/usage.ts';
import { normalizeValue } from '../../answers/reader.ts';
import type { StreamProgress } from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { namelessCall } from '../../structured/calls.ts';
import { hasOutput, isHollow, isNamelessItem } from './output.ts';
import { responseSchema, usageSchema } from './schema.ts';
import type { ModelResponse, ResponseStreamEvent, ResponseUsage } from './types.ts';

type PartList = 'content' | 'summary';

/** A text that events deliver in pieces: a field of an item, or of a part of the item. */
interface TextField {
  readonly item: string;
  readonly list?: PartList;
  readonly part?: string;
  readonly field: string;
}

/** Texts by the type of their events, without `.delta` and `.done`. */
const texts = {
  'response.output_text': { item: 'message', list: 'content', part: 'output_text', field: 'text' },
  'response.refusal': { item: 'message', list: 'content', part: 'refusal', field: 'refusal' },
  'response.reasoning_text': {
    item: 'reasoning',
    list: 'content',
    part: 'reasoning_text',
    field: 'text',
  },
  'response.reasoning_summary_text': {
    item: 'reasoning',
    list: 'summary',
    part: 'summary_text',
    field: 'text',
  },
  'response.function_call_arguments': { item: 'function_call', field: 'arguments' },
  'response.mcp_call_arguments': { item: 'mcp_call', field: 'arguments' },
  'response.custom_tool_call_input': { item: 'custom_tool_call', field: 'input' },
  'response.code_interpreter_call_code': { item: 'code_interpreter_call', field: 'code' },
} as const satisfies Record<string, TextField>;

/* @__NO_SIDE_EFFECTS__ */
function textsBy(ending: string): ReadonlyMap<unknown, TextField> {
  return new Map(Object.entries(texts).map(([type, text]) => [type + ending, text]));
}

const deltas = textsBy('.delta');
const wholeTexts = textsBy('.done');

/** Types of events that end a response. */
const ends: Readonly<Record<string, string>> = {
  'response.completed': 'completed',
  'response.done': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
  'response.error': 'failed',
  'response.cancelled': 'cancelled',
};

/** Statuses of a response that is complete, as far as the model went. */
const finalStatuses: readonly unknown[] = ['completed', 'incomplete'];

const isIndex = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

interface OpenPart {
  readonly part: JsonObject;
  readonly list: PartList;
  order: number;
  index: number | undefined;
}

/** An item that is being assembled. */
interface OpenItem {
  readonly item: JsonObject;
  /** The position among the items; several may have the same. */
  readonly order: number;
  index: number | undefined;
  /** The id in the item itself. Other events may name it by other ids. */
  id: string | undefined;
  /** `true` once a delta named the item by any id. */
  isNamed: boolean;
  /** `true` once the item itself was sent, rather than only its texts. */
  isAnnounced: boolean;
  isDone: boolean;
  /** By list, type and index, and the latest by list and type. */
  readonly parts: Map<string, OpenPart>;
  /** `false` if the parts are in another order than in their lists. */
  isSorted: boolean;
}

const byOrder = (one: { readonly order: number }, other: { readonly order: number }): number =>
  one.order - other.order;

const isText = (type: unknown): boolean => type === 'message' || type === 'reasoning';

/**
 * Assembles a response from its events. Tolerates missing, unknown, repeated and changing ids and indexes,
 * because gateways number the events of one item differently.
 */
export class ResponseAccumulator implements StreamProgress<ResponseStreamEvent> {
  readonly #keeps: boolean;
  readonly #response: JsonObject = {};
  #items: OpenItem[] = [];
  readonly #byId = new Map<string, OpenItem>();
  readonly #byIndex = new Map<number, OpenItem>();
  /** The latest item of each type. */
  readonly #latest = new Map<unknown, OpenItem>();
  /** Lists of annotations that are not part of an event. */
  readonly #ownLists = new WeakSet<unknown[]>();
  #isEnded = false;
  #hasOutput = false;
  #usage: JsonObject | undefined;
  /** The last delta and the owner of its text, because most deltas continue the one before. */
  #last: { readonly event: JsonObject; readonly owner: JsonObject } | undefined;
  started = false;

  /** @param keeps - `false` keeps only the end and the usage. */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  get usage(): ResponseUsage | undefined {
    return this.#usage === undefined ? undefined : normalizeValue(this.#usage, usageSchema);
  }

  /** Only the last event is proof: terminators are also written after time-outs. */
  isFinished(): boolean {
    return this.#isEnded && this.failure === undefined;
  }

  get failure(): string | undefined {
    if (!this.#isEnded) return undefined;
    // A relay whose vendor failed ends the response, without a list of items.
    const isComplete = this.#response['status'] === 'completed';
    if (isComplete && !this.#hasOutput) return 'ended without output';
    return this.#items.some(({ item }) => isNamelessItem(item)) ? namelessCall : undefined;
  }

  get partial(): ModelResponse | undefined {
    if (!this.#keeps || !this.started) return undefined;
    this.#items.sort(byOrder);
    const response = this.#response;
    const status = this.#isEnded ? response['status'] : 'in_progress';
    for (const open of this.#items) finishItem(open, status);
    response['output'] = this.#items.map(({ item }) => item);
    return normalizeValue(response, responseSchema);
  }

  add(event: ResponseStreamEvent): void {
    if (isObject(event)) this.#add(event);
  }

  #add(event: JsonObject): void {
    const { type, response, usage } = event;
    this.started ||= String(type).startsWith('response.');
    const delta = deltas.get(type);
    if (delta !== undefined) {
      this.#hasOutput = true;
      if (this.#keeps) this.#addDelta(event, delta);
      return;
    }
    this.#last = undefined;
    const end = typeof type === 'string' && Object.hasOwn(ends, type) ? ends[type] : undefined;
    this.#hasOutput ||= end === undefined && response === undefined;
    if (isObject(response)) this.#addResponse(response, end !== undefined);
    if (isObject(usage)) this.#usage = mergeUsage(this.#usage, usage);
    if (end !== undefined) this.#end(end, response);
    if (!this.#keeps) return;
    const { item, part, annotation } = event;
    if (isObject(item)) this.#addItem(event, item, type === 'response.output_item.done');
    else if (isObject(part)) this.#addPart(event, part);
    else if (isObject(annotation)) this.#addAnnotation(event, annotation);
    else this.#addWholeText(event);
  }

  #addResponse(response: JsonObject, isEnd: boolean): void {
    const { output, usage, ...fields } = response;
    const isOutput = isEnd && (Array.isArray(output) || hasValue(fields['output_text']));
    this.#hasOutput ||= isOutput;
    if (isObject(usage)) this.#usage = mergeUsage(this.#usage, usage);
    if (!this.#keeps) return;
    copyUnknownFields(fields, this.#response);
    if (isObject(usage)) this.#response['usage'] = this.#usage;
    const items = listObjects(output);
    // Gateways end some streams with an empty output, although its items were sent.
    const isEmpty = !hasOutput(items) && hasOutput(this.#items.map(({ item }) => item));
    if (!isEnd || items.length === 0 || isEmpty) return;
    const [sent, byId] = [this.#items, new Map(this.#byId)];
    this.#items = [];
    for (const map of [this.#byId, this.#byIndex, this.#latest]) map.clear();
    items.forEach((item, index) => this.#addItem({ output_index: index }, item, true));
    restoreContent(this.#items, sent, byId);
  }

  #end(status: string, response: unknown): void {
    const sent = isObject(response) ? response['status'] : undefined;
    const isFinal = isId(sent) && sent !== 'in_progress' && sent !== 'queued';
    const end = isFinal ? sent : status;
    this.#response['status'] = end;
    this.#isEnded = finalStatuses.includes(end) && finalStatuses.includes(status);
  }

  #addDelta(event: JsonObject, text: TextField): void {
    const { delta } = event;
    if (typeof delta !== 'string') return;
    const { field } = text;
    const last = this.#last;
    const isNext = last !== undefined && isSameText(last.event, event);
    const owner = isNext ? last.owner : this.#findText(event, text);
    this.#last = { event, owner };
    const existing = owner[field];
    owner[field] = typeof existing === 'string' ? growText(existing, delta) : delta;
  }

  #addWholeText(event: JsonObject): void {
    const text = wholeTexts.get(event['type']);
    if (text === undefined) return;
    const { [text.field]: whole, name } = event;
    if (typeof whole !== 'string' || whole === '') return;
    const owner = this.#findText(event, text);
    owner[text.field] = whole;
    if (text.list === undefined && isId(name)) owner['name'] ??= name;
  }

  /** Returns the item or the part that has the text of an event. */
  #findText(event: JsonObject, { item, list, part }: TextField): JsonObject {
    const open = this.#findItem(event, item);
    if (list === undefined || part === undefined) return open.item;
    return findPart(open, list, event[`${list}_index`], part);
  }

  #addPart(event: JsonObject, part: JsonObject): void {
    const { type } = part;
    const list = type === 'summary_text' ? 'summary' : 'content';
    const isReasoning = type === 'summary_text' || type === 'reasoning_text';
    const open = this.#findItem(event, isReasoning ? 'reasoning' : 'message');
    mergeFields(findPart(open, list, event[`${list}_index`], type), part);
  }

  #addAnnotation(event: JsonObject, annotation: JsonObject): void {
    const part = this.#findText(event, texts['response.output_text']);
    const { annotations } = part;
    const isOwn = Array.isArray(annotations) && this.#ownLists.has(annotations);
    const list: unknown[] = isOwn ? annotations : listObjects(annotations).slice();
    list.push(annotation);
    this.#ownLists.add(list);
    part['annotations'] = list;
  }

  /** Adds an item, or its next state. */
  #addItem(event: JsonObject, item: JsonObject, isDone: boolean): void {
    const { type, id, call_id: callId } = item;
    const { output_index: index } = event;
    const call = isId(callId) ? `call ${callId}` : undefined;
    const open =
      this.#findNamed(id, type) ??
      this.#findCall(call, item, isDone) ??
      this.#findState(index, type, id, isDone) ??
      this.#open(type, index);
    this.#name(open, id, index);
    if (call !== undefined) this.#byId.set(call, open);
    if (isId(id)) open.id ??= id;
    open.isAnnounced = true;
    open.isDone ||= isDone;
    const { content, summary, ...fields } = item;
    mergeFields(open.item, isText(type) ? fields : item);
    if (!isText(type)) return;
    addParts(open, 'content', content);
    addParts(open, 'summary', summary);
  }

  #findNamed(id: unknown, type: unknown): OpenItem | undefined {
    const open = isId(id) ? this.#byId.get(id) : undefined;
    return open?.item['type'] === type ? open : undefined;
  }

  /** Finds the earlier state of a call by its call id. Several calls may have the same. */
  #findCall(call: unknown, { type, id }: JsonObject, isDone: boolean): OpenItem | undefined {
    const open = this.#findNamed(call, type);
    const isOther = isId(id) && open?.id !== undefined && open.id !== id;
    return isOther && (open.isDone || !isDone) ? undefined : open;
  }

  /** Finds the earlier state of an item whose id is not known. */
  #findState(index: unknown, type: unknown, id: unknown, isDone: boolean): OpenItem | undefined {
    const there = isIndex(index) ? this.#byIndex.get(index) : undefined;
    if (there !== undefined && there.item['type'] === type) {
      const isOther = isId(id) && there.id !== undefined;
      // The last event of an item may have another id than the first one.
      return (isDone ? isOther && there.isDone : isOther || there.isDone) ? undefined : there;
    }
    const latest = this.#latest.get(type);
    if (latest === undefined || latest.isDone) return undefined;
    const isElsewhere = isIndex(index) && latest.index !== undefined;
    return isElsewhere || (!isDone && latest.isAnnounced) ? undefined : latest;
  }

  /** Finds the item that a delta, a part or a whole text belongs to. Opens one if there is none. */
  #findItem(event: JsonObject, type: string): OpenItem {
    const { item_id: id, output_index: index } = event;
    const open =
      this.#findNamed(id, type) ?? this.#findNear(id, index, type) ?? this.#open(type, index);
    this.#name(open, id, index);
    open.isNamed ||= isId(id);
    return open;
  }

  #findNear(id: unknown, index: unknown, type: string): OpenItem | undefined {
    const there = isIndex(index) ? this.#byIndex.get(index) : undefined;
    if (there !== undefined && there.item['type'] === type) {
      return there.isDone && isId(id) ? undefined : there;
    }
    const latest = this.#latest.get(type);
    if (latest === undefined || latest.isDone) return undefined;
    const isElsewhere = isIndex(index) && latest.index !== undefined && there === undefined;
    if (isElsewhere) return undefined;
    // Texts without an index are one item, but calls with other ids are other calls.
    return isText(type) || !isId(id) || !latest.isNamed ? latest : undefined;
  }

  #open(type: unknown, index: unknown): OpenItem {
    const order = isIndex(index) ? index : (this.#items.at(-1)?.order ?? 0);
    const open: OpenItem = {
      item: type === 'message' ? { type, role: 'assistant' } : { type },
      order,
      index: undefined,
      id: undefined,
      isNamed: false,
      isAnnounced: false,
      isDone: false,
      parts: new Map(),
      isSorted: true,
    };
    this.#items.push(open);
    this.#latest.set(type, open);
    return open;
  }

  #name(open: OpenItem, id: unknown, index: unknown): void {
    if (isId(id) && !this.#byId.has(id)) {
      this.#byId.set(id, open);
      // An item that has only texts is sent back with the id of their events.
      if (!open.isAnnounced) open.item['id'] ??= id;
    }
    if (!isIndex(index) || open.index === index) return;
    open.index ??= index;
    this.#byIndex.set(index, open);
  }
}

/** Fields of items that events deliver in pieces, and those that a call cannot be answered without. */
const contentFields = ['content', 'summary', 'arguments', 'input', 'code', 'name', 'call_id'];

/**
 * Restores the content of items from those that were sent before the last event, which may repeat them without it. Items
 * whose ids are not known are in the same order.
 */
function restoreContent(
  items: readonly OpenItem[],
  sent: readonly OpenItem[],
  byId: ReadonlyMap<string, OpenItem>,
): void {
  const byType = new Map<unknown, OpenItem[]>();
  for (const open of sent.toReversed()) {
    const { type } = open.item;
    byType.set(type, byType.get(type) ?? []);
    byType.get(type)?.push(open);
  }
  for (const { item } of items) {
    const { type, id } = item;
    const next = byType.get(type)?.pop();
    const same = isId(id) ? byId.get(id) : undefined;
    const earlier = same?.item['type'] === type ? same : next;
    for (const field of contentFields) {
      const content = earlier?.item[field];
      if (isHollow(item[field]) && !isHollow(content)) item[field] = content;
    }
  }
}

/** Returns whether a delta continues the text of the one before. */
function isSameText(one: JsonObject, other: JsonObject): boolean {
  return (
    one['type'] === other['type'] &&
    one['item_id'] === other['item_id'] &&
    one['output_index'] === other['output_index'] &&
    one['content_index'] === other['content_index'] &&
    one['summary_index'] === other['summary_index']
  );
}

/** Copies fields. An empty one does not replace one with content. */
function mergeFields(target: JsonObject, source: JsonObject): void {
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const value = source[key];
    if (hasValue(value) || !hasValue(target[key])) target[key] = value;
  }
}

/** Finds a part of an item by its list, index and type. Adds it if there is none. */
function findPart(open: OpenItem, list: PartList, index: unknown, type: unknown): JsonObject {
  const { item, parts } = open;
  const latestKey = `${list} ${type === 'text' ? 'output_text' : String(type)}`;
  const key = isIndex(index) ? `${latestKey} ${index}` : latestKey;
  const latest = parts.get(latestKey);
  const mayBeLatest = latest !== undefined && (!isIndex(index) || latest.index === undefined);
  let found = parts.get(key) ?? (mayBeLatest ? latest : undefined);
  const siblings = item[list];
  const existing: unknown[] = Array.isArray(siblings) ? siblings : (item[list] = []);
  if (found === undefined) {
    const order = isIndex(index) ? index : existing.length;
    const part = type === 'output_text' ? { type, text: '', annotations: [] } : { type };
    found = { part, list, order, index: undefined };
    if (order < existing.length) open.isSorted = false;
    existing.push(part);
    parts.set(latestKey, found);
  }
  if (isIndex(index)) {
    found.index ??= index;
    parts.set(key, found);
  }
  return found.part;
}

function addParts(open: OpenItem, list: PartList, parts: unknown): void {
  if (typeof parts === 'string' && parts !== '') {
    findPart(open, list, 0, 'output_text')['text'] = parts;
  }
  if (!Array.isArray(parts)) return;
  open.item[list] ??= [];
  listObjects(parts).forEach((part, index) => {
    mergeFields(findPart(open, list, index, part['type']), part);
  });
}

/** Sorts the parts of an item, and sets its status if its last event is missing. */
function finishItem(open: OpenItem, status: unknown): void {
  const { item, isDone, isAnnounced, parts, isSorted } = open;
  if (!isSorted) {
    const sorted = [...new Set(parts.values())].toSorted(byOrder);
    for (const name of ['content', 'summary'] as const) {
      const matching = sorted.filter(({ list }) => list === name).map(({ part }) => part);
      if (matching.length > 0) item[name] = matching;
    }
    open.isSorted = true;
  }
  const { type, status: current } = item;
  const isOpen = !isDone && current === 'in_progress';
  const isBare = !isAnnounced && (type === 'message' || type === 'function_call');
  if (isOpen || (isBare && current === undefined)) item['status'] = status;
}
