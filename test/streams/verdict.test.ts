// The states of a stream and its verdict, without events.
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isEnding,
  isFinished,
  isOver,
  judge,
  nextState,
  type StreamSign,
  type StreamState,
  transitions,
} from '../../src/streams/verdict.ts';

const signs: readonly StreamSign[] = ['terminator', 'hollow', 'whole', 'error', 'settled'];
const harmless: readonly StreamSign[] = ['terminator', 'hollow', 'whole'];

const follow = (seen: readonly StreamSign[]): StreamState => seen.reduce(nextState, 'open');

/** Items with a finish reason, with whole tool calls but no finish reason, or cut. */
const proofs = fc.record({
  started: fc.boolean(),
  proves: fc.constantFrom('always', 'terminated', 'never'),
});
const toProof = ({ started, proves }: { started: boolean; proves: string }) => ({
  started,
  isFinished: (terminated: boolean) =>
    proves === 'always' || (proves === 'terminated' && terminated),
});

test('docs/wire.md has the table of transitions', () => {
  const text = readFileSync(new URL('../../docs/wire.md', import.meta.url), 'utf8');
  const [, section = ''] = /### The end of a stream\n(.*?)\n## /s.exec(text) ?? [];
  const [head = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  const table = rows.map(([state, ...cells]) => [
    state,
    Object.fromEntries(
      head
        .slice(1)
        .map((name, index) => [name, cells[index]])
        .filter(([name, cell]) => signs.some((sign) => sign === name) && cell !== ''),
    ),
  ]);

  expect(Object.fromEntries(table)).toEqual(transitions);
});

describe('a stream', () => {
  test('a stream is in the same state, in whatever order its signs have arrived', () => {
    fc.assert(
      fc.property(
        fc
          .subarray([...harmless])
          .chain((some) =>
            fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
          ),
        ([some, shuffled]) => {
          expect(follow(shuffled)).toBe(follow(some));
        },
      ),
    );
  });

  test('a stream that has failed is never over, and ends with its error', () => {
    const later = fc.array(fc.constantFrom(...signs));
    // After a complete response and its terminator, nothing is read.
    const earlier = fc.subarray([...harmless]).filter((some) => follow(some) !== 'done');
    fc.assert(
      fc.property(earlier, later, proofs, (before, after, proof) => {
        const state = follow([...before, 'error', ...after]);
        const isSettled = after.some((sign) => sign === 'terminator' || sign === 'settled');
        expect(state).toBe(isSettled ? 'thrown' : 'failed');
        if (state === 'failed') expect(isOver(state, toProof(proof))).toBe(false);
        expect(isEnding(state)).toBe(true);
      }),
    );
  });

  test('a stream is finished by a whole response, or by the proof of its items', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...harmless)), proofs, (seen, given) => {
        const state = follow(seen);
        const proof = toProof(given);
        const isTerminated = seen.includes('terminator') && !seen.includes('hollow');
        const expected = seen.includes('whole') || proof.isFinished(isTerminated);
        expect(isFinished(state, proof)).toBe(expected);
        expect(isOver(state, proof)).toBe(expected && seen.includes('terminator'));
      }),
    );
  });

  test('a stream has the verdict of its proof, else of how it ended', () => {
    const lasts = fc.constantFrom('whole', 'cut', 'torn');
    const ends = fc.record({ isBroken: fc.boolean(), endIsProof: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...harmless)),
        proofs,
        lasts,
        ends,
        (seen, given, last, end) => {
          const state = follow(seen);
          const proof = toProof(given);
          const isProven = isFinished(state, proof) && last !== 'torn';
          const isClean = !end.isBroken && last === 'whole';
          const bare = seen.includes('terminator') ? 'no_finish_reason' : 'no_terminator';
          const unproven = given.started ? bare : 'truncated';
          const clean = end.endIsProof ? 'complete' : unproven;
          const expected = isClean ? clean : 'truncated';
          expect(judge(state, proof, last, end.isBroken, end.endIsProof)).toBe(
            isProven ? 'complete' : expected,
          );
        },
      ),
    );
  });
});
