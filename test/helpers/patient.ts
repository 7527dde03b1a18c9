/** For `vi.waitFor()` and `vi.waitUntil()`, whose own limit of a second is short on a busy machine. */
export const patient = { timeout: 20_000 };
