/** Milliseconds on a clock that never jumps: for elapsed times only. */
export function monotonicNow(): number {
  return performance.now();
}
