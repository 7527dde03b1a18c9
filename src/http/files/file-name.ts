/** The last segment of a path, whichever slash it uses; `undefined` when there is none. */
export function baseName(path: string): string | undefined {
  const name = path.split(/[\\/]/).pop();
  return name === '' ? undefined : name;
}

/** The extension without its dot, as written, or `''`. A name such as `.env` has none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1) : '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function nameFromURL(url: string): string | undefined {
  // A data URL has no name, and a blob URL ends in a random id.
  if (!URL.canParse(url)) return baseName(url);
  const { protocol, pathname } = new URL(url);
  if (protocol === 'data:' || protocol === 'blob:') return undefined;
  return baseName(decoded(baseName(pathname) ?? ''));
}

/** The file name in a `content-disposition` header (RFC 6266), or `undefined`. */
export function nameFromDisposition(header: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  if (extended !== undefined) return baseName(decoded(extended));
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header)?.[1];
  if (quoted !== undefined) return baseName(quoted.replaceAll(/\\(["\\])/g, '$1'));
  const plain = /;\s*filename\s*=\s*([^;\s"]+)/i.exec(header)?.[1];
  return plain === undefined ? undefined : baseName(plain);
}

function textOf(value: object, property: string): string | undefined {
  const found: unknown = Reflect.get(value, property);
  // The path of an fs stream can be bytes.
  const text = found instanceof Uint8Array ? new TextDecoder().decode(found) : found;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/**
 * The file name that a value carries: `name` or `filename`, the `content-disposition` and URL of a
 * response, or the `path` of an fs stream. Folders are dropped. `undefined` when there is none.
 */
export function nameOf(value: object): string | undefined {
  const explicit = textOf(value, 'name') ?? textOf(value, 'filename');
  if (explicit !== undefined) return baseName(explicit);
  const headers: unknown = Reflect.get(value, 'headers');
  const disposition = headers instanceof Headers ? headers.get('content-disposition') : null;
  const disposed = disposition === null ? undefined : nameFromDisposition(disposition);
  if (disposed !== undefined) return disposed;
  const url = textOf(value, 'url');
  if (url !== undefined) return nameFromURL(url);
  const path = textOf(value, 'path');
  return path === undefined ? undefined : baseName(path);
}
