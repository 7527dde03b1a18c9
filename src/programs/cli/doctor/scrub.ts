import { replaceSecret } from '../../../http/redaction.ts';
import { secretHeaders, type Target } from './probe.ts';
import { prompts } from './calls/samples.ts';

/** Texts of a kind that a report must not contain. */
interface ScrubRule {
  readonly name: string;
  readonly pattern: RegExp | string;
  /** Filters the matches of `pattern`. */
  readonly matches?: RegExp;
  /** Set if a text is replaced as a whole word only. */
  readonly isWord?: boolean;
}

/** Patterns of secrets of any gateway. */
const secrets: readonly ScrubRule[] = [
  { name: 'amount', pattern: /-?\$?\d[\d.,]{0,30} (?:quota|USD)\b/g },
  { name: 'account', pattern: /[\w.+@-]+/g, matches: /\w@[\w-]+\.\w/ },
  { name: 'account', pattern: /\borg-\w+|\bft:[^:\s]*:[^\s,]+/g },
  { name: 'id', pattern: /[0-9a-f]{8}-[0-9a-f-]{27}/g },
  // Long words of letters alone are names.
  { name: 'id', pattern: /\w{20,}/g, matches: /\d/ },
  { name: 'host', pattern: /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g },
  {
    name: 'host',
    pattern: /[\w.-]+(?::\d+)?/g,
    matches:
      /\w\.(?:com|net|org|io|ai|dev|app|cloud|local|localdomain|internal|intra|intranet|lan|corp|home|svc|example|test|invalid|cn|de|eu|uk|us|jp|kr|fr|ru|tw|hk|sg|br|nl|ch)\.?(?::\d+)?$/i,
  },
];

/** Segments of base URLs that name neither a tenant nor an account. */
const commonFolders =
  /^(v\d+(beta\d*)?|api|openai|compat|ai|llm|inference|proxy|gateway|deployments|endpoints|openapi|serving-endpoints|compatible-mode|paas)$/i;

function rulesFor(target: Target): readonly ScrubRule[] {
  const { key, baseURL } = target;
  const rules: ScrubRule[] = [
    { name: 'key', pattern: key, isWord: key.length < 8 },
    ...secretHeaders(target).map(([, value]) => ({ name: 'key', pattern: value })),
    ...Object.values(prompts).map((pattern) => ({ name: 'prompt', pattern })),
    { name: 'key', pattern: /\bsk-[\w*.…-]+/g },
    { name: 'host', pattern: /\b(?:https?|wss?):\/\/[\w[][^\s,;)]*/g },
  ];
  if (!URL.canParse(baseURL)) return [...rules, { name: 'host', pattern: baseURL }, ...secrets];
  const { host, hostname, pathname, searchParams } = new URL(baseURL);
  rules.push({ name: 'host', pattern: host }, { name: 'host', pattern: hostname });
  const folders = pathname
    .split('/')
    .filter((folder) => folder !== '' && !commonFolders.test(folder));
  for (const secret of [...folders, ...searchParams.values()]) {
    // A short one would occur inside words.
    rules.push({ name: 'path', pattern: secret.length < 4 ? `/${secret}` : secret });
  }
  return [...rules, ...secrets];
}

/** Removes the key, the host, the account and prompts from texts, and counts them. */
export interface Scrubber {
  readonly clean: (text: string) => string;
  /** Returns what was removed so far, and how many times. */
  readonly removed: () => { readonly name: string; readonly times: number }[];
}

export function createScrubber(target: Target): Scrubber {
  const times = new Map<string, number>();
  const rules = rulesFor(target);
  const clean = (text: string): string => {
    let result = text;
    for (const { name, pattern, matches, isWord = false } of rules) {
      const replace = (match: string): string => {
        if (matches?.test(match) === false) return match;
        times.set(name, (times.get(name) ?? 0) + 1);
        return `[${name}]`;
      };
      result =
        typeof pattern === 'string'
          ? replaceSecret(result, pattern, replace, isWord)
          : result.replaceAll(pattern, replace);
    }
    return result;
  };
  return { clean, removed: () => [...times].map(([name, count]) => ({ name, times: count })) };
}
