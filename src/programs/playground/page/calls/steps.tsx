import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallStep, CallView } from '../../protocol.ts';
import { hello } from '../state.ts';
import { count, dollars, duration, price, sumCharges } from '../format.ts';

/** Returns the current time, updated twice a second while needed. */
export function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isNeeded) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now;
}

/** Describes the wait for the next attempt. */
function describeWait({ retry, until = 0 }: CallStep, now: number): string {
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  const number = retry === undefined ? '' : ` (${retry.number} of ${retry.most})`;
  return `next attempt in ${seconds} s${number}`;
}

/** Returns the reason and the rest of the current wait; `undefined` if the call is not waiting. */
export function useWait({ steps = [], status }: CallView): string | undefined {
  const last = steps.at(-1);
  const isWaiting = status === 'running' && last?.type === 'waiting';
  const now = useNow(isWaiting);
  if (!isWaiting || last === undefined) return undefined;
  const { status: reason = 'no response' } = steps.at(-2) ?? {};
  return `${reason}, ${describeWait(last, now)}`;
}

function describeStep({ status, steps = [] }: CallView, step: CallStep, index: number): string {
  const next = steps[index + 1];
  switch (step.type) {
    case 'sent':
      return steps.slice(0, index).some(({ type }) => type === 'sent') ? 'sent again' : 'sent';
    case 'answered':
    case 'failed':
      if (step.status !== undefined) return String(step.status);
      return next === undefined && status === 'stopped' ? 'stopped' : 'no response';
    case 'waiting':
      if (next !== undefined) return `waited ${duration(next.at - step.at)}`;
      return status === 'running' ? 'waiting' : 'stopped';
    case 'first-token':
      return 'first token';
  }
}

/** Returns what is known about the charge of a call that ended, in a few words. */
function describeCharge(call: CallView): string | undefined {
  const { status, problem, attempts, cost } = call;
  if (status === 'running') return undefined;
  if (hello.value?.isEmulator === true && attempts !== undefined) {
    const { charges, amount } = sumCharges(call);
    if (charges === 0) return 'not charged';
    return `${count(charges, 'charge')}, ${price(amount, hello.value.unitsPerDollar)}`;
  }
  if (problem?.outcome === undefined) {
    const amount = cost === undefined ? '' : ` ${dollars(cost)}`;
    return status === 'done' ? `charged${amount}` : undefined;
  }
  return problem.outcome === 'unknown' ? 'may be charged' : 'not charged';
}

/** What happened in a call, in order: sent, 429, waited, sent again, first token, charged. */
export function Steps({ call }: { call: CallView }): JSX.Element | null {
  const { steps = [] } = call;
  const wait = useWait(call);
  if (steps.length === 0) return null;
  const all = steps.map((step, index) => describeStep(call, step, index));
  if (wait !== undefined) all[all.length - 1] = wait.replace(/^.*?, /, '');
  const charge = describeCharge(call);
  return (
    <ol class="steps" aria-label="What happened">
      {[...all, ...(charge === undefined ? [] : [charge])].map((text, index) => (
        <li key={index}>{text}</li>
      ))}
    </ol>
  );
}
