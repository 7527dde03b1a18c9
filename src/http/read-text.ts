/** The text of a body, and whether it was cut at the limit or broke off. */
export interface BodyText {
  readonly text: string;
  readonly error?: unknown;
}

/** The most that is read of a body that belongs to an error. */
export const errorBodyLimit = 65_536;

/** Reads at most `limit` bytes and lets go of the rest. Never rejects: what was read counts. */
export async function readBounded(response: Response, limit: number): Promise<BodyText> {
  const reader = response.body?.getReader();
  if (reader === undefined) return { text: '' };
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode() };
      const part = value.subarray(0, limit - size);
      size += part.byteLength;
      text += decoder.decode(part, { stream: true });
      if (size >= limit) {
        reader.cancel().catch(() => {});
        return { text };
      }
    }
  } catch (error) {
    return { text, error };
  }
}
