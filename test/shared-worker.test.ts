import { createServer } from 'node:http';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});

test("fake time leaves out the timers of Node's own connections", async () => {
  const server = createServer((_, response) => response.end('fine')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  const { port } = Object(server.address());
  vi.useFakeTimers();
  setTimeout(() => {}, 1_000);

  for (const path of ['a', 'b']) {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`);
    expect(await response.text()).toBe('fine');
  }

  // The one above: a connection has one for its ticks, and one for the time that it is kept.
  expect(vi.getTimerCount()).toBe(1);
  vi.clearAllTimers();
});
