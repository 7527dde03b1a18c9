/** Pieces that are longer than this are kept in a tree without much waste. */
const shortPiece = 64;

/** A text is made one piece each time it has grown by a third or so, and not for less than 4 KiB. */
const smallestStep = 12;

/** Any expression does: engines make a text one piece before they search in it. */
const nothing = /^$/;

/**
 * Adds a piece to a text that grows.
 *
 * Engines keep a text that was put together as a tree of its pieces, which takes ten times the memory
 * of short ones. Now and then the tree is made one piece; as the text must have grown by a part of
 * itself until then, the work stays in proportion to its length.
 */
export function growText(before: string | null | undefined, piece: string): string {
  if (!before) return piece;
  const text = before + piece;
  if (piece.length < shortPiece) {
    const step = Math.max(smallestStep, 30 - Math.clz32(text.length));
    if (before.length >> step !== text.length >> step) nothing.test(text);
  }
  return text;
}
