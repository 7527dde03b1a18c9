import type { Readable } from 'node:stream';
import { Miniflare } from 'miniflare';
import type { Report } from '../harness/check.ts';
import { bundle } from './bundle.ts';
import type { RunContext } from './context.ts';

/** Runs the checks in a worker of workerd. */
export async function runWorkerd({ running, signal }: RunContext, report: Report): Promise<void> {
  const { code, problems } = await bundle('worker.ts');
  if (problems.length > 0) throw new Error(`The bundle for workers ${problems.join(', ')}`);
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.js', contents: code }],
    compatibilityDate: '2026-07-01',
    // It writes a stack for every fault that it meets, and faults are what is tested.
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      stdout.resume();
      stderr.resume();
    },
  });
  try {
    const response = await worker.dispatchFetch('http://localhost/', {
      method: 'POST',
      body: JSON.stringify(running.world),
      signal,
    });
    if (response.body === null) throw new Error('The worker gave no answer');
    let pending = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
      const lines = (pending + decoder.decode(piece, { stream: true })).split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) report(line);
    }
  } finally {
    await worker.dispose();
  }
}
