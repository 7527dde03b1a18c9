import type { JSX, ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallView, Problem } from '../protocol.ts';
import { loadFile, ServerError } from './api.ts';
import { hello } from './state.ts';
import { sumCharges, count, dollars, duration, mayBeCharged, price } from './format.ts';

/** A decorative icon of one path. */
export function Icon({ path }: { path: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The heading of a panel. */
export function Heading({
  title,
  children,
  aside,
}: {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="heading">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        <p>{children}</p>
      </div>
      {aside === undefined ? null : <div class="heading-aside">{aside}</div>}
    </header>
  );
}

/** A button that copies a text and confirms it. */
export function CopyButton({ text, label }: { text: () => string; label: string }): JSX.Element {
  const [message, setMessage] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      setMessage('Copied');
    } catch {
      setMessage('Not allowed');
    }
    setTimeout(() => setMessage(''), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <span class="swap" data-said={message}>
        {label}
      </span>
    </button>
  );
}

/** An error and its advice. `isAlert` reads it out at once; errors of calls are read out by `Announcements`. */
export function ProblemBox({
  problem,
  isAlert = false,
}: {
  problem: Problem;
  isAlert?: boolean;
}): JSX.Element {
  const { name, message, advice, outcome = '', status, answer, requestId } = problem;
  const isNamed = requestId !== undefined && message.includes(requestId);
  return (
    <div class={`problem ${outcome}`} {...(isAlert ? { role: 'alert' } : {})} dir="auto">
      <p class="problem-title">
        {outcome === '' ? null : <span class={`pill ${outcome}`}>{outcome.replace('_', ' ')}</span>}
        <strong>{name}</strong>
        {status === undefined ? null : <span class="faint">HTTP {status}</span>}
      </p>
      <p>{message}</p>
      {advice === '' ? null : <p class="advice">{advice}</p>}
      {requestId === undefined || isNamed ? null : <p class="faint small">Request {requestId}</p>}
      {answer === undefined ? null : (
        <details>
          <summary>Response of the gateway</summary>
          <pre tabIndex={0}>{answer}</pre>
        </details>
      )}
    </div>
  );
}

/** A note that a call is charged. Hidden on the emulator. */
export function Charged({ children }: { children: ComponentChildren }): JSX.Element | null {
  if (hello.value?.isEmulator === true) return null;
  return <span class="small faint">{children}</span>;
}

/** An error of the page: the call could not be started. */
export function StartProblem({ error }: { error: unknown }): JSX.Element | null {
  if (error === undefined) return null;
  const message = error instanceof Error ? error.message : 'Unexpected error in the page.';
  const outcome = error instanceof ServerError && error.status > 0 ? 'not_sent' : undefined;
  const problem = { name: 'Not started', message, advice: '' };
  return <ProblemBox isAlert problem={outcome === undefined ? problem : { ...problem, outcome }} />;
}

/** The status of a call. */
export function StatusPill({ call }: { call: CallView }): JSX.Element {
  const { status, problem, verdict } = call;
  if (status === 'running') return <span class="pill running">running</span>;
  if (status === 'stopped') {
    if (!mayBeCharged(call)) return <span class="pill">stopped</span>;
    return <span class="pill unknown">stopped · may be charged</span>;
  }
  if (status === 'failed') {
    const outcome = problem?.outcome ?? 'failed';
    return <span class={`pill ${outcome}`}>{outcome.replace('_', ' ')}</span>;
  }
  return <span class="pill done">{verdict ?? 'done'}</span>;
}

/** The fault of a call. */
export function FaultPill({ call: { fault } }: { call: CallView }): JSX.Element | null {
  if (fault === undefined) return null;
  const scenario = hello.value?.scenarios.find(({ name }) => name === fault);
  return <span class="pill">fault: {scenario?.label ?? fault}</span>;
}

/** The charges of a call. Emulator only. */
export function ChargePill({ call }: { call: CallView }): JSX.Element | null {
  if (hello.value?.isEmulator !== true || call.attempts === undefined) return null;
  const { charges, amount, kept } = sumCharges(call);
  const cost = price(amount, hello.value.unitsPerDollar);
  const text = charges === 0 ? 'not charged' : `${count(charges, 'charge')}, ${cost}`;
  return (
    <span class={charges === 0 ? 'coin none' : 'coin'} title={`${amount} credit units`}>
      {text}
      {kept < amount ? ', refunded' : ''}
    </span>
  );
}

/** Times, tokens and cost of a call. */
export function Stats({ call }: { call: CallView }): JSX.Element {
  const { startedAt, firstAt, endedAt, usage, cost, kind, chunks } = call;
  const stats: [string, string][] = [];
  if (kind === 'chat') {
    stats.push(['first token', firstAt === undefined ? '–' : duration(firstAt - startedAt)]);
    const seconds = firstAt && endedAt ? (endedAt - firstAt) / 1_000 : 0;
    const tokens = usage?.output ?? chunks;
    const isKnown = seconds > 0.02 && tokens > 0;
    stats.push(['tokens/s', isKnown ? Math.round(tokens / seconds).toLocaleString('en') : '–']);
  }
  stats.push(['total', endedAt === undefined ? '–' : duration(endedAt - startedAt)]);
  if (usage) {
    stats.push(['tokens', `${usage.input} in${usage.output > 0 ? `, ${usage.output} out` : ''}`]);
  } else if (kind === 'chat') stats.push(['tokens', '–']);
  if (cost !== undefined) stats.push(['cost', dollars(cost)]);
  return (
    <dl class="stats">
      {stats.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns the object URL of a file of a call once it is loaded. */
export function useFile(id: string, index: number): { address?: string; error?: unknown } {
  const [state, setState] = useState<{ address?: string; error?: unknown }>({});
  useEffect(() => {
    let isCurrent = true;
    setState({});
    loadFile(id, index).then(
      ({ address }) => isCurrent && setState({ address }),
      (error: unknown) => isCurrent && setState({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [id, index]);
  return state;
}

/** Shown in an empty panel. */
export function Empty({
  title,
  children,
}: {
  title: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}
