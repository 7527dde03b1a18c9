/** One part of a multipart body. */
export interface RawPart {
  /** The header lines, without their line breaks. */
  readonly headers: readonly string[];
  readonly content: Buffer;
}

const lineBreak = '\r\n';

/**
 * Parses a multipart body strictly by RFC 2046, and throws at the first unexpected byte. Independent of the
 * encoder.
 */
export function parseMultipart(body: Uint8Array, contentType: string): RawPart[] {
  const boundary = /^multipart\/form-data; boundary=([^;\s"]+)$/.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error(`No boundary in ${contentType}`);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const parts: RawPart[] = [];
  let position = 0;
  const take = (text: string): void => {
    const found = bytes.toString('latin1', position, position + text.length);
    if (found !== text) throw new Error(`Expected ${text} at ${position}, found ${found}`);
    position += text.length;
  };

  take(`--${boundary}`);
  for (;;) {
    if (bytes.toString('latin1', position, position + 2) === '--') {
      take('--');
      // The closing boundary is followed by at most one line break.
      if (position < bytes.length) take(lineBreak);
      if (position !== bytes.length) throw new Error('Bytes behind the closing boundary');
      return parts;
    }
    take(lineBreak);
    const headersEnd = bytes.indexOf(lineBreak + lineBreak, position);
    const headers = bytes.toString('utf8', position, headersEnd).split(lineBreak);
    const start = headersEnd + 4;
    const end = bytes.indexOf(`${lineBreak}--${boundary}`, start);
    if (headersEnd < 0 || end < 0) throw new Error('A part does not end');
    parts.push({ headers, content: bytes.subarray(start, end) });
    position = end + lineBreak.length + 2 + boundary.length;
  }
}
