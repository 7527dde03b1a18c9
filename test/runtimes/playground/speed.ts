import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { createEmulator } from 'model-gateway/testing';
import type { Checks } from './check.ts';
import { serve } from './served.ts';
import { Visit } from './visit.ts';

/** Pieces of a long answer. */
const pieces = 10_000;

/** The largest first load, in bytes of gzip. */
const firstLoad = 80 * 1024;

/** The longest that the page may work for one frame while an answer streams, in milliseconds. */
const longestFrame = 50;

const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm-large',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

function longAnswer(): Response {
  const encoder = new TextEncoder();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = '';
      for (let end = Math.min(pieces, sent + 50); sent < end; sent += 1) {
        text += event({ content: sent % 12 === 11 ? `word-${sent}.\n\n` : `word-${sent} ` }, null);
      }
      if (sent === pieces) text += `${event({}, 'stop')}data: [DONE]\n\n`;
      controller.enqueue(encoder.encode(text));
      if (sent === pieces) controller.close();
      await new Promise((resolve) => setTimeout(resolve, 15));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * How long each task of the pages' main threads ran, in milliseconds: all that is done for one frame is a
 * task. Time of other programs does not count.
 */
function readTasks(trace: Buffer): number[] {
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(trace.toString());
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(
      ({ name, ph, pid, tid }) =>
        /RunTask/.test(name) && ph === 'X' && threads.has(`${pid} ${tid}`),
    )
    .map(({ tdur = 0 }) => tdur / 1_000);
}

/** Load time of the page, and how smoothly it shows streams. */
export async function checkSpeed(checks: Checks, browser: Browser, shots: string): Promise<void> {
  const emulator = createEmulator();
  const gateway = await emulator.listen();
  const served = await serve(['--port', '0'], {
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: emulator.apiKey,
    XDG_STATE_HOME: shots,
  });
  try {
    await checks.check('first load: at most 80 KiB gzip, and nothing moves', async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const bodies: Promise<Buffer>[] = [];
      page.on('response', (answer) => {
        if (!new URL(answer.url()).pathname.startsWith('/api/')) bodies.push(answer.body());
      });
      await page.goto(served.url, { waitUntil: 'load' });
      await page.waitForSelector('main h1');
      const bytes = (await Promise.all(bodies)).reduce(
        (sum, body) => sum + gzipSync(body).length,
        0,
      );
      console.log(`  ${(bytes / 1024).toFixed(1)} KiB gzip`);
      assert.ok(bytes > 20_000 && bytes <= firstLoad, `${bytes} bytes`);
      await context.close();
      const visit = await Visit.open(browser, served.url, shots);
      await visit.page.waitForTimeout(500);
      const shifted = await visit.shifted();
      assert.ok(shifted < 0.02, `what is seen moved by ${shifted}`);
      await visit.close();
    });

    await checks.check(
      `${pieces} chunks: no frame takes longer than ${longestFrame} ms`,
      async () => {
        emulator.respondOnce('chat.completions.create', longAnswer);
        const visit = await Visit.open(browser, served.url, shots);
        const { page } = visit;
        await visit.go('Chat');
        await page.getByLabel('Message').fill('Go');
        await browser.startTracing(page, { categories: ['toplevel'] });
        await visit.press('Send');
        await page.locator('.turn .pill.done').waitFor({ timeout: 60_000 });
        const tasks = readTasks(await browser.stopTracing());
        const text = (await page.locator('.answered .prose').textContent()) ?? '';
        assert.ok(text.includes(`word-${pieces - 1}`), 'the last word is there');
        await visit.shot('chat-10000');
        await visit.close();
        const longest = Math.max(...tasks);
        console.log(`  ${tasks.length} tasks, the longest ${longest.toFixed(1)} ms`);
        assert.ok(tasks.length > 100 && longest <= longestFrame, `${longest} ms`);
      },
    );
  } finally {
    await served.end();
    await gateway.close();
  }
}
