import { withAdvice } from '../errors/gateway-error.ts';
import { type GatewayError, ImageWaitError, VideoWaitError } from '../index.ts';

/** Options of the library, and what replaces them in a program. */
export type Replacements = readonly (readonly [name: RegExp, replacement: string])[];

/** Names that only code can use: `onTruncated`, `error.partial`, `settle()`, the field "partial", `stream: true`, `{ … }`. */
const libraryName = /\b[a-z]+[A-Z]\w*|\berror\.\w+|\w\(\)|`|field "|[a-z]: true\b|\{/;

const rename = (text: string, replacements: Replacements): string =>
  replacements.reduce((changed, [name, option]) => changed.replace(name, option), text);

/** Returns the summary of an error without the option in parentheses that led to it. */
export const toProgramSummary = ({ summary }: GatewayError, replacements: Replacements): string =>
  rename(summary.replace(/ \([a-z]+[A-Z]\w*\)/, ''), replacements);

/** Returns advice for the users of a program: without the sentences that only code can follow. */
export function toProgramAdvice(advice: string, replacements: Replacements): string {
  const sentences = rename(advice, replacements).split(/(?<=[.:]) (?=[A-Z])/);
  return sentences.filter((sentence) => !libraryName.test(sentence)).join(' ');
}

/** Returns whether a wait ended while its task continues. */
export const isWait = (error: unknown): error is VideoWaitError | ImageWaitError =>
  VideoWaitError.isInstance(error) || ImageWaitError.isInstance(error);

/** Returns the message of an error with the advice that users of a program can follow. */
export function toProgramMessage(error: GatewayError, replacements: Replacements): string {
  const summary = toProgramSummary(error, replacements);
  // How a wait continues differs by program.
  if (isWait(error)) return summary;
  return withAdvice(summary, toProgramAdvice(error.advice, replacements));
}

/** Returns the error that a gateway sent beside a result, such as a lower quality than requested, as a sentence. */
export const describeRemark = (
  remark: { readonly message: string } | null | undefined,
): string | undefined =>
  remark ? `The gateway reports beside the result: ${remark.message}` : undefined;
