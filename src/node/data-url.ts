/** The bytes of a data URL; `undefined` when the text is none. */
export function decodeDataURL(url: string): Uint8Array | undefined {
  const [, parameters = '', content] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (content === undefined) return undefined;
  if (/;\s*base64\s*$/i.test(parameters)) return Buffer.from(content, 'base64');
  try {
    return Buffer.from(decodeURIComponent(content));
  } catch {
    return undefined;
  }
}
