import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

/** Renders inline code and bold text. */
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
 * Renders paragraphs and code blocks. Unchanged blocks are reused, so that the time for the next token does
 * not grow with the length of the answer.
 */
export function Prose({ text }: { text: string }): JSX.Element {
  const known = useRef(new Map<string, Block>());
  const blocks: JSX.Element[] = [];
  const add = (key: string, content: string, show: () => JSX.Element): void => {
    const previous = known.current.get(key);
    const block = previous?.text === content ? previous : { text: content, shown: show() };
    known.current.set(key, block);
    blocks.push(block.shown);
  };
  `\n${text}`.split('\n```').forEach((section, index) => {
    // Every second section is a code block: its language, a line break, the code.
    if (index % 2 === 1) {
      const key = `code-${index}`;
      add(key, section, () => (
        <pre key={key} tabIndex={0}>
          <code>{section.slice(section.indexOf('\n') + 1)}</code>
        </pre>
      ));
      return;
    }
    // The text after a fence starts with a line break.
    section
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
