import type { JSX } from 'preact';
import type { CallView, Rival, RivalName } from '../../protocol.ts';
import { hello } from '../state.ts';
import { sumCharges, count, clockTime, kindNames, price, rivalNames } from '../format.ts';
import { StatusPill } from '../parts.tsx';
import { CallFoot } from './results.tsx';

/** Calls per day in the estimate of the cost. */
const dailyCalls = 1_000;

/** Returns the result of a call with another SDK. */
export const findRival = ({ rivals }: CallView, sdk: RivalName): Rival | undefined =>
  rivals?.find(({ name }) => name === sdk);

const cost = (units: number): string => price(units, hello.value?.unitsPerDollar);

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
        {count(requests, 'request')}, {cost(amount)}
      </p>
      <p class="told">{result}</p>
      <p class="a-day">
        A thousand such calls a day: <strong>{cost(amount * dailyCalls)}</strong>
      </p>
    </section>
  );
}

/** Describes the result of another SDK and its cost in one sentence. */
function describeRival({ requests, charges, amount, result }: Rival): string {
  const paid = charges === 0 ? 'nothing' : `${cost(amount)} for ${count(charges, 'charge')}`;
  return `After ${count(requests, 'request')}, the caller ${result}, and pays ${paid}.`;
}

function lesson(call: CallView, rival: Rival): string {
  const { charges, amount } = sumCharges(call);
  const saved = rival.charges - charges;
  const daily = cost(Math.abs(rival.amount - amount) * dailyCalls);
  if (saved > 0) {
    const sum = `${count(saved, 'charge')} saved: ${daily} a day for a thousand such calls.`;
    return call.status === 'done'
      ? `The same result, ${sum}`
      : `${sum} The caller decides whether to retry.`;
  }
  if (saved < 0)
    return `${count(-saved, 'charge')} more here: ${daily} a day for a thousand such calls.`;
  if (charges > 1) {
    return 'Metered calls are retried by default, as in other SDKs, and both attempts are billed. Choose “never after an unknown outcome” to prevent this.';
  }
  if (rival.ended === 'waiting')
    return 'The same charge, but one side waits without a time limit and the other throws an error.';
  if (rival.ended === 'answer' && call.status === 'failed') {
    return 'The same charge, but one side reports a success.';
  }
  if (charges === 0)
    return 'No charge on either side: each retries, or reports that a retry is safe.';
  return 'The same charge on both sides.';
}

/** A placeholder for the first outcome, which keeps the layout stable. */
export function NoOutcome({ sdk }: { sdk: RivalName }): JSX.Element {
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
          title={rivalNames[sdk]}
          note="same call, same fault"
          charges={0}
          amount={0}
          requests={0}
          result="Retries with its default options."
        />
      </div>
      <p class="lesson">
        Try <em>Cut after the charge</em>: the work is done, the response is lost, and one side pays
        twice.
      </p>
    </article>
  );
}

/** The outcomes of a failed call with this client and with another SDK. */
export function Outcome({ call, sdk }: { call: CallView; sdk: RivalName }): JSX.Element {
  const { charges, amount } = sumCharges(call);
  const { problem, status } = call;
  const rival = findRival(call, sdk);
  const scenario = hello.value?.scenarios.find(({ name }) => name === call.fault);
  const requests = call.attempts?.length ?? 0;
  const isOver = status !== 'running' || call.kind === 'video';
  const ourResult =
    problem === undefined ? (
      status === 'running' ? (
        'Running…'
      ) : (
        `After ${count(requests, 'request')}, the caller receives the answer.`
      )
    ) : (
      <>
        <strong>{problem.name}</strong>, outcome <StatusPill call={call} /> {problem.advice}
      </>
    );
  return (
    <article class="outcome">
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
          requests={requests}
          result={ourResult}
        />
        <Side
          tone="rival"
          title={rivalNames[sdk]}
          note="its defaults, same call, same fault"
          charges={call.rivals === undefined ? undefined : (rival?.charges ?? 0)}
          amount={rival?.amount ?? 0}
          requests={rival?.requests ?? 0}
          result={
            rival !== undefined
              ? describeRival(rival)
              : call.rivals === undefined
                ? 'Running…'
                : `Has no ${kindNames[call.kind].toLowerCase()} calls.`
          }
        />
      </div>
      <p class="lesson" aria-live="polite">
        {isOver && rival !== undefined ? lesson(call, rival) : ' '}
      </p>
      <CallFoot call={call} />
    </article>
  );
}
