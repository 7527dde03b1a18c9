import type { GatewayError } from '../index.ts';

/** Options of the library, and what replaces them in a program. */
export type Replacements = readonly (readonly [name: RegExp, replacement: string])[];

/** Names that only code can use: `onTruncated`, `error.partial`, `settle()`, the field "partial". */
const libraryName = /\b[a-z]+[A-Z]\w*|\berror\.\w+|\w\(\)|`|field "/;

/** Returns the summary of an error without the option in parentheses that led to it. */
export const toProgramSummary = ({ summary }: GatewayError): string =>
  summary.replace(/ \([a-z]+[A-Z]\w*\)/, '');

/** Returns advice for the users of a program: without the sentences that only code can follow. */
export function toProgramAdvice(advice: string, replacements: Replacements): string {
  const renamed = replacements.reduce((text, [name, option]) => text.replace(name, option), advice);
  const sentences = renamed.split(/(?<=[.:]) (?=[A-Z])/);
  return sentences.filter((sentence) => !libraryName.test(sentence)).join(' ');
}

/** Returns the error that a gateway sent beside a result, such as a lower quality than requested, as a sentence. */
export const describeRemark = (
  remark: { readonly message: string } | null | undefined,
): string | undefined =>
  remark ? `The gateway reports beside the result: ${remark.message}` : undefined;
