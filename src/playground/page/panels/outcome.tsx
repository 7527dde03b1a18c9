import type { JSX } from 'preact';
import type { CallView, Rival } from '../../protocol.ts';
import { hello } from '../state.ts';
import { chargesOf, count, clockTime, kindNames } from '../format.ts';
import { StatusPill } from '../parts.tsx';

/** Coins, one for each charge. */
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
  told,
  tone,
}: {
  title: string;
  note: string;
  charges: number | undefined;
  amount: number;
  requests: number;
  told: JSX.Element | string;
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
      <p class="told">{told}</p>
    </section>
  );
}

function lesson(call: CallView, rival: Rival): string {
  const { charges } = chargesOf(call);
  const saved = rival.charges - charges;
  const isWorse = saved < 0;
  if (saved > 0 && call.status === 'done')
    return `The same result for ${count(saved, 'charge')} less.`;
  if (saved > 0) {
    return `${count(saved, 'charge')} less. The call ends with an outcome, and you decide what comes next.`;
  }
  if (isWorse) return `${count(-saved, 'charge')} more here.`;
  if (charges > 1) {
    return 'Metered calls are repeated as everybody does, and both are billed. Choose the strict rule to forbid it.';
  }
  if (rival.ended === 'waiting')
    return 'The same charge; one of the two waits for ever, and one tells you.';
  if (rival.ended === 'answer' && call.status === 'failed') {
    return 'The same charge; one of the two calls it a success.';
  }
  if (charges === 0)
    return 'No charge on either side: repeating is safe here, and both do it or say so.';
  return 'The same charge on both sides.';
}

/** The place of the outcome before there is one, so that nothing moves when it comes. */
export function NoOutcome(): JSX.Element {
  return (
    <article class="outcome">
      <p class="outcome-head">
        <strong>The books are empty</strong>
        <span class="faint">Press a fault below and watch both sides.</span>
      </p>
      <div class="versus">
        <Side
          tone="own"
          title="model-gateway"
          note="measured"
          charges={0}
          amount={0}
          requests={0}
          told="Tells you what is known: not sent, rejected or unknown."
        />
        <Side
          tone="rival"
          title="openai’s rule"
          note="same call, same fault"
          charges={0}
          amount={0}
          requests={0}
          told="Sends again after lost connections, time-outs, 408, 409, 429 and every 5xx."
        />
      </div>
      <p class="lesson">
        Try <em>Cut after the charge</em>: the work is done, the answer is lost, and one side pays
        twice.
      </p>
    </article>
  );
}

/** Both sides of one broken call. */
export function Outcome({ call }: { call: CallView }): JSX.Element {
  const { charges, amount } = chargesOf(call);
  const { rival, problem, status } = call;
  const scenario = hello.value?.scenarios.find(({ name }) => name === call.fault);
  const isOver = status !== 'running' || call.kind === 'video';
  const ownTold =
    problem === undefined ? (
      status === 'running' ? (
        'Under way…'
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
          told={ownTold}
        />
        <Side
          tone="rival"
          title="openai’s rule"
          note="same call, same fault"
          charges={rival?.charges}
          amount={rival?.amount ?? 0}
          requests={rival?.requests ?? 0}
          told={rival?.told ?? 'Under way…'}
        />
      </div>
      <p class="lesson">{isOver && rival !== undefined ? lesson(call, rival) : ' '}</p>
    </article>
  );
}
