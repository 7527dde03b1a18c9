import type { JSX } from 'preact';
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { BooksRead, CallInput, CallKind, CallView, Rival } from '../../protocol.ts';
import { askBooks, order, steerClock } from '../api.ts';
import { chargesOf, clockTime, count, kindNames } from '../format.ts';
import {
  Choice,
  Empty,
  Heading,
  modelsFor,
  OrderProblem,
  ProblemBox,
  StatusPill,
} from '../parts.tsx';
import { recalled, remember } from '../route.ts';
import { books, hello, newest } from '../state.ts';

type Tried = 'image' | 'video' | 'chat';

const bodies: Readonly<Record<Tried, (model: string) => CallInput['body']>> = {
  image: (model) => ({ model, prompt: 'A lighthouse at dusk', size: '1024x1024' }),
  video: (model) => ({ model, prompt: 'A paper boat on a quiet lake', seconds: '4' }),
  chat: (model) => ({
    model,
    messages: [{ role: 'user', content: 'Why does light bend? Answer in two sentences.' }],
  }),
};

const fallbacks: Readonly<Record<Tried, string>> = {
  image: 'm-image',
  video: 'm-video',
  chat: 'm-large',
};

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
function NoOutcome(): JSX.Element {
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

function Outcome({ call }: { call: CallView }): JSX.Element {
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

function Totals({ runs }: { runs: readonly CallView[] }): JSX.Element {
  const own = runs.reduce((sum, call) => sum + chargesOf(call).charges, 0);
  const theirs = runs.reduce((sum, { rival }) => sum + (rival?.charges ?? 0), 0);
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label="What you have tried">
      <table>
        <caption>What you have tried</caption>
        <thead>
          <tr>
            <th>Time</th>
            <th>Call</th>
            <th>Fault</th>
            <th>Outcome</th>
            <th class="number">Charges</th>
            <th class="number">openai’s rule</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((call) => (
            <tr key={call.id}>
              <td>{clockTime(call.startedAt)}</td>
              <td>{kindNames[call.kind]}</td>
              <td>{hello.value?.scenarios.find(({ name }) => name === call.fault)?.label}</td>
              <td>
                <StatusPill call={call} />
              </td>
              <td class="number">{chargesOf(call).charges}</td>
              <td class="number">{call.rival?.charges ?? '…'}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th colSpan={4}>In all</th>
            <td class="number">{own}</td>
            <td class="number">{theirs}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function steer(what: Parameters<typeof steerClock>[0]): void {
  // The books tell what the clock does; a server that is lost has a line of its own.
  void steerClock(what).catch(() => {});
}

/** The time on which the emulator's videos move. */
export function Clock(): JSX.Element | null {
  const { clock } = books.value ?? {};
  if (hello.value?.isEmulator !== true || clock === undefined) return null;
  return (
    <div class="clock" role="group" aria-label="The emulator’s clock">
      <span class="faint">
        Clock {clock.held ? 'held' : clock.speed === 1 ? '' : `×${clock.speed}`}
      </span>
      <button type="button" class="quiet" onClick={() => steer({ hold: !clock.held })}>
        {clock.held ? 'Release' : 'Hold'}
      </button>
      <button type="button" class="quiet" onClick={() => steer({ advance: 5_000 })}>
        +5 s
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => steer({ speed: clock.speed === 1 ? 10 : 1 })}
      >
        {clock.speed === 1 ? '×10' : '×1'}
      </button>
    </div>
  );
}

function Faults(): JSX.Element {
  const kinds: readonly Tried[] = ['image', 'video', 'chat'];
  const kind = kinds.find((name) => name === recalled('call', 'image')) ?? 'image';
  const times = recalled('hits', 'one') === 'all' ? 3 : 1;
  const isStrict = recalled('rule', '') === 'strict';
  const [error, setError] = useState<unknown>();
  const run = async (fault: string): Promise<void> => {
    setError(undefined);
    remember('fault', fault);
    const body = bodies[kind](modelsFor(kind)[0] ?? fallbacks[kind]);
    const strict = kind === 'chat' && isStrict ? { strict: true } : {};
    document.querySelector('.outcome')?.scrollIntoView({ block: 'nearest' });
    await order({ kind, body, fault, times, ...strict }).catch(setError);
  };
  const scenarios = (hello.value?.scenarios ?? []).filter(({ kinds: fit }) => fit.includes(kind));
  const chosen = recalled('fault', '');
  return (
    <section class="card faults" aria-label="Break a call">
      <div class="row">
        <Choice<Tried>
          label="Break"
          value={kind}
          options={[
            ['image', 'an image'],
            ['video', 'a video'],
            ['chat', 'a chat'],
          ]}
          onChange={(value) => remember('call', value)}
        />
        <Choice
          label="The fault hits"
          value={times === 3 ? 'all' : 'one'}
          options={[
            ['one', 'the first request'],
            ['all', 'every request'],
          ]}
          onChange={(value) => remember('hits', value === 'all' ? 'all' : '')}
        />
        {kind === 'chat' ? (
          <Choice
            label="Metered calls"
            value={isStrict ? 'strict' : 'usual'}
            options={[
              ['usual', 'as usual'],
              ['strict', 'strict rule'],
            ]}
            onChange={(value) => remember('rule', value === 'strict' ? 'strict' : '')}
          />
        ) : null}
      </div>
      <ul class="fault-buttons">
        {scenarios.map(({ name, label, what }) => (
          <li key={name}>
            <button
              type="button"
              class={name === chosen ? 'fault chosen' : 'fault'}
              onClick={() => void run(name)}
            >
              <strong>{label}</strong>
              <span>{what}</span>
            </button>
          </li>
        ))}
      </ul>
      <OrderProblem error={error} />
    </section>
  );
}

/** What the gateway's own books say of the calls, once they were read. */
const read = signal<BooksRead | undefined>(undefined);

function RealLedger(): JSX.Element {
  const [error, setError] = useState<unknown>();
  const list = newest.value;
  const { lines = {}, problem } = read.value ?? {};
  const readBooks = async (): Promise<void> => {
    setError(undefined);
    try {
      read.value = await askBooks();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <p class="card">
        A real gateway cannot be told to fail: for the faults start{' '}
        <code>npx model-gateway playground --emulator</code>. Whether a call may have been charged
        is its outcome; what it was charged stands in the gateway’s books, if it opens them to the
        key.
      </p>
      {list.length === 0 ? (
        <Empty title="No calls yet">Make one in another panel.</Empty>
      ) : (
        <>
          <div class="row tight">
            <button type="button" onClick={() => void readBooks()}>
              Read the gateway’s books <span class="faint">free</span>
            </button>
            {read.value === undefined ? null : (
              <span class="small faint">
                They lag behind by seconds, and some gateways let them be read 20 times in 20
                minutes.
              </span>
            )}
          </div>
          <OrderProblem error={error} />
          {problem === undefined ? null : <ProblemBox problem={problem} />}
          <div class="table-wrap" tabIndex={0} role="region" aria-label="Calls and outcomes">
            <table>
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Call</th>
                  <th>Model</th>
                  <th>Outcome</th>
                  <th class="number">In the books</th>
                </tr>
              </thead>
              <tbody>
                {list.map((call) => (
                  <tr key={call.id}>
                    <td>{clockTime(call.startedAt)}</td>
                    <td>{kindNames[call.kind]}</td>
                    <td>{call.model}</td>
                    <td>
                      <StatusPill call={call} />
                    </td>
                    <td class="number">
                      {lines[call.requestId ?? call.problem?.requestId ?? ''] ?? '–'}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}

const triedKinds: readonly CallKind[] = ['image', 'video', 'chat'];

/** What a retry costs. */
export function Ledger(): JSX.Element {
  const isEmulator = hello.value?.isEmulator === true;
  const runs = newest.value.filter(
    ({ fault, kind }) => fault !== undefined && triedKinds.includes(kind),
  );
  const [latest] = runs;
  return (
    <>
      <Heading title="What a retry costs" aside={<Clock />}>
        {isEmulator ? (
          <>
            Break a call on purpose and read the books: what it was charged here, and what the same
            call costs by the rule of the <code>openai</code> package, which sends again whatever it
            cannot read.
          </>
        ) : (
          'What became of each call, and what the gateway has charged for it.'
        )}
      </Heading>
      {isEmulator ? (
        <>
          {latest === undefined ? <NoOutcome /> : <Outcome key={latest.id} call={latest} />}
          <Faults />
          {latest === undefined ? null : <Totals runs={runs} />}
        </>
      ) : (
        <RealLedger />
      )}
    </>
  );
}
