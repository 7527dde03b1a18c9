import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { marked } from 'marked';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { formatPage } from '../../../src/programs/cli/doctor/page.ts';
import { type DoctorReport, reportSchema } from '../../../src/programs/cli/doctor/report-schema.ts';
import {
  createEmulator,
  defaultModels,
  defaultQuirks,
  type Emulator,
  type EmulatorOptions,
} from '../../../src/testing/index.ts';
import { modes } from '../../helpers/modes.ts';
import { Machine } from './run.ts';

async function report(
  options: EmulatorOptions = {},
  args: readonly string[] = ['--json'],
  prepare: (emulator: Emulator) => void = () => {},
) {
  const emulator = createEmulator(options);
  prepare(emulator);
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const machine = new Machine({ url: server.url, key: emulator.apiKey });
  const env = { GATEWAY_PROFILE: options.gateway ?? 'auto' };
  const run = await machine.run(['doctor', '--report', ...args], '', env);
  return { ...run, emulator, server, machine };
}

async function rows(options: EmulatorOptions = {}, prepare?: (emulator: Emulator) => void) {
  const { stdout, emulator, server } = await report(options, undefined, prepare);
  const document = reportSchema.parse(JSON.parse(stdout));
  expect(stdout).not.toContain(emulator.apiKey);
  expect(stdout).not.toContain(new URL(server.url).host);
  expect(stdout).not.toContain(new URL(server.url).hostname);
  expect(emulator.charges).toEqual([]);
  expect(document.removed.map(({ name }) => name)).toContain('host');
  const find = (id: string) => {
    const row = document.rows.find((candidate) => candidate.id === id);
    return `${row?.status} ${row?.detail}`;
  };
  return { find, document };
}

test.each(modes)('%s: names the family and the routes, without a charge', async (gateway) => {
  const { find } = await rows({ gateway, credit: 5_000_000 });

  const sign = gateway === 'openai' ? 'its errors' : 'the header x-';
  const named = new RegExp(`^ok ${gateway}, by ${sign}`);
  expect(find('family')).toMatch(named);
  expect(find('route.chat.completions.create')).toMatch(/^yes/);
  expect(find('route.videos.create')).toMatch(/^yes/);
  const hasGemini = gateway === 'new-api' || gateway === 'litellm';
  expect(find('route.generate.content')).toMatch(hasGemini ? /^yes/ : /^no/);
  expect(find('content-key')).toMatch(gateway === 'new-api' ? /^no/ : /^yes/);
});

test.each<{ quirks: EmulatorOptions['quirks']; row: string; result: RegExp }>([
  { quirks: { modelList: 'gemini' }, row: 'model-kinds', result: /"models"/ },
  { quirks: { modelList: 'anthropic' }, row: 'model-kinds', result: /types: 8 model,/ },
  { quirks: { modelList: 'failure' }, row: 'models', result: /^fail/ },
  { quirks: { requestIdHeader: false }, row: 'request-id', result: /^no/ },
  { quirks: { contentNeedsKey: true }, row: 'content-key', result: /^yes/ },
  { quirks: { accountRoutes: ['log'] }, row: 'prices', result: /^no/ },
  { quirks: { accountRoutes: ['pricing'] }, row: 'usage-log', result: /^no/ },
  { quirks: { accountRoutes: ['log'] }, row: 'credit', result: /^skip.*does not show the rem/ },
])('$quirks changes the row $row', async ({ quirks = {}, row, result }) => {
  expect(defaultQuirks).not.toMatchObject(quirks);
  expect((await rows()).find(row)).not.toMatch(result);
  expect((await rows({ quirks })).find(row)).toMatch(result);
});

test.each([
  [[], /^yes the key can read it$/],
  [['beta'], /no price, so that a budget needs perCall for them: beta$/],
  [['a', 'b', 'c', 'd', 'e', 'f', 'g'], /for them: a, b, c, d, e, and 2 more$/],
])('the row prices names the models without a price: %j', async (unpriced, result) => {
  const data = ['m-large', ...unpriced].map((id) => ({ id, object: 'model' }));

  const { find } = await rows({}, (emulator) => {
    for (let read = 0; read < 3; read += 1) {
      emulator.respondOnce('models.list', () => Response.json({ object: 'list', data }));
    }
  });

  expect(find('prices')).toMatch(result);
});

