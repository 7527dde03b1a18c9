import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { BooksRead, CallKind, CallView, CallInput } from '../../protocol.ts';
import { askBooks, order } from '../api.ts';
import { hello, newest } from '../state.ts';
import { chargesOf, clockTime, kindNames } from '../format.ts';
import { recalled, remember } from '../route.ts';
import { Empty, Heading, OrderProblem, ProblemBox, StatusPill } from '../parts.tsx';
import { Choice, modelsFor } from '../fields.tsx';
import { Outcome, NoOutcome } from './outcome.tsx';
import { Clock } from './clock.tsx';

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

/** What became of each call on a real gateway. */
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
