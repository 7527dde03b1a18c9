import { afterEach, beforeEach, expect, vi } from 'vitest';

/** Fakes time for every test of a file, takes chance out of pauses, and asserts that no timer is left. */
export function fakeWaitingTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });

  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
}
