import { Fragment, type ComponentChildren, type JSX } from 'preact';
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
import { stopCalls, useEscape } from '../calls/stop.ts';
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

/** A column of numbers. */
interface Amounts {
  readonly heading: string;
  readonly cell: (call: CallView) => ComponentChildren;
  readonly total?: number;
}

/** Calls with their outcomes and what they were charged. */
function CallTable({
  calls,
  caption,
  describe,
  amounts,
}: {
  calls: readonly CallView[];
  caption: string;
  /** What to know of a call besides its kind. */
  describe: (call: CallView) => string | undefined;
  amounts: readonly Amounts[];
}): JSX.Element {
  return (
    <div class="table-wrap calls" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th>Call</th>
            <th>Outcome</th>
            {amounts.map(({ heading }) => (
              <th key={heading} class="number">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <Fragment key={call.id}>
              <tr>
                <td>
                  {kindNames[call.kind]}{' '}
                  <span class="faint">
                    {describe(call)} · {clockTime(call.startedAt)}
                  </span>
                </td>
                <td>
                  <StatusPill call={call} />
                </td>
                {amounts.map(({ heading, cell }) => (
                  <td key={heading} class="number">
                    {cell(call)}
                  </td>
                ))}
              </tr>
              {call.status !== 'stopped' || !call.problem?.advice ? null : (
                <tr class="advice-row">
                  <td colSpan={2 + amounts.length}>{call.problem.advice}</td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
        {amounts[0]?.total === undefined ? null : (
          <tfoot>
            <tr>
              <th colSpan={2}>Total</th>
              {amounts.map(({ heading, total }) => (
                <td key={heading} class="number">
                  {total}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

const countOurs = (call: CallView): number => sumCharges(call).charges;

function Totals({ runs, sdk }: { runs: readonly CallView[]; sdk: RivalName }): JSX.Element {
  const countTheirs = (call: CallView): number | undefined => findRival(call, sdk)?.charges;
  return (
    <CallTable
      calls={runs}
      caption="Your calls"
      describe={({ fault }) => hello.value?.scenarios.find(({ name }) => name === fault)?.label}
      amounts={[
        {
          heading: 'Charges',
          cell: countOurs,
          total: runs.reduce((sum, call) => sum + countOurs(call), 0),
        },
        {
          heading: rivalNames[sdk],
          cell: (call) => (call.rivals === undefined ? '…' : (countTheirs(call) ?? '–')),
          total: runs.reduce((sum, call) => sum + (countTheirs(call) ?? 0), 0),
        },
      ]}
    />
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
  const [isReading, setIsReading] = useState(false);
  const list = newest.value;
  const { charges = {}, problem } = usageLog.value ?? {};
  const findCharge = ({ requestId, problem: failure, cost }: CallView): string =>
    charges[requestId ?? failure?.requestId ?? ''] ?? (cost === undefined ? '–' : dollars(cost));
  const readLog = async (): Promise<void> => {
    setError(undefined);
    setIsReading(true);
    try {
      usageLog.value = await fetchUsageLog();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsReading(false);
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
            <button
              type="button"
              {...starts}
              onClick={() => {
                if (!isReading) void readLog();
              }}
            >
              Read the usage log <span class="faint">free</span>
            </button>
            {usageLog.value === undefined ? null : (
              <span class="small faint">
                The log is seconds behind, and some gateways allow 20 reads in 20 minutes.
              </span>
            )}
          </div>
          <StartProblem error={error} />
          {problem === undefined ? null : <ProblemBox problem={problem} isAlert />}
          <CallTable
            calls={list}
            caption="Calls and outcomes"
            describe={({ model }) => model}
            amounts={[{ heading: 'Charged', cell: findCharge }]}
          />
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
  useEscape(() => stopCalls(runs));
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
