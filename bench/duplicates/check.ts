import type { Cell } from './measure.ts';

/**
 * Finds broken promises of this client: a call that can pay twice, a retry after an unknown outcome, an error
 * with a wrong outcome, or a call that fails without a fault.
 */
export function findProblems(cells: readonly Cell[]): string[] {
  return cells
    .filter(({ subject }) => subject.package === 'model-gateway')
    .flatMap((cell) => {
      const { call, ...subject } = cell.subject;
      const details = [subject.gateway, subject.options].filter((detail) => detail !== undefined);
      return brokenPromises(cell).map(
        (problem) => `${call} (${details.join(', ')}), ${cell.fault.label}: ${problem}`,
      );
    });
}

function brokenPromises(cell: Cell): string[] {
  const { fault, subject, attempts, requests, charges, ended, outcome } = cell;
  const strict = subject.pays === 'job' || subject.options !== undefined;
  const claims: readonly (readonly [boolean, string])[] = [
    [ended !== 'time limit', 'did not end in time'],
    [!strict || charges <= 1, `charged ${charges} times`],
    [
      (!strict && fault.clientTimeout !== true) || fault.verdict !== 'unknown' || attempts === 1,
      `sent ${attempts} times although the outcome was unknown`,
    ],
    [
      fault.at !== 'request' || requests > 0,
      'no request reached the server, so the row proves nothing',
    ],
    [!fault.answerBegan || requests === 1, `sent ${requests} times although an answer had begun`],
    [
      fault.verdict === 'answered'
        ? ended === 'returned'
        : ended === 'threw' && outcome === fault.verdict,
      `${ended}, outcome ${String(outcome)} (${cell.error ?? 'no error'})`,
    ],
  ];
  return claims.flatMap(([holds, problem]) => (holds ? [] : [problem]));
}
