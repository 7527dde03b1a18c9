import { isObject } from '../answers/objects.ts';
import type { CallSpec } from '../http/request.ts';

/**
 * Whether an id is one under which gateways of this family keep books: it begins with the time. A proxy in
 * front of one has ids of its own.
 */
export function isGatewayId(id: string | undefined): boolean {
  return /^20\d{12}/.test(id ?? '');
}

/** A call that may be charged, as far as the gateway's books can tell it from others. */
export class CallRecord {
  readonly operation: string;
  /** `undefined` where the caller did not name it. */
  readonly model: unknown;
  /** When it was first sent, in milliseconds since 1970. */
  readonly sentAt = Date.now();
  callId: string | undefined;
  /** When something was last heard of it. */
  heardAt = this.sentAt;
  /** Whether all of its answer has come. */
  isWhole = false;
  /** The ids of the requests that were answered. */
  readonly requestIds: string[] = [];
  /** How many requests were sent, or may have been, and no id of them has come. */
  unnamed = 0;
  /** Whether a request is under way of which nothing is known yet. */
  isPending = false;

  constructor({ operation, options, json, params, form }: CallSpec) {
    this.operation = operation;
    this.model =
      options?.extraBody?.['model'] ??
      (isObject(json) ? json['model'] : undefined) ??
      params?.['model'] ??
      form?.fields?.find(([name]) => name === 'model')?.[1];
  }

  /** Takes note of what became of the request that was sent last. */
  heard(requestId: string | undefined, wasSent: boolean): void {
    if (!this.isPending) return;
    this.isPending = false;
    this.heardAt = Date.now();
    if (requestId !== undefined) this.requestIds.push(requestId);
    if (wasSent && !isGatewayId(requestId)) this.unnamed += 1;
  }

  /** Takes note that the call is over. */
  end(callId: string | undefined, isWhole = false): void {
    this.callId = callId;
    this.isWhole = isWhole;
    this.heardAt = Date.now();
  }

  /** Whether a line of the books may be this call's though it holds no id that is known. */
  get isOpen(): boolean {
    return this.isPending || this.unnamed > 0;
  }
}

/** Books hold some 1,000 lines, so nothing is gained by remembering many more calls. */
const most = 1_500;

/** The last calls of a client that may have been charged, to tell their lines in the books apart. */
export class Calls {
  records: CallRecord[] = [];
  /** Whether a call had to be forgotten that may be in the books without a known id. */
  isForgetful = false;

  /** Takes note of a call that is sent now. */
  add(spec: CallSpec): CallRecord {
    if (this.records.length >= 2 * most) this.#forget();
    const record = new CallRecord(spec);
    this.records.push(record);
    return record;
  }

  /** Many at once: taking the first off a long list takes longer than all else that is done here. */
  #forget(): void {
    let tooMany = this.records.length - most;
    const kept = this.records.filter(({ isOpen }) => isOpen || tooMany-- <= 0);
    this.isForgetful ||= kept.length > most;
    this.records = kept.slice(-most);
  }
}
