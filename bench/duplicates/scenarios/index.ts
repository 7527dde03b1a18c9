import { runAtMost, settleWithin } from '../../lib/limits.ts';
import { answerScenarios } from './answers.ts';
import { budgetScenarios } from './budget.ts';
import { commandScenarios } from './command.ts';
import { ledgerScenarios } from './ledger.ts';
import { optionScenarios } from './options.ts';
import type { Counts, Scenario } from './scenario.ts';
import { settleScenarios } from './settle.ts';
import type { ScenarioResult } from './table.ts';
import { tenantScenarios } from './tenants.ts';

const scenarios: readonly Scenario[] = [
  ...budgetScenarios,
  ...settleScenarios,
  ...tenantScenarios,
  ...answerScenarios,
  ...optionScenarios,
  ...ledgerScenarios,
  ...commandScenarios,
];

/** Time limit of a scenario, in milliseconds. */
const limit = 60_000;

async function formatCounts(run: () => Promise<Counts>): Promise<Counts | undefined> {
  const ending = await settleWithin(run(), limit);
  if (ending.how === 'threw') throw ending.error;
  return ending.how === 'returned' ? ending.value : undefined;
}

/** Plays every scenario, at most some at the same time, for this client alone or for its peers too. */
export function playAll(most: number, withPeers: boolean): Promise<ScenarioResult[]> {
  return runAtMost(most, scenarios, async ({ id, label, promise, isKept, ours, peers = {} }) => {
    const own = await formatCounts(ours);
    const others = await Promise.all(
      Object.entries(withPeers ? peers : {}).map(async ([name, run]) => {
        const counts = await formatCounts(run);
        return { package: name, ...(counts && { counts }) };
      }),
    );
    const packages = [{ package: 'model-gateway', ...(own && { counts: own }) }, ...others];
    return { id, label, promise, isKept: own !== undefined && isKept(own), packages };
  });
}

/** The broken promises of this client. */
export function scenarioProblems(results: readonly ScenarioResult[]): string[] {
  const broken = results.filter(({ isKept }) => !isKept);
  return broken.map(({ label, promise, packages: [own] }) => {
    const { requests, charges, notes } = own?.counts ?? {};
    return `${label}: promised ${promise}; ${JSON.stringify({ requests, charges, ...notes })}`;
  });
}
