import type { PreparedBody } from '../../src/http/request.ts';
import { formBody, type FormFields } from '../../src/uploads/multipart.ts';

export type EncodedForm = Required<PreparedBody> & { readonly body: object };

/** A form as the transport gets it. */
export async function encodeForm(
  fields: FormFields,
  signal: AbortSignal = new AbortController().signal,
): Promise<EncodedForm> {
  const { body, ...prepared } = await formBody(fields).encode(undefined, signal);
  if (typeof body !== 'object') throw new Error('Expected a body');
  return { release: () => {}, sourceError: () => undefined, ...prepared, body };
}
