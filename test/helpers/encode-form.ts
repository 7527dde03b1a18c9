import type { PreparedBody } from '../../src/http/request.ts';
import { formBody, type FormFields } from '../../src/uploads/multipart.ts';

export type EncodedForm = Required<Omit<PreparedBody, 'warning'>> & { readonly body: object };

/** A form as the transport receives it. */
export async function encodeForm(
  fields: FormFields,
  signal: AbortSignal = new AbortController().signal,
): Promise<EncodedForm> {
  const { body, ...prepared } = await formBody(fields).encode(undefined, signal);
  if (typeof body !== 'object') throw new Error('Expected a body');
  return { release: () => {}, sourceError: () => undefined, ...prepared, body };
}

interface NodeRequestInit extends RequestInit {
  readonly duplex: 'half';
}

/** Sends a form as the transport does. */
export function postForm(form: EncodedForm, url: string, signal?: AbortSignal): Promise<Response> {
  const init: NodeRequestInit = {
    method: 'POST',
    headers: { ...form.headers },
    body: form.body,
    duplex: 'half',
    redirect: 'error',
    window: null,
    ...(signal === undefined ? {} : { signal }),
  };
  return fetch(url, init);
}
