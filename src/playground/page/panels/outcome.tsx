import type { JSX } from 'preact';
import type { CallView, Rival } from '../../protocol.ts';
import { hello } from '../state.ts';
import { sumCharges, count, clockTime, kindNames } from '../format.ts';
import { StatusPill } from '../parts.tsx';

/** One coin for each charge. */
function Coins({ number }: { number: number }): JSX.Element {
  return (
    <span class="coins" aria-hidden="true">
      {Array.from({ length: number }, (_, index) => (
        <i key={index} />
      ))}
    </span>
  );
}

function Side({
  title,
  note,
  charges,
  amount,
  requests,
  result,
  tone,
}: {
  title: string;
  note: string;
  charges: number | undefined;
  amount: number;
  requests: number;
  result: JSX.Element | string;
  tone: 'own' | 'rival';
}): JSX.Element {
  return (
    <section class={`side-of ${tone}`} aria-label={title}>
      <h2>
        {title} <span class="faint">{note}</span>
      </h2>
      <p class="big">
        {charges === undefined ? '…' : charges}
        <span>{charges === 1 ? 'charge' : 'charges'}</span>
        <Coins number={charges ?? 0} />
      </p>
      <p class="faint">
        {count(requests, 'request')}, {amount.toLocaleString('en')} units
      </p>
      <p class="told">{result}</p>
    </section>
  );
}

function lesson(call: CallView, rival: Rival): string {
  const { charges } = sumCharges(call);
  const saved = rival.charges - charges;
  const isWorse = saved < 0;
  if (saved > 0 && call.status === 'done')
    return `The same result, ${count(saved, 'charge')} saved.`;
  if (saved > 0) {
    return `${count(saved, 'charge')} saved. The error carries an outcome, so you decide whether to retry.`;
  }
  if (isWorse) return `${count(-saved, 'charge')} more here.`;
  if (charges > 1) {
    return 'Metered calls are retried by default, as in other SDKs, and both attempts are billed. Choose “never after an unknown outcome” to prevent this.';
  }
  if (rival.ended === 'waiting')
    return 'The same charge, but one side waits forever and the other throws an error.';
  if (rival.ended === 'answer' && call.status === 'failed') {
    return 'The same charge, but one side reports a success.';
  }
  if (charges === 0)
    return 'No charge on either side: each retries, or reports that a retry is safe.';
  return 'The same charge on both sides.';
}

/** A placeholder for the first outcome, which keeps the layout stable. */
export function NoOutcome(): JSX.Element {
  return (
    <article class="outcome">
      <p class="outcome-head">
        <strong>No charges yet</strong>
        <span class="faint">Choose a fault below and compare both sides.</span>
      </p>
      <div class="versus">
        <Side
          tone="own"
          title="model-gateway"
          note="measured"
          charges={0}
          amount={0}
          requests={0}
          result="Reports the outcome: not sent, rejected or unknown."
        />
        <Side
          tone="rival"
          title="openai’s rule"
          note="same call, same fault"
          charges={0}
          amount={0}
          requests={0}
          result="Retries after lost connections, time-outs, 408, 409, 429 and every 5xx."
        />
      </div>
      <p class="lesson">
        Try <em>Cut after the charge</em>: the work is done, the response is lost, and one side pays
        twice.
      </p>
    </article>
  );
}

/** The outcomes of a failed call with this client and with `openai`. */
export function Outcome({ call }: { call: CallView }): JSX.Element {
  const { charges, amount } = sumCharges(call);
  const { rival, problem, status } = call;
  const scenario = hello.value?.scenarios.find(({ name }) => name === call.fault);
  const isOver = status !== 'running' || call.kind === 'video';
  const ourResult =
    problem === undefined ? (
      status === 'running' ? (
        'Running…'
      ) : (
        'The answer'
      )
    ) : (
      <>
        <strong>{problem.name}</strong>, outcome <StatusPill call={call} /> {problem.advice}
      </>
    );
  return (
    <article class="outcome" aria-live="polite">
      <p class="outcome-head">
        <strong>{kindNames[call.kind]}</strong>
        <span>{scenario?.label ?? call.fault}</span>
        {call.strict === true ? <span class="pill">strict</span> : null}
        <span class="faint">{clockTime(call.startedAt)}</span>
      </p>
      <div class="versus">
        <Side
          tone="own"
          title="model-gateway"
          note="measured"
          charges={isOver ? charges : undefined}
          amount={amount}
          requests={call.attempts?.length ?? 0}
          result={ourResult}
        />
        <Side
          tone="rival"
          title="openai’s rule"
          note="same call, same fault"
          charges={rival?.charges}
          amount={rival?.amount ?? 0}
          requests={rival?.requests ?? 0}
          result={rival?.result ?? 'Running…'}
        />
      </div>
      <p class="lesson">{isOver && rival !== undefined ? lesson(call, rival) : ' '}</p>
    </article>
  );
}
