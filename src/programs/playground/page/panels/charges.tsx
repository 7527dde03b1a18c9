import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { UsageLog, CallKind, CallView, CallInput, RivalName } from '../../protocol.ts';
import { fetchUsageLog } from '../api.ts';
import { hello, newest } from '../state.ts';
import { sumCharges, clockTime, dollars, kindNames, rivalNames } from '../format.ts';
import { recalled, remember } from '../route.ts';
import { Empty, Heading, StartProblem, ProblemBox, StatusPill } from '../parts.tsx';
import { Choice, modelsFor } from '../fields.tsx';
import { startCall, starts, useStart } from '../calls/start.tsx';
import { Outcome, NoOutcome, findRival } from './outcome.tsx';
import { Clock } from './clock.tsx';

type DemoKind = 'image' | 'video' | 'chat';

const demoKinds: readonly DemoKind[] = ['image', 'video', 'chat'];

const bodies: Readonly<Record<DemoKind, (model: string) => CallInput['body']>> = {
  image: (model) => ({ model, prompt: 'A lighthouse at dusk', size: '1024x1024' }),
  video: (model) => ({ model, prompt: 'A paper boat on a quiet lake', seconds: '4' }),
  chat: (model) => ({
    model,
    messages: [{ role: 'user', content: 'Why does light bend? Answer in two sentences.' }],
  }),
};

const fallbacks: Readonly<Record<DemoKind, string>> = {
  image: 'm-image',
  video: 'm-video',
  chat: 'm-large',
};

/** Returns the SDKs that have this kind of call. */
const rivalsFor = (kind: CallKind): RivalName[] =>
  (hello.value?.rivals ?? []).flatMap(({ name, kinds }) => (kinds.includes(kind) ? [name] : []));

/** Returns the kind of call that is broken on purpose, from the address. */
const chosenKind = (): DemoKind =>
  demoKinds.find((name) => name === recalled('call', 'image')) ?? 'image';

/** Returns the SDK to compare with, from the address. */
function chosenRival(): RivalName {
  const names = rivalsFor(chosenKind());
  return names.find((name) => name === recalled('sdk', 'openai')) ?? 'openai';
}

