/**
 * Parses JSON, or a value in each line as a list.
 *
 * @throws `SyntaxError` when the text is neither
 */
export function parseLines(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line): unknown => JSON.parse(line));
  }
}

/** Parses JSON, or gives `undefined` when the text is not JSON. */
export function parseJSON(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
