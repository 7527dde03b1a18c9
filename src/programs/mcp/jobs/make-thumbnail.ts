import { execFile } from 'node:child_process';

/** The longest time for a thumbnail, in milliseconds. */
export const maxThumbnailTime = 30_000;

/**
 * Returns a small JPEG of an image, as base64; `undefined` if it cannot be made. A small file can decode to more than
 * the memory, so that happens in a process of its own.
 */
export function makeThumbnail(path: string): Promise<string | undefined> {
  const [, program = ''] = process.argv;
  const args = [...process.execArgv, '--max-old-space-size=256', program, 'mcp-thumbnail', path];
  const options = { timeout: maxThumbnailTime, killSignal: 'SIGKILL', windowsHide: true } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, output) => {
      // The image is saved; only its preview is missing.
      resolve(error === null && /^[A-Za-z\d+/]+=*$/.test(output) ? output : undefined);
    });
  });
}
