import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

/** Code and stress within a line. */
function Line({ text }: { text: string }): JSX.Element {
  const pieces = text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/);
  return (
    <>
      {pieces.map((piece, index) => {
        if (index % 2 === 0) return piece;
        return piece.startsWith('`') ? (
          <code key={index}>{piece.slice(1, -1)}</code>
        ) : (
          <strong key={index}>{piece.slice(2, -2)}</strong>
        );
      })}
    </>
  );
}

interface Block {
  readonly text: string;
  readonly shown: JSX.Element;
}

/**
 * What a model wrote: paragraphs and blocks of code. A block that has not changed is not looked at
 * again, so that the next word costs the same at the end of a long answer as at its beginning.
 */
export function Prose({ text }: { text: string }): JSX.Element {
  const known = useRef(new Map<string, Block>());
  const blocks: JSX.Element[] = [];
  const add = (key: string, content: string, show: () => JSX.Element): void => {
    const before = known.current.get(key);
    const block = before?.text === content ? before : { text: content, shown: show() };
    known.current.set(key, block);
    blocks.push(block.shown);
  };
  `\n${text}`.split('\n```').forEach((part, index) => {
    // Every second part is a block of code: its language, a line break, the code.
    if (index % 2 === 1) {
      const key = `code-${index}`;
      add(key, part, () => (
        <pre key={key} tabIndex={0}>
          <code>{part.slice(part.indexOf('\n') + 1)}</code>
        </pre>
      ));
      return;
    }
    // What follows a fence begins with the end of its line.
    part
      .replace('\n', '')
      .split(/\n{2,}/)
      .forEach((paragraph, place) => {
        const key = `${index}-${place}`;
        if (paragraph.trim() === '') return;
        add(key, paragraph, () => (
          <p key={key}>
            <Line text={paragraph} />
          </p>
        ));
      });
  });
  return <div class="prose">{blocks}</div>;
}
