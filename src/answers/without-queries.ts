/** A URL of any scheme from its colon on, and its query or fragment, also as they stand in JSON within JSON. */
const urls = /(:(?:\\*\/){2}(?:[^\s"'<>`?#\\]|\\+\/)+)([?#](?:[^\s"<>\\]|\\+[/u])*)?/g;

/** A query without the URL that it belongs to. */
const queries = /[?&](?:[^\s"<>\\]|\\+[/u])*/g;

const secretParameters = /signature|^sig$|token|key|secret|credential|passw|^x-amz-|^x-goog-/i;

/** Whether a parameter gives access, by its name. */
function givesAccess(parameter: string): boolean {
  const end = parameter.indexOf('=');
  return end > 0 && secretParameters.test(parameter.slice(0, end));
}

/** The URL without what stands before the `@` of its host. */
function withoutUser(url: string): string {
  const start = url.lastIndexOf('/', url.search(/[^:/\\]/)) + 1;
  const end = url.slice(start).search(/[/\\]/);
  const host = end < 0 ? url.length : start + end;
  const at = url.slice(0, host).lastIndexOf('@');
  return at < start ? url : `${url.slice(0, start)}[user]${url.slice(at)}`;
}

/**
 * Takes the queries and the user info out of the URLs in text: what a signed URL gives access with is
 * in its query. Where no URL can be seen, the names of the parameters decide.
 */
export function withoutQueries(text: string): string {
  return text
    .replace(urls, (_, url: string, query: string = '') => {
      const isAnchor = query === '' || (query.startsWith('#') && !query.includes('='));
      const isClean = query.startsWith('?[query]') && !query.includes('=');
      return withoutUser(url) + (isAnchor || isClean ? query : '?[query]');
    })
    .replace(queries, (query) =>
      query.split(/[?&;#]|u0026/).some(givesAccess) ? `${query.charAt(0)}[query]` : query,
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