test('writes Markdown that says what was removed', async () => {
  const { code, stdout, emulator, server } = await report({ credit: 5_000_000 }, []);

  expect(code).toBe(0);
  expect(stdout).toMatch(/^### model-gateway doctor\n/);
  expect(stdout).toContain('| route.chat.completions.create | yes |');
  expect(stdout).toMatch(/Removed: .*host \(\d+\), amount \(1\)/);
  expect(stdout).not.toContain(emulator.apiKey);
  expect(stdout).not.toContain(new URL(server.url).hostname);
});

test('shows texts of the gateway literally', async () => {
  const id = 'm|\\|-chat <!-- <img src=x> @name #1 [x](javascript:alert(1)) `a` **b** www.c.d &lt;';
  const models = [{ ...defaultModels[0], id }];
  const { stdout } = await report({ models }, ['--spend', '1', '--yes']);
  const html = marked.parse(stdout.replaceAll(/```[^]*?```/g, ''), { async: false });

  expect(html).not.toMatch(/<img|<a |<strong|<!--/);
  // A backslash before a pipe would end the cell.
  const shown = id.replace('\\|', '|');
  const escaped = shown.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const lines = html.split('<tr>').filter((row) => row.includes('javascript'));
  expect(lines.length).toBeGreaterThan(1);
  for (const row of lines) {
    expect(row.match(/<td>/g)).toHaveLength(5);
    expect(row).toContain(escaped);
    expect(row.replaceAll(/<code>[^]*?<\/code>/g, '')).not.toContain('@name');
  }
});

test('removes keys, hosts and accounts that the gateway quotes', async () => {
  const secrets = [
    'sk-test…f00d',
    'private.example',
    'jane@corp.example',
    'org-4711',
    '0123456789abcdef01234567',
    '12.50 USD',
  ];
  const server = createServer((_, response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    const [key, host, ...others] = secrets;
    const message = `own-key ${key} http://${host}/u ${others.join(' ')}`;
    response.end(JSON.stringify({ error: { message } }));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const url = `http://127.0.0.1:${port}/tenant-9/v1`;
  const machine = new Machine({ url, key: 'own-key' });
  const { code, stdout } = await machine.run(['doctor', '--report', '--json']);

  expect(code).toBe(1);
  for (const secret of [...secrets, 'own-key', '127.0.0.1', String(port), 'tenant-9']) {
    expect(stdout).not.toContain(secret);
  }
  expect(stdout).toContain('[key] [key] [host]');
});

/** Returns the lines of a Markdown report that summarize it. */
const summaryOf = (markdown: string): string[] => (markdown.split('\n\n')[1] ?? '').split('\n');

describe('the summary', () => {
  test('the summary has five lines', async () => {
    const { stdout } = await report({ gateway: 'openrouter' }, []);

    expect(summaryOf(stdout)).toEqual([
      '- Result: no problems; no warnings',
      '- Gateway: openrouter, by the header x-generation-id; read as openrouter; server: not named',
      '- Models: 3 chat, 1 embedding, 1 image, 1 speech, 1 transcription, 1 video; types: 8 untyped, in the field "data"',
      '- Routes: 13 of 20 exist; missing: models.retrieve, generate.content, generate.contentStream, embeddings.createForEngine, rerank.create, audio.translations.create, videos.retrieveFromVendor',
      '- Calls: ` none; --spend <USD> makes a tiny call of each operation `',
    ]);
  });

  test('the summary names the first problem with its fix, and the calls that failed', async () => {
    const { machine, emulator } = await report();
    emulator.fail({
      operation: 'images.generate',
      fault: { type: 'error', status: 500, message: 'out of paint' },
      times: 99,
    });
    const failed = await machine.run(['doctor', '--spend', '1', '-y']);
    const wrong = await machine.run(['doctor', '--report'], '', { GATEWAY_API_KEY: 'sk-other' });

    const [result, , , , calls] = summaryOf(failed.stdout);
    expect(result).toBe(
      '- Result: 2 problems: image, image-stream; no warnings. First, ` 500 new_api_error: out of paint (request id: [id]) `',
    );
    expect(calls).toBe(
      '- Calls: 23 of 27 passed for $0.00519, and at most $0.004 that the gateway does not report; failed: image, image-stream; unsupported: embeddings-engine, embeddings-engine-base64',
    );
    expect(summaryOf(wrong.stdout)[0]).toBe(
      '- Result: 1 problem: key; no warnings. First, the key is not accepted (401). Check that it is complete and belongs to this gateway.',
    );
  });
});

/** A report with the same text in every place that may be a gateway's. */
const withTexts = (text: string): DoctorReport => ({
  version: 1,
  createdAt: text,
  client: text,
  runtime: text,
  rows: [
    { id: `x.${text}`, status: 'fail', detail: text, fix: text },
    { id: `route.${text}`, status: 'no', detail: text },
    {
      id: `call.${text}`,
      status: 'pass',
      detail: text,
      call: { model: text, atMostUSD: 0, milliseconds: 1 },
    },
  ],
  spend: { limitUSD: 1, chargedUSD: 0, unknownUSD: 0 },
  settings: { gateway: 'openai', options: {}, reasons: [text], code: text },
  removed: [{ name: text, times: 1 }],
});
/** Returns the marks of a page that make it HTML. */
const tags = (page: string): string => page.replaceAll(/[^<>"]/g, '');

describe('--html', () => {
  test('writes a page that loads nothing, shows every row, and contains neither key nor host', async () => {
    const id = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'&amp;';
    const emulator = createEmulator({ models: [{ ...defaultModels[0], id }] });
    const server = await emulator.listen();
    onTestFinished(() => server.close());
    const machine = new Machine({ url: server.url, key: emulator.apiKey });

    const { code, stdout } = await machine.run([
      'doctor',
      '--html',
      'a.html',
      '--report',
      'a.json',
      '--spend',
      '1',
      '-y',
    ]);
    const page = readFileSync(join(machine.folder, 'a.html'), 'utf8');
    const { rows: written } = reportSchema.parse(
      JSON.parse(readFileSync(join(machine.folder, 'a.json'), 'utf8')),
    );

    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x');
    expect(page.match(/<(script|img|link|iframe|a)\b|url\(|@import|http:|https:/g)).toBeNull();
    expect(page.match(/<tr>/g)).toHaveLength(written.length + 3);
    expect(page).not.toContain(emulator.apiKey);
    expect(page).not.toContain(new URL(server.url).host);
    expect(page).toContain('prefers-color-scheme:dark');
  });

  test('escapes any text', () => {
    const usual = tags(formatPage(withTexts('')));

    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(tags(formatPage(withTexts(text)))).toBe(usual);
      }),
    );
  });

  test('replaces a page only with --force, and no watch writes one', async () => {
    const { machine } = await report();
    await machine.run(['doctor', '--html', 'a.html']);
    const again = await machine.run(['doctor', '--html', 'a.html']);
    const forced = await machine.run(['doctor', '--html', 'a.html', '--force']);
    const watch = await machine.run(['doctor', '--html', 'b.html', '--watch', '1m']);

    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('a.html exists') });
    expect(forced.code).toBe(0);
    expect(watch).toMatchObject({ code: 2, stderr: expect.stringContaining('--html') });
  });
});

test('the published schema is the schema of the document', () => {
  const path = join(import.meta.dirname, '../../../dist/doctor-report.schema.json');

  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(z.toJSONSchema(reportSchema));
});

describe('--compare', () => {
  test('prints the rows that differ, and exits with 1', async () => {
    const { machine, emulator } = await report({}, ['a.json']);
    await machine.run(['doctor', '--report', 'same.json']);
    emulator.quirks.requestIdHeader = false;
    await machine.run(['doctor', '--report', 'b.json']);
    const same = await machine.run(['doctor', '--compare', 'a.json', 'same.json']);
    const other = await machine.run(['doctor', '--compare', 'a.json', 'b.json', '--json']);

    expect({ code: same.code, differences: JSON.parse(same.stdout) }).toEqual({
      code: 0,
      differences: [],
    });
    expect(other.code).toBe(1);
    expect(JSON.parse(other.stdout)).toContainEqual({
      id: 'request-id',
      before: 'yes x-oneapi-request-id',
      after: 'no responses have no request id',
      change: 'worse',
    });
  });

  test('requires two reports', async () => {
    const machine = new Machine();
    const one = await machine.run(['doctor', '--compare', 'a.json']);
    const missing = await machine.run(['doctor', '--compare', 'a.json', 'b.json']);

    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining('two reports') });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') });
  });
});
