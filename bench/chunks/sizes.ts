/** Bytes per network chunk: one event, a packet, and a full buffer with many events. */
export const sizes = [170, 1_400, 65_536] as const;
