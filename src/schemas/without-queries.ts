/** A URL and its query, also as they stand in JSON within JSON. */
const urls = /\b(https?:(?:\\*\/){2}(?:[^\s"'<>`?#\\]|\\+\/)+)(\?(?:[^\s"'<>`)\]\\]|\\+[/u])*)?/gi;

/** Takes the queries out of the URLs in text: what a signed URL gives access with is in its query. */
export function withoutQueries(text: string): string {
  return text.replace(urls, (whole, url: string, query: string | undefined) =>
    query === undefined || query === '?[query' ? whole : `${url}?[query]`,
  );
}

/** The same value with other texts in it, or the value itself when nothing in it changes. */
export function rewritten(value: unknown, rewrite: (text: string) => string): unknown {
  if (typeof value === 'string') return rewrite(value);
  if (typeof value !== 'object' || value === null) return value;
  let clean = '';
  try {
    const text = JSON.stringify(value);
    clean = rewrite(text);
    if (clean === text) return value;
    const copy: unknown = JSON.parse(clean);
    return copy;
  } catch {
    // It nests too deep, or a number was the key.
    return clean;
  }
}
