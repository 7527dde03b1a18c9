import { createServer } from 'node:http';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';

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

describe('work that a test leaves', () => {
  const left: { go?: () => void; hasEnded?: Promise<void> } = {};

  test('work that a test leaves is begun', () => {
    const began = new Promise<void>((resolve) => (left.go = resolve));
    left.hasEnded = began.then(() => new Promise((resolve) => setTimeout(resolve, 1)));
  });

  test('work that a test leaves sets its timers in real time, whatever time of the next test is fake', async () => {
    vi.useFakeTimers();
    left.go?.();
    await left.hasEnded;
    expect(vi.getTimerCount()).toBe(0);
    // Its own are fake.
    setTimeout(() => {}, 1);
    expect(vi.getTimerCount()).toBe(1);
  });
});
