import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { downloadVideo } from '../../../src/adapters/node/index.ts';
import { contentServer, someBytes } from '../../helpers/content-server.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** The server's answer to one request. */
interface Turn {
  /** Which version of the file it has. */
  readonly version: 0 | 1;
  /** Bytes before the connection is cut. */
  readonly cut: number | undefined;
  readonly ranges: boolean;
  /** Honours `If-Range`; many servers do not. */
  readonly looks: boolean;
  /** Start of the returned part, relative to the requested one. */
  readonly shift: number;
  /** The server's own limit of a part, in bytes. */
  readonly most: number | undefined;
  readonly status: 200 | 429 | 503;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  version: fc.constantFrom<(0 | 1)[]>(0, 0, 0, 1),
  cut: fc.option(fc.nat(5_000), { nil: undefined }),
  ranges: fc.boolean(),
  looks: fc.boolean(),
  shift: fc.constantFrom(0, 0, 0, 0, -7, 7),
  most: fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined, freq: 4 }),
  status: fc.constantFrom<Turn['status'][]>(200, 200, 200, 200, 429, 503),
});

const versions = [someBytes(5_000, 3), someBytes(5_000, 8)] as const;

test(
  'property: whatever a server does, a file is one complete version or missing',
  { timeout: 60_000 },
  async () => {
    const { setTimeout: original } = globalThis;
    vi.stubGlobal('setTimeout', (run: () => void, milliseconds = 0, ...rest: []) =>
      original(run, milliseconds <= 30_000 ? Math.min(1, milliseconds) : milliseconds, ...rest),
    );
    let turns: Turn[] = [];
    let whole = 0;
    const { client } = await contentServer({
      answer: ({ headers }, response) => {
        const calm = { cut: undefined, ranges: true, looks: true, shift: 0, most: undefined };
        const next = turns.shift() ?? { ...calm, version: 0, status: 200 };
        if (next.status !== 200) {
          // Without it, a 429 would be a limit that lasts a minute.
          response.writeHead(next.status, { 'retry-after': '0' }).end();
          return true;
        }
        const content = versions[next.version];
        const etag = `"v${next.version}"`;
        const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? Number.NaN);
        const isFresh = !next.looks || headers['if-range'] === etag;
        const isPart = next.ranges && !Number.isNaN(from) && isFresh;
        const start = isPart ? Math.max(0, from + next.shift) : 0;
        if (isPart && start >= content.length) {
          response.writeHead(416, { 'content-range': `bytes */${content.length}`, etag }).end();
          return true;
        }
        const end = isPart ? Math.min(content.length, start + (next.most ?? Infinity)) : undefined;
        const body = content.subarray(start, end);
        const range = `bytes ${start}-${start + body.length - 1}/${content.length}`;
        response.writeHead(isPart ? 206 : 200, {
          'content-length': body.length,
          etag,
          ...(isPart ? { 'content-range': range } : {}),
        });
        if (next.cut === undefined || next.cut >= body.length) response.end(body);
        else
          response.write(body.subarray(0, next.cut), () => setImmediate(() => response.destroy()));
        return true;
      },
    });
    const folder = await temporaryFolder();
    const to = join(folder, 'out.mp4');

    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { maxLength: 8 }),
        fc.integer({ min: 1, max: 3 }),
        async (script, calls) => {
          turns = [...script];
          for (let call = 0; call < calls; call += 1) {
            const saved = await downloadVideo(client, 'task_1', { to, resume: true }).catch(
              () => {},
            );
            const file = await readFile(to).catch(() => undefined);
            if (saved !== undefined) {
              whole += 1;
              expect(versions.some((version) => file?.equals(version))).toBe(true);
            }
            if (file !== undefined)
              expect(versions.some((version) => file.equals(version))).toBe(true);
          }
          turns = [];
          await downloadVideo(client, 'task_1', { to, resume: true });
          expect((await readFile(to)).equals(versions[0])).toBe(true);
          expect(await readdir(folder)).toEqual(['out.mp4']);
        },
      ),
      { numRuns: 60 },
    );
    expect(whole).toBeGreaterThan(20);
  },
);
