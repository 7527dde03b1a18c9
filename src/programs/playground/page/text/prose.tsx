import type { Token, Tokens } from 'marked';
import { cloneElement, type JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Code } from './code.tsx';
import { decodeEntities, GrowingMarkdown, isMarkedToken, safeHref } from './markdown.ts';

function Link({ token }: { token: Tokens.Link | Tokens.Image }): JSX.Element {
  // Images of other hosts are not loaded: their addresses may carry parts of the conversation.
  const content = token.type === 'image' ? token.text || token.href : renderAll(token.tokens);
  const href = safeHref(token.href);
  if (href === undefined) return <>{content}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {content}
    </a>
  );
}

function List({ ordered, start, items }: Tokens.List): JSX.Element {
  const children = items.map((item, index) => <li key={index}>{renderAll(item.tokens)}</li>);
  return ordered ? <ol start={Number(start)}>{children}</ol> : <ul>{children}</ul>;
}

function Table({ header, rows }: Tokens.Table): JSX.Element {
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens, align }, index) => (
              <th key={index} class={align ?? ''}>
                {renderAll(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map(({ tokens, align }, column) => (
                <td key={column} class={align ?? ''}>
                  {renderAll(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const headingNames = ['h2', 'h3', 'h4', 'h5', 'h6'] as const;

/** A heading, not more than one level below the previous one. The heading of a panel is `h1`. */
function Heading({ tokens, level }: Tokens.Heading & { level: number }): JSX.Element {
  const Name = headingNames[level - 2] ?? 'h6';
  return <Name>{renderAll(tokens)}</Name>;
}

/** Returns whether a block of code has its end. One that still grows is not coloured again for each word. */
const isClosed = (raw: string): boolean => /\n *(```+|~~~+)\s*$/.test(raw);

/**
 * Renders a token. HTML is shown as text.
 *
 * @param level - The level of a heading.
 */
function render(token: Token, key: number, level = 6): JSX.Element | string {
  if (!isMarkedToken(token)) return token.raw;
  switch (token.type) {
    case 'blockquote':
      return <blockquote key={key}>{renderAll(token.tokens)}</blockquote>;
    case 'br':
      return <br key={key} />;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'code':
      return (
        <pre key={key} tabIndex={0} dir="ltr">
          <code>
            <Code text={token.text} language={isClosed(token.raw) ? token.lang : undefined} />
          </code>
        </pre>
      );
    case 'codespan':
      return <code key={key}>{token.text}</code>;
    case 'def':
    case 'space':
      return '';
    case 'del':
      return <del key={key}>{renderAll(token.tokens)}</del>;
    case 'em':
      return <em key={key}>{renderAll(token.tokens)}</em>;
    case 'heading':
      return <Heading key={key} {...token} level={level} />;
    case 'hr':
      return <hr key={key} />;
    case 'image':
    case 'link':
      return <Link key={key} token={token} />;
    case 'list':
      return <List key={key} {...token} />;
    case 'list_item':
      return <li key={key}>{renderAll(token.tokens)}</li>;
    case 'paragraph':
      return <p key={key}>{renderAll(token.tokens)}</p>;
    case 'strong':
      return <strong key={key}>{renderAll(token.tokens)}</strong>;
    case 'table':
      return <Table key={key} {...token} />;
    case 'text':
      return token.tokens === undefined ? (
        decodeEntities(token.text)
      ) : (
        <span key={key}>{renderAll(token.tokens)}</span>
      );
    case 'escape':
      return token.text;
    case 'html':
      return token.raw;
  }
}

const renderAll = (tokens: readonly Token[]): (JSX.Element | string)[] =>
  tokens.map((token, index) => render(token, index));

/** Renders a block in the direction of its own text. Code is always left to right. */
function renderBlock(token: Token, index: number, level: number): JSX.Element | string {
  const block = render(token, index, level);
  if (typeof block === 'string' || token.type === 'code') return block;
  return cloneElement(block, { dir: 'auto' });
}

/** Renders Markdown. Blocks that did not change are not rendered again. */
export function Prose({ text }: { text: string }): JSX.Element {
  const markdown = useRef(new GrowingMarkdown());
  const rendered = useRef(new WeakMap<Token, JSX.Element | string>());
  let level = 1;
  const blocks = markdown.current.parse(text).map((token, index) => {
    if (token.type === 'heading') level = Math.min(Number(token['depth']) + 1, level + 1);
    const known = rendered.current.get(token) ?? renderBlock(token, index, level);
    rendered.current.set(token, known);
    return known;
  });
  return <div class="prose">{blocks}</div>;
}