function Totals({ runs, sdk }: { runs: readonly CallView[]; sdk: RivalName }): JSX.Element {
  const ours = runs.reduce((sum, call) => sum + sumCharges(call).charges, 0);
  const theirs = runs.reduce((sum, call) => sum + (findRival(call, sdk)?.charges ?? 0), 0);
  return (
    <div class="table-wrap" tabIndex={0} role="region" aria-label="Your calls">
      <table>
        <caption>Your calls</caption>
        <thead>
          <tr>
            <th>Time</th>
            <th>Call</th>
            <th>Fault</th>
            <th>Outcome</th>
            <th class="number">Charges</th>
            <th class="number">{rivalNames[sdk]}</th>
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
              <td class="number">{sumCharges(call).charges}</td>
              <td class="number">
                {call.rivals === undefined ? '…' : (findRival(call, sdk)?.charges ?? '–')}
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th colSpan={4}>Total</th>
            <td class="number">{ours}</td>
            <td class="number">{theirs}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Faults(): JSX.Element {
  const kind = chosenKind();
  const times = recalled('hits', 'one') === 'all' ? 3 : 1;
  const isStrict = recalled('rule', '') === 'strict';
  const { start, notice } = useStart();
  const run = (fault: string): void => {
    const body = bodies[kind](modelsFor(kind)[0] ?? fallbacks[kind]);
    const strict = kind === 'chat' && isStrict ? { strict: true } : {};
    void start(() => {
      remember('fault', fault);
      document.querySelector('.outcome')?.scrollIntoView({ block: 'nearest' });
      return startCall({ kind, body, fault, times, ...strict });
    });
  };
  const scenarios = (hello.value?.scenarios ?? []).filter(({ kinds: fit }) => fit.includes(kind));
  const chosen = recalled('fault', '');
  return (
    <section class="card faults" aria-label="Break a call">
      <div class="row">
        <Choice<DemoKind>
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
        <Choice<RivalName>
          label="Compare with"
          value={chosenRival()}
          options={rivalsFor(kind).map((name) => [name, rivalNames[name]])}
          onChange={(value) => remember('sdk', value === 'openai' ? '' : value)}
        />
        {kind === 'chat' ? (
          <Choice
            label="Retry metered calls"
            value={isStrict ? 'strict' : 'usual'}
            options={[
              ['usual', 'default'],
              ['strict', 'never after an unknown outcome'],
            ]}
            onChange={(value) => remember('rule', value === 'strict' ? 'strict' : '')}
          />
        ) : null}
      </div>
      <ul class="fault-buttons">
        {scenarios.map(({ name, label, description }) => (
          <li key={name}>
            <button
              type="button"
              class={name === chosen ? 'fault chosen' : 'fault'}
              {...starts}
              onClick={() => run(name)}
            >
              <strong>{label}</strong>
              <span>{description}</span>
            </button>
          </li>
        ))}
      </ul>
      {notice}
    </section>
  );
}

/** The gateway's usage log, once it was read. */
const usageLog = signal<UsageLog | undefined>(undefined);

/** The outcome of each call on a real gateway. */
function RealCharges(): JSX.Element {
  const [error, setError] = useState<unknown>();
  const list = newest.value;
  const { charges = {}, problem } = usageLog.value ?? {};
  const readLog = async (): Promise<void> => {
    setError(undefined);
    try {
      usageLog.value = await fetchUsageLog();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <p class="card">
        Faults need the emulator: <code>npx model-gateway playground --emulator</code>. The outcome
        says whether a call may have been charged; the gateway’s usage log says how much, if the key
        may read it.
      </p>
      {list.length === 0 ? (
        <Empty title="No calls yet">Make a call in another panel.</Empty>
      ) : (
        <>
          <div class="row tight">
            <button type="button" onClick={() => void readLog()}>
              Read the usage log <span class="faint">free</span>
            </button>
            {usageLog.value === undefined ? null : (
              <span class="small faint">
                The log is seconds behind, and some gateways allow 20 reads in 20 minutes.
              </span>
            )}
          </div>
          <StartProblem error={error} />
          {problem === undefined ? null : <ProblemBox problem={problem} />}
          <div class="table-wrap" tabIndex={0} role="region" aria-label="Calls and outcomes">
            <table>
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Call</th>
                  <th>Model</th>
                  <th>Outcome</th>
                  <th class="number">Charged</th>
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
                      {charges[call.requestId ?? call.problem?.requestId ?? ''] ??
                        (call.cost === undefined ? '–' : dollars(call.cost))}
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

/** Shows the charges of failed calls. */
export function Charges(): JSX.Element {
  const isEmulator = hello.value?.isEmulator === true;
  const runs = newest.value.filter(
    ({ fault, kind }) => fault !== undefined && demoKinds.some((name) => name === kind),
  );
  const [latest] = runs;
  const sdk = chosenRival();
  return (
    <>
      <Heading
        title={isEmulator ? 'What a retry costs' : 'Charges of your calls'}
        aside={<Clock />}
      >
        {isEmulator ? (
          <>
            Break a call on purpose, and compare its charges here with those of another SDK with its
            default options.
          </>
        ) : (
          'The outcome of each call, and its charge in the gateway’s usage log.'
        )}
      </Heading>
      {isEmulator ? (
        <>
          {latest === undefined ? (
            <NoOutcome sdk={sdk} />
          ) : (
            <Outcome key={latest.id} call={latest} sdk={sdk} />
          )}
          <Faults />
          {latest === undefined ? null : <Totals runs={runs} sdk={sdk} />}
        </>
      ) : (
        <RealCharges />
      )}
    </>
  );
}
