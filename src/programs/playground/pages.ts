import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the page by path. No other file can be requested. */
export type Pages = ReadonlyMap<
  string,
  { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
>;

/** Reads the files of the built page. */
export async function readPages(folder: string): Promise<Pages> {
  const pages = new Map<string, { type: string; bytes: Uint8Array<ArrayBuffer> }>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(folder, file).split(sep).join('/')}`;
    pages.set(path, { type, bytes: new Uint8Array(await readFile(file)) });
  }
  const index = pages.get('/index.html');
  if (index === undefined) throw new Error(`The page of the playground is not in ${folder}.`);
  pages.set('/', index);
  return pages;
}

/** Responds with a file of the page. */
export function servePage(pages: Pages, path: string): Response {
  const page = pages.get(path);
  if (page === undefined) return new Response('The file does not exist.', { status: 404 });
  // File names in assets/ contain a hash of the content.
  const isFixed = path.startsWith('/assets/');
  return new Response(page.bytes, {
    headers: {
      'content-type': page.type,
      'cache-control': isFixed ? 'private, max-age=31536000, immutable' : 'no-cache',
    },
  });
}
