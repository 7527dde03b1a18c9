import { lexer, type MarkedToken, type Token } from 'marked';

const types: Readonly<Record<MarkedToken['type'], true>> = {
  blockquote: true,
  br: true,
  checkbox: true,
  code: true,
  codespan: true,
  def: true,
  del: true,
  em: true,
  escape: true,
  heading: true,
  hr: true,
  html: true,
  image: true,
  link: true,
  list: true,
  list_item: true,
  paragraph: true,
  space: true,
  strong: true,
  table: true,
  text: true,
};

/** Returns whether a token is part of standard Markdown, not of an extension. */
export const isMarkedToken = (token: Token): token is MarkedToken =>
  Object.hasOwn(types, token.type);

/** Parses Markdown that grows. The time for an update does not depend on the length of the text. */
export class GrowingMarkdown {
  #text = '';
  /** Blocks that later text cannot change. */
  #finished: Token[] = [];
  #finishedLength = 0;

  /** Returns the blocks. Finished blocks are the same objects as before. */
  parse(source: string): readonly Token[] {
    const text = source.replaceAll(/\r\n?/g, '\n');
    if (!text.startsWith(this.#text)) {
      this.#finished = [];
      this.#finishedLength = 0;
    }
    this.#text = text;
    const blocks = lexer(text.slice(this.#finishedLength));
    // Later text can continue the last block, for example a list after a blank line.
    const finished = blocks.slice(0, Math.max(0, blocks.length - 3));
    this.#finished = [...this.#finished, ...finished];
    this.#finishedLength += finished.reduce((sum, { raw }) => sum + raw.length, 0);
    return [...this.#finished, ...blocks.slice(finished.length)];
  }
}

/** Returns the address of a link, or `undefined` unless a browser opens it as a page or a mail. */
export function safeHref(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  hellip: '…',
  lt: '<',
  mdash: '—',
  nbsp: ' ',
  ndash: '–',
  quot: '"',
};

/** Decodes common character references. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name)] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
