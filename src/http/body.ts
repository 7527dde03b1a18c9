import { InvalidInputError } from '../errors/gateway-error.ts';
import type { CallSpec } from './call-spec.ts';
import { isObject } from '../answers/objects.ts';
import { encodeMultipart, writeJSON, type FormFields } from '../uploads/multipart.ts';

/** A body that is ready to be sent. */
export interface PreparedBody {
  readonly body: string | FormData | ReadableStream<Uint8Array> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it can be sent a second time; a stream cannot. */
  readonly replayable: boolean;
  /** Frees what the body is read from. To be called when the call has ended. */
  release?(): void;
  /** What the source of the body failed with: the gateway never saw a complete request then. */
  sourceError?(): unknown;
}

// The gateway skips a JSON body unless the type begins with exactly this text.
const jsonHeaders: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

function withExtraFields(fields: FormFields, extra: Readonly<Record<string, unknown>>): FormFields {
  const kept = fields.filter(([name]) => !Object.hasOwn(extra, name));
  return [...kept, ...Object.entries(extra)];
}

function withExtra({ method, json }: CallSpec, extra: Readonly<Record<string, unknown>>): object {
  if (method === 'GET') {
    throw new InvalidInputError('extraBody', 'cannot go with a GET; use query instead.');
  }
  if (json === undefined) return extra;
  if (isObject(json)) return { ...json, ...extra };
  throw new InvalidInputError('extraBody', 'can only be added to a body that is an object.');
}

/** Turns what the resource said into bytes, once per call. */
export async function prepareBody(spec: CallSpec, signal: AbortSignal): Promise<PreparedBody> {
  const extra = spec.options?.extraBody ?? undefined;
  if (spec.form !== undefined) {
    const fields = extra === undefined ? spec.form : withExtraFields(spec.form, extra);
    return encodeMultipart(fields, signal);
  }
  if (spec.json === undefined && extra === undefined) {
    return { body: undefined, headers: {}, replayable: true };
  }
  const value = extra === undefined ? spec.json : withExtra(spec, extra);
  return { body: writeJSON('body', value), headers: jsonHeaders, replayable: true };
}
