/** A file uploaded in a multipart body. */
export interface UploadedFile {
  /** Name of the form field, for example `image[]`. */
  readonly field: string;
  readonly filename: string;
  /** MIME type of the part. */
  readonly type: string;
  readonly size: number;
  /** The bytes. */
  readonly file: Blob;
}

/** Body of a request. */
export type RequestBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | {
      readonly kind: 'multipart';
      /** Text fields; a repeated field is a list. */
      readonly fields: Readonly<Record<string, string | readonly string[]>>;
      readonly files: readonly UploadedFile[];
    }
  | {
      /** A body that the gateway does not read: another content type, or invalid. */
      readonly kind: 'unread';
      readonly contentType: string | null;
      readonly bytes: Uint8Array;
    };

function readForm(form: FormData): RequestBody {
  const fields: Record<string, string | readonly string[]> = {};
  const files: UploadedFile[] = [];
  for (const [field, value] of form) {
    if (typeof value !== 'string') {
      const { name: filename, type, size } = value;
      files.push({ field, filename, type, size, file: value });
      continue;
    }
    const earlier = fields[field];
    fields[field] = earlier === undefined ? value : [earlier, value].flat();
  }
  return { kind: 'multipart', fields, files };
}

/**
 * Reads the body like the gateway: as JSON only if the content type starts with `application/json`, in
 * lower case.
 */
export async function readBody(request: Request): Promise<RequestBody> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length === 0) return { kind: 'none' };
  const contentType = request.headers.get('content-type');
  const unread: RequestBody = { kind: 'unread', contentType, bytes };
  try {
    if (contentType?.startsWith('application/json') === true) {
      const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return { kind: 'json', value };
    }
    if (contentType?.startsWith('multipart/form-data') === true) {
      const headers = { 'content-type': contentType };
      return readForm(await new Response(bytes, { headers }).formData());
    }
  } catch {
    return unread;
  }
  return unread;
}
