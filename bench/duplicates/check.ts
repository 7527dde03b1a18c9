import type { Cell } from './measure.ts';

/**
 * What in our own cells breaks a promise: a call that can pay twice, a retry where nobody knows the
 * outcome, an error that says something wrong, or a call that does not work at all.
 */
export function problemsOf(cells: readonly Cell[]): string[] {
  return cells
    .filter(({ subject }) => subject.package === 'model-gateway')
    .flatMap((cell) =>
      brokenPromises(cell).map(
        (problem) =>
          `${cell.subject.call}${cell.subject.options === undefined ? '' : ` (${cell.subject.options})`}, ` +
          `${cell.fault.label}: ${problem}`,
      ),
    );
}

function brokenPromises(cell: Cell): string[] {
  const { fault, subject, attempts, requests, charges, ended, outcome } = cell;
  const strict = subject.pays === 'job' || subject.options !== undefined;
  const claims: readonly (readonly [boolean, string])[] = [
    [ended !== 'time limit', 'did not end in time'],
    [!strict || charges <= 1, `charged ${charges} times`],
    [
      !strict || fault.verdict !== 'unknown' || attempts === 1,
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
