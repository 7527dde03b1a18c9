import type { Resumable } from './parts.ts';

/** Whether a body travels in another form than it is stored in. */
export function isEncoded(headers: Headers): boolean {
  return (headers.get('content-encoding') ?? 'identity') !== 'identity';
}

/**
 * What names a version of the file, where the server tells it. Weak tags do not promise equal bytes,
 * and a date does only when the file was not changed in the second of the answer (RFC 9110, 13.1.5).
 */
export function validatorOf(headers: Headers): string | undefined {
  if (isEncoded(headers)) return undefined;
  const tag = headers.get('etag');
  if (tag !== null) return /^"[^"]*"$/.test(tag) ? tag : undefined;
  const changed = headers.get('last-modified');
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(changed ?? '');
  return changed !== null && age >= 1_000 ? changed : undefined;
}

/** Whether an answer is about the version of which a part is there, as far as it says. */
export function isSameVersion(headers: Headers, { validator }: Resumable): boolean {
  const tag = headers.get('etag');
  const named = validator.startsWith('"') ? tag : (tag ?? headers.get('last-modified'));
  return named === null || named === validator;
}

/** Where a partial answer begins, and the size of the whole. */
export function rangeOf(
  headers: Headers,
): { readonly start: number; readonly total: number | undefined } | undefined {
  const [, start, total] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range')?.trim() ?? '') ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), total: total === '*' ? undefined : Number(total) };
}
