import { readFile } from 'node:fs/promises';
import { isAddress } from './files.ts';
import type { Terminal } from './terminal.ts';

/** The sequences of Kitty's protocol, each with at most 4,096 characters of base64. */
function kitty(base64: string): string {
  const pieces = base64.match(/.{1,4096}/g) ?? [];
  return pieces
    .map((piece, index) => {
      const head = index === 0 ? 'a=T,f=100,r=16,' : '';
      return `\u001B_G${head}m=${index === pieces.length - 1 ? 0 : 1};${piece}\u001B\\`;
    })
    .join('');
}

const iterm = (base64: string): string =>
  `\u001B]1337;File=inline=1;height=16;preserveAspectRatio=1:${base64}\u0007`;

/** The way in which this terminal shows pictures, if it does. */
function format(): 'kitty' | 'iterm' | undefined {
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID, TMUX } = process.env;
  if (TMUX !== undefined) return undefined;
  if (KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM)) return 'kitty';
  return /iTerm|WezTerm/.test(TERM_PROGRAM) ? 'iterm' : undefined;
}

/** Shows a picture where the terminal can; its path is told in any case. */
export async function showPicture(path: string, terminal: Terminal): Promise<void> {
  const shown = terminal.isOutput ? format() : undefined;
  if (isAddress(path)) return;
  // Kitty takes PNG only.
  if (shown === undefined || (shown === 'kitty' && !path.endsWith('.png'))) return;
  const base64 = (await readFile(path)).toString('base64');
  terminal.raw(`${shown === 'kitty' ? kitty(base64) : iterm(base64)}\n`);
}
