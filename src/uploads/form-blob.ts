/** Browsers write every line break of a name or a text field as CR LF, so that is done here too. */
export function withFullLineBreaks(text: string): string {
  return text.replaceAll(/\r\n|\r|\n/g, '\r\n');
}

function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/**
 * A form as one `Blob` whose type names the boundary (RFC 7578).
 *
 * For a `fetch` that is not the runtime's own: undici's, for one, does not recognise the runtime's
 * `FormData` and would send the text "[object FormData]". Files are referred to, not copied.
 */
export function formBlob(form: FormData): Blob {
  // Whoever could guess it could write further fields into a text.
  const boundary = `----formdata-${crypto.randomUUID().replaceAll('-', '')}`;
  const parts: BlobPart[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
    if (typeof value === 'string') {
      parts.push(`${head}\r\n\r\n${withFullLineBreaks(value)}\r\n`);
    } else {
      const type = value.type === '' ? 'application/octet-stream' : value.type;
      const file = `; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}`;
      parts.push(`${head}${file}\r\n\r\n`, value, '\r\n');
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}
