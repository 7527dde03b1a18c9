import type { Operation } from '../../endpoints.ts';
import type { ActiveFault, Fault, FaultRule } from './faults.ts';
import type { ReceivedRequest } from '../control/request-log.ts';

class Rule implements ActiveFault {
  readonly rule: FaultRule;
  readonly #remove: (rule: Rule) => void;
  #seen = 0;
  #hits = 0;

  constructor(rule: FaultRule, remove: (rule: Rule) => void) {
    this.rule = rule;
    this.#remove = remove;
  }

  get hits(): number {
    return this.#hits;
  }

  get remaining(): number {
    return Math.max(0, (this.rule.times ?? 1) - this.#hits);
  }

  remove(): void {
    this.#remove(this);
  }

  covers(operation: Operation): boolean {
    const wanted = this.rule.operation ?? '*';
    return wanted === '*' || [wanted].flat().includes(operation);
  }

  /** Counts a matching request. Returns whether the fault applies to it. */
  hit(): boolean {
    if (this.remaining === 0) return false;
    this.#seen += 1;
    if (this.#seen <= (this.rule.after ?? 0)) return false;
    this.#hits += 1;
    return true;
  }
}

const isEarly = ({ fault }: FaultRule): boolean =>
  fault.type === 'reset' && fault.when === 'before-body';

/** The active faults. At most one applies to a request: the first that matches. */
export class FaultRules {
  #rules: Rule[] = [];

  /** Faults that still apply to further requests. */
  get active(): readonly ActiveFault[] {
    return this.#rules.filter((rule) => rule.remaining > 0);
  }

  add(rule: FaultRule): ActiveFault {
    const added = new Rule(rule, (removed) => {
      this.#rules = this.#rules.filter((kept) => kept !== removed);
    });
    this.#rules.push(added);
    return added;
  }

  clear(): void {
    this.#rules = [];
  }

  /** Returns whether to reset the connection before the body is read. */
  takeEarly(operation: Operation): boolean {
    return this.#rules.some((rule) => isEarly(rule.rule) && rule.covers(operation) && rule.hit());
  }

  /** Returns the fault for a request. */
  take(operation: Operation, request: ReceivedRequest): Fault | undefined {
    for (const active of this.#rules) {
      const { rule } = active;
      const isMet = active.covers(operation) && !isEarly(rule) && (rule.when?.(request) ?? true);
      if (isMet && active.hit()) return rule.fault;
    }
    return undefined;
  }
}
