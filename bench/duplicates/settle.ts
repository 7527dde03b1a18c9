import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError, type Settlement } from '../lib/model-gateway.ts';
import { formatTable } from '../lib/table.ts';
import { FaultServer } from './fault-server.ts';
import type { Fault } from './faults.ts';
import { clientTimeout, failingFetch } from './measure.ts';
import { connect, type Job, jobs } from './subjects/model-gateway.ts';

/** The verdict on one failed call. */
export interface SettledCall {
  readonly fault: Fault;
  readonly call: string;
  /** `true` if responses of the service have a request id. */
  readonly namesRequests: boolean;
  /** `true` if the error of the call has a request id. */
  readonly isNamed: boolean;
  readonly charges: number;
  readonly verdict: Settlement['verdict'];
}

/** Makes a call under a fault, and then settles it. */
async function settleOne(
  fault: Fault,
  { call, ...whole }: Job,
  namesRequests: boolean,
): Promise<SettledCall[]> {
  const job = fault.on === 'stream' ? whole.stream : whole;
  if (job === undefined) return [];
  const server = await FaultServer.open(fault, job.answer);
  server.namesRequests = namesRequests;
  if (fault.at === 'port') await server.close();
  const timeout = fault.clientTimeout === true ? clientTimeout : undefined;
  const fetch = fault.clientFetch === true ? failingFetch : undefined;
  const client = connect({ origin: server.origin, timeout, fetch });
  try {
    await job.run(client);
    return [];
  } catch (error) {
    if (!GatewayError.isInstance(error)) throw error;
    server.heal();
    // The usage log is delayed.
    await pause(2 * FaultServer.lag);
    const reader = client.withOptions({ fetch: undefined, timeout: undefined });
    const { verdict } = await reader.account.settle(error);
    const isNamed = error.evidence.attempts.some(({ requestId }) => requestId !== undefined);
    const { charges } = server;
    return [{ fault, call, namesRequests, isNamed, charges, verdict }];
  } finally {
    if (fault.at !== 'port') await server.close();
  }
}

/** Settles every fault of every charged call. */
export async function settleAll(faults: readonly Fault[]): Promise<SettledCall[]> {
  const failing = faults.filter(({ verdict }) => verdict !== 'answered');
  const settled = failing.flatMap((fault) =>
    jobs.flatMap((job) => [true, false].map((isNamed) => settleOne(fault, job, isNamed))),
  );
  return (await Promise.all(settled)).flat();
}

/** The share of the charged calls with a request id whose charge was found. */
function foundShare(calls: readonly SettledCall[]): number {
  const named = calls.filter(({ charges, isNamed }) => charges > 0 && isNamed);
  return named.filter(({ verdict }) => verdict !== 'unknowable').length / named.length;
}

/** Returns `true` for a verdict that is wrong, or not proven by a request id. */
function isWrong({ verdict, charges, isNamed }: SettledCall): boolean {
  // This service refunds nothing.
  if (verdict === 'refunded') return true;
  if (verdict !== 'unknowable' && !isNamed) return true;
  return verdict === 'charged' ? charges === 0 : verdict === 'not_charged' && charges > 0;
}

/** Returns the broken promises of `settle`: wrong verdicts, or too few. */
export function settleProblems(calls: readonly SettledCall[]): string[] {
  const wrong = calls
    .filter(isWrong)
    .map(({ call, fault, verdict }) => `settle() says ${verdict} of ${call}, ${fault.label}`);
  const share = foundShare(calls);
  const few = share >= 0.9 ? [] : [`settle() finds ${share} of the charges with a request id`];
  return [...wrong, ...few];
}

/** The verdicts on some calls, each once. */
export function listVerdicts(calls: readonly SettledCall[]): Settlement['verdict'][] {
  return [...new Set(calls.map(({ verdict }) => verdict))];
}

/** For each fault what `settle` finds, over all charged calls. */
export function settleTable(calls: readonly SettledCall[]): string {
  const faults = [...new Set(calls.map(({ fault }) => fault))];
  const found = (fault: Fault, namesRequests: boolean): string => {
    const own = calls.filter(
      (call) => call.fault === fault && call.namesRequests === namesRequests,
    );
    return listVerdicts(own)
      .map((word) => `${word} ${own.filter(({ verdict }) => verdict === word).length}`)
      .join(', ');
  };
  const table = formatTable(
    [
      { heading: 'account.settle()', align: 'left' },
      { heading: 'charged', align: 'right' },
      { heading: 'answers name\ntheir request', align: 'left' },
      { heading: 'they do not', align: 'left' },
    ],
    faults.map((fault) => [
      fault.label,
      fault.charged ? 'yes' : 'no',
      found(fault, true),
      found(fault, false),
    ]),
  );
  const wrong = calls.filter(isWrong).length;
  const share = Math.round(foundShare(calls) * 100);
  return `${table}\n\nWrong verdicts: ${wrong}. Charges found with a request id: ${share} %; without one every verdict is unknowable.`;
}
