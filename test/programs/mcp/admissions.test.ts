import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { breakDisk } from '../../helpers/faults.ts';
import { takesSome } from '../../helpers/some-cases.ts';
import { image, McpMachine, McpProcess } from './run.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../../helpers/kill-at-step.ts')).href;
const price = ['--price', 'm-image=1'];
const other = { ...image, prompt: 'A harbour at dawn' };

/** What a server did before it was killed. */
interface Killed {
  /** `true` if it ended before the step. */
  readonly isAlive: boolean;
  /** `true` if it had started the process of the call, which may send the request then. */
  readonly hasStarted: boolean;
}

/** Lets a server make a call, and kills it at a step of the admission. */
async function callAndKill(machine: McpMachine, args: string[], at: number): Promise<Killed> {
  const log = join(machine.machine.folder, 'steps');
  const env = { KILL_AT: String(at), KILL_LOG: log, NODE_NO_WARNINGS: '1' };
  const server = await McpProcess.start(
    machine.spawn([...price, ...args], env, ['--import', preload]),
  ).catch(() => undefined);
  const made = await server?.call('create_image', image).catch(() => undefined);
  await server?.end();
  const steps = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  const hasStarted = steps.includes('after spawn');
  return { isAlive: made !== undefined, hasStarted };
}

/** Kills a server at every step of an admission. Returns the number of kills. */
async function atEveryStep(story: (at: number) => Promise<Killed>): Promise<number> {
  for (let at = 1; ; at += takesSome ? 3 : 1) {
    const { isAlive } = await story(at).catch((cause: unknown) => {
      throw new Error(`Killed at step ${at}`, { cause });
    });
    if (isAlive) return at - 1;
  }
}

describe('a server that is killed while it admits a call', () => {
  test('a server that is killed while it admits a call does not let the next one pass a daily budget that is used up', async () => {
    const day = ['--daily-budget', '1'];
    const kills = await atEveryStep(async (at) => {
      const machine = await McpMachine.open();
      const session = await machine.connect([...price, ...day]);
      await session.call('create_image', other);

      const killed = await callAndKill(machine, day, at);
      const repeated = await session.call('create_image', image);

      expect(repeated.text).toContain('of the budget of today ($1) is left');
      expect(machine.charges).toBe(1);
      await session.end();
      return killed;
    });
    expect(kills).toBeGreaterThan(10);
  });

  test('a server that is killed while it admits a call does not let the next one pass its own budget', async () => {
    const kills = await atEveryStep(async (at) => {
      const machine = await McpMachine.open();
      const session = await machine.connect([...price, '--budget', '1']);
      await session.call('create_image', other);

      const killed = await callAndKill(machine, [], at);
      const repeated = await session.call('create_image', image);

      if (!killed.hasStarted) expect(repeated.text).toContain('of the budget of this server');
      expect(machine.charges).toBeLessThanOrEqual(killed.hasStarted ? 2 : 1);
      await session.end();
      return killed;
    });
    expect(kills).toBeGreaterThan(10);
  });

  test('a server that is killed while it admits a call uses up a budget only if its call is made', async () => {
    const day = ['--daily-budget', '1'];
    const kills = await atEveryStep(async (at) => {
      const machine = await McpMachine.open();

      const killed = await callAndKill(machine, day, at);
      const session = await machine.connect([...price, ...day]);
      const results = [
        await session.call('create_image', other),
        await session.call('create_image', image),
      ];

      expect(results.filter(({ state }) => state === 'done')).toHaveLength(1);
      expect(machine.charges).toBe(1);
      await session.end();
      return killed;
    });
    expect(kills).toBeGreaterThan(10);
  });
});

describe('a disk', () => {
  test.each([
    { moment: 'before', isLasting: false },
    { moment: 'after', isLasting: false },
    { moment: 'before', isLasting: true },
    { moment: 'after', isLasting: true },
  ] as const)(
    'a disk that fails $moment a step, lasting: $isLasting, lets no call pass a budget',
    async (fault) => {
      const faults = breakDisk();
      for (let step = 1, isReached = true; isReached; step += takesSome ? 9 : 3) {
        const machine = await McpMachine.open();
        const session = await machine.connect([
          ...price,
          '--daily-budget',
          '1',
          '--inline',
          'none',
        ]);
        isReached = await faults.during({ ...fault, step }, () =>
          session.call('create_image', image).catch(() => undefined),
        );
        await session.call('create_image', other);
        const repeated = await session.call('create_image', image);

        expect([step, machine.charges, repeated.state ?? repeated.text]).toEqual([
          step,
          1,
          expect.any(String),
        ]);
        await session.end();
      }
    },
  );
});
