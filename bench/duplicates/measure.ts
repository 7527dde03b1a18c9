import { settleWithin, type Ending } from '../lib/limits.ts';
import { AttemptCounter } from './attempts.ts';
import { FaultServer } from './fault-server.ts';
import type { Fault } from './faults.ts';
import type { Subject } from './subject.ts';

/** The result of one call under one fault. */
export interface Cell {
  readonly fault: Fault;
  readonly subject: Subject;
  /** Requests that the client began, whether or not they reached the server. */
  readonly attempts: number;
  /** Requests that the server received completely. */
  readonly requests: number;
  readonly charges: number;
  /** `time limit`: the call was still going on, so the counts are lower bounds. */
  readonly ended: Ending<unknown>['how'];
  /** The class of the error. */
  readonly error: string | undefined;
  /** The outcome that the error reports, if any. */
  readonly outcome: string | undefined;
}

/** The time-out that clients are given, in milliseconds: on the busiest machine a request arrives before. */
export const clientTimeout = 1_000;

/** Measures calls one fault after the other; under each fault all subjects run at the same time. */
export class Measurement {
  readonly #attempts = new AttemptCounter();
  readonly #limit: number;

  /** @param limit - How long one call may take, in milliseconds. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** One row of the table: subjects that cannot meet the fault are left out. */
  async row(fault: Fault, subjects: readonly Subject[]): Promise<Cell[]> {
    const meeting = subjects.flatMap((subject) => {
      const call = fault.on === 'stream' ? subject.stream : subject;
      const applies = fault.clientTimeout !== true || subject.takesTimeout !== false;
      return call === undefined || !applies ? [] : [{ subject, call }];
    });
    const prepared = await Promise.all(
      meeting.map(async (entry) => ({
        ...entry,
        server: await FaultServer.open(fault, entry.call.answer),
      })),
    );
    // All ports are taken before the first is given back, so none of these can be taken again.
    if (fault.at === 'port') await Promise.all(prepared.map(({ server }) => server.close()));
    return Promise.all(
      prepared.map(async ({ subject, call, server }) => {
        const timeout = fault.clientTimeout === true ? clientTimeout : undefined;
        const fetch = fault.clientFetch === true ? failingFetch : undefined;
        const target = { origin: server.origin, timeout, fetch };
        this.#attempts.reset(server.origin);
        const ending = await settleWithin(call.run(target), this.#limit);
        const { requests, charges } = server;
        const attempts = this.#attempts.of(server.origin);
        if (fault.at !== 'port') await server.close();
        return {
          fault,
          subject,
          attempts,
          requests,
          charges,
          ended: ending.how,
          error: ending.how === 'threw' ? errorName(ending.error) : undefined,
          outcome: ending.how === 'threw' ? readOutcome(ending.error) : undefined,
        };
      }),
    );
  }
}

/** Sends, and then throws like a report to an unreachable collector. */
export const failingFetch: typeof globalThis.fetch = async (input, init) => {
  await fetch(input, init);
  return fetch('http://collector.invalid');
};

/** Class names of errors say more than their `name`, which many leave at `Error`. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.constructor.name : String(error);
}

function readOutcome(error: unknown): string | undefined {
  return error instanceof Error && 'outcome' in error ? String(error.outcome) : undefined;
}
