import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError, type Settlement } from '../lib/model-gateway.ts';
import { formatTable } from '../lib/table.ts';
import { FaultServer } from './fault-server.ts';
import type { Fault } from './faults.ts';
import { clientTimeout, failingFetch } from './measure.ts';
import { connect, type Job, jobs } from './subjects/model-gateway.ts';

/** What the gateway's books told of one call that went wrong. */
export interface SettledCall {
  readonly fault: Fault;
  readonly call: string;
  /** Whether the answers of the service bear the ids of their requests. */
  readonly namesRequests: boolean;
  /** Whether the error of the call had one. */
  readonly isNamed: boolean;
  readonly charges: number;
  readonly verdict: Settlement['verdict'];
}

/** Makes one call under a fault, and asks the books afterwards. */
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
    // The books lag behind.
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

/** Settles every fault of every charged call, by a client that is alone on its key. */
export async function settleAll(faults: readonly Fault[]): Promise<SettledCall[]> {
  const failing = faults.filter(({ verdict }) => verdict !== 'answered');
  const settled = failing.flatMap((fault) =>
    jobs.flatMap((job) => [true, false].map((isNamed) => settleOne(fault, job, isNamed))),
  );
  return (await Promise.all(settled)).flat();
}

/** The share of the calls with a line in the books of which it was told that they were charged. */
export function shareOf(calls: readonly SettledCall[], isNamed: boolean): number {
  const withLine = calls.filter((call) => call.charges > 0 && call.isNamed === isNamed);
  return withLine.filter(({ verdict }) => verdict !== 'unknowable').length / withLine.length;
}

function isWrong({ verdict, charges }: SettledCall): boolean {
  // This service gives nothing back.
  if (verdict === 'refunded') return true;
  return verdict === 'charged' ? charges === 0 : verdict === 'not_charged' && charges > 0;
}

/** What breaks the promise of `settle`: a wrong verdict, or too few. */
export function settleProblems(calls: readonly SettledCall[]): string[] {
  const wrong = calls
    .filter(isWrong)
    .map(({ call, fault, verdict }) => `settle() says ${verdict} of ${call}, ${fault.label}`);
  const few = (
    [
      [true, 0.9],
      [false, 0.6],
    ] as const
  ).flatMap(([isNamed, least]) => {
    const share = shareOf(calls, isNamed);
    const how = isNamed ? 'with the request id' : 'without it';
    return share >= least ? [] : [`settle() tells ${share} of what was charged, ${how}`];
  });
  return [...wrong, ...few];
}

/** The verdicts on some calls, each once. */
export function verdictsOf(calls: readonly SettledCall[]): Settlement['verdict'][] {
  return [...new Set(calls.map(({ verdict }) => verdict))];
}

/** For each fault what `settle` finds, over all charged calls. */
export function settleTable(calls: readonly SettledCall[]): string {
  const faults = [...new Set(calls.map(({ fault }) => fault))];
  const found = (fault: Fault, namesRequests: boolean): string => {
    const own = calls.filter(
      (call) => call.fault === fault && call.namesRequests === namesRequests,
    );
    return verdictsOf(own)
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
  const percent = (isNamed: boolean): string => `${Math.round(shareOf(calls, isNamed) * 100)} %`;
  const wrong = calls.filter(isWrong).length;
  return `${table}\n\nWrong verdicts: ${wrong}. Told of what is in the books: ${percent(true)} with the request id, ${percent(false)} without it, by a client that is alone on its key.`;
}
