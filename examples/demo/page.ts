import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Renders a file by its type. */
const shown: Readonly<Record<string, (name: string, what: string) => string>> = {
  '.png': (name, what) => `<img src="${name}" alt="${what}">`,
  '.mp3': (name, what) => `<audio src="${name}" controls aria-label="${what}"></audio>`,
  '.mp4': (name, what) =>
    `<video src="${name}" controls loop muted playsinline aria-label="${what}"></video>`,
};

function figure([file, about]: readonly [string, string]): string {
  const name = escaped(file);
  const what = escaped(about);
  const show = shown[extname(file)];
  const media = show === undefined ? `<a href="${name}">${name}</a>` : show(name, what);
  return `<figure>${media}<figcaption>${what} <a href="${name}">${name}</a></figcaption></figure>`;
}

/**
 * Writes a page that shows the results of the demo.
 *
 * @returns its path
 */
export async function writePage(
  folder: string,
  files: ReadonlyMap<string, string>,
  summary: string,
): Promise<string> {
  const path = join(folder, 'index.html');
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>What the demo has made</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #1b1b1f); color: light-dark(#3c3c43, #dfdfd6) }
  body { margin: 0 auto; max-width: 60rem; padding: 2rem 1rem }
  h1, a { color: light-dark(#3451b2, #a8b1ff) }
  main { display: grid; gap: 2rem 1.5rem; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); align-items: end }
  figcaption::first-letter { text-transform: uppercase }
  figure { margin: 0 }
  img, video, audio { width: 100%; border-radius: .5rem; }
  figcaption { margin-top: .5rem }
</style>
<h1>What the demo has made</h1>
<p>${escaped(summary)}</p>
<main>
${[...files].map(figure).join('\n')}
</main>
</html>
`;
  await writeFile(path, page);
  return path;
}
