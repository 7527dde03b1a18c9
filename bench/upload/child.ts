/** Uploads one file in one way: `child.ts COLUMN file|stream BASE_URL SMALL_FILE LARGE_FILE`. */
import { stat } from 'node:fs/promises';
import { columnArgument } from '../lib/arguments.ts';
import { printFigures } from '../lib/child.ts';
import { clients } from './clients.ts';

const column = columnArgument();
const [, , , way, baseURL = '', small = '', large = ''] = process.argv;
const uploads = await clients[column]?.(baseURL);
const upload = way === 'stream' ? uploads?.stream : uploads?.file;
if (upload === undefined) throw new Error('This client cannot upload so.');

// The first upload loads and compiles what every upload needs.
await upload(small);
globalThis.gc?.();
const before = process.memoryUsage.rss();
const received = await upload(large);
const { size } = await stat(large);
if (received < size) throw new Error(`${received} of ${size} bytes were received.`);
// `maxRSS` is in KiB. The peak cannot have been before: nothing large had been touched.
printFigures({ growth: Math.max(0, process.resourceUsage().maxRSS - before / 1024) / 1024 });
