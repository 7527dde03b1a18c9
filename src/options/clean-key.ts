/** Receives a warning about a key. */
export type Warn = (message: string) => void;

/** Removes white space, and the quotes that Docker's `--env-file` keeps around a value. */
export function withoutQuotes(text: string): string {
  const trimmed = text.trim();
  const [quote] = trimmed;
  const isQuoted =
    (quote === '"' || quote === "'") && trimmed.length > 1 && trimmed.endsWith(quote);
  return isQuoted ? trimmed.slice(1, -1).trim() : trimmed;
}

/** Removes quotes and the scheme from a key, and warns about them. */
export function cleanKey(key: string, warn: Warn): string {
  const unquoted = withoutQuotes(key);
  const [scheme = ''] = /^bearer(?:\s+|$)/i.exec(unquoted) ?? [];
  const rest = unquoted.slice(scheme.length);
  const bare = withoutQuotes(rest);
  if (scheme !== '') warn('apiKey begins with "Bearer", which the client adds: pass only the key');
  if (unquoted !== key.trim() || bare !== rest) {
    warn(
      "apiKey is in quotes, which are not sent: Docker's --env-file keeps the quotes of a value",
    );
  }
  return bare;
}
