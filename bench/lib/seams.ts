import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';

/** Text of a source file that is left out. */
type Cut = readonly [file: string, text: RegExp, instead?: string];

/** The whole of a method of a class. */
const method = (name: string): RegExp => new RegExp(`^  ${name}[<(][^]*?\\n  }\\n`, 'm');
/** The whole of a line. */
const line = (start: string): RegExp => new RegExp(`^ *${start}.*\\n`, 'm');

const call = 'http/call.ts';
const settings = 'http/settings.ts';
const transport = 'http/transport.ts';

/** What every page carries for something that few use, as the places in the source that it takes. */
export const seams: Readonly<Record<'books' | 'observer', readonly Cut[]>> = {
  /** What is remembered of calls, for what was spent and for the books, and a budget that refuses them. */
  books: [
    [call, /^ *if \(call\.client\.given\(\)\.budget [^]*?\n {6}}\n/m],
    [call, /^ *if \(call\.#record\) \{[^]*?\n {8}}\n/m],
    [call, line(`if \\(spec\\.charge !== 'free'\\) this\\.#remember`)],
    [call, method('#remember')],
    [call, line('this\\.#end\\(ending\\);')],
    [call, method('#end')],
    [call, method('get params')],
    [call, method('get record')],
    [call, line('readonly #caller:')],
    [call, line('#record:')],
    [call, line('this\\.#caller = caller;')],
    [settings, /^ *checkObject\('budget',[^]*?0, 0\);\n/m],
    [transport, line('readonly account:')],
    [transport, /^ *account: Caller\['account'\],\n/m],
    [transport, line('this\\.account = account;')],
    [transport, /this\.client, this\.account, /, 'this.client, '],
    [transport, /\{ records: \[\], lost: 0 }/, '{}'],
    ['gateway.ts', /, loadCosts\);/, ');'],
  ],
  /** That somebody may be told of calls. */
  observer: [
    [call, line('if \\(!isWatched && isObserved')],
    [call, line('isWatched = false,')],
    [call, line('watch: Watch')],
    [call, line('call\\.watch\\?\\.answered')],
    [call, line('this\\.watch\\?\\.attempt')],
    [call, line('this\\.watch\\?\\.answered')],
    [call, line('this\\.watch\\?\\.end')],
    [call, method('async #observed')],
    [settings, line('observers: observersOf')],
    [settings, line('onRequest: options')],
    [settings, line('onResponse: options')],
    [settings, /, 'onRequest', 'onResponse'\]/, ']'],
    ['http/abort.ts', line('onReading:')],
    ['http/abort.ts', line('this\\.onReading')],
    ['streams/open-stream.ts', line('firstChunk:')],
  ],
};

/**
 * Builds the source without a seam.
 *
 * @throws when the source no longer has something that is to be left out: this list is then out of date
 */
export function without(cuts: readonly Cut[], source: string): Plugin {
  return {
    name: 'without',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
        const own = cuts.filter(([name]) => file === path.join(source, name));
        let contents = await readFile(file, 'utf8');
        for (const [name, text, instead = ''] of own) {
          if (!text.test(contents)) throw new Error(`src/${name} has no ${String(text)}.`);
          contents = contents.replace(text, instead);
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}
