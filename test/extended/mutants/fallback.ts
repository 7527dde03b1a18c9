import type { MutantsByFile } from './mutant.ts';

/** Whether a failed request is followed by one for another model, or in another mode of structured output. */
export const fallbackMutants: MutantsByFile = {
  'policies/fallback/reason.ts': [
    {
      is: "charge === 'metered' && retryUnknownOutcome !== false",
      becomes: "charge === 'metered'",
    },
    {
      is: "if (outcome === 'unknown' && !mayPayTwice(charge, retryUnknownOutcome)) return false;",
      becomes: '',
    },
    { is: "if (kind === 'timed_out') return 'timeout';", becomes: '' },
    { is: 'if (has(credit) || status === 402) return undefined;', becomes: '' },
    {
      is: "problem?.includes('maxResponseBytes') || code === notAResponse",
      becomes: 'code === notAResponse',
    },
    {
      is: "problem?.includes('maxResponseBytes') || code === notAResponse",
      becomes: "problem?.includes('maxResponseBytes')",
    },
    { is: " || phase === 'local' || issues !== undefined", becomes: " || phase === 'local'" },
    { is: 'isAboutParameters ? { ...body, message: undefined } : body', becomes: 'body' },
  ],
  'policies/fallback/fallback.ts': [
    { is: 'remaining.length > 0 && mayFollow', becomes: 'false' },
    { is: 'if (!isReplayable) {', becomes: 'if (false) {' },
    { is: 'remaining.shift();', becomes: '' },
    { is: 'check(same < 0 || !isOwn,', becomes: 'check(true,' },
    { is: '  checkStreaming(models, params);', becomes: '' },
    {
      // The response is read as that to the model after the next one.
      is: 'return held.with({ params: { ...following } });',
      becomes: `const { format } = held.with({ params: { ...(remaining[0] ?? following) } });
        return Object.defineProperty(held.with({ params: { ...following } }), 'format', { value: format });`,
    },
    {
      // All requests are written first, and the change is that of the last one written.
      is: 'return sendEach(next, held, follow);',
      becomes: `return sendEach(next, held, follow).then((open) => {
        const change = { params: { ...remaining.at(-1) } };
        return remaining.length < models.length ? open : Object.defineProperty(open, 'change', { value: change });
      });`,
    },
  ],
  'calls/history.ts': [
    {
      // The most severe outcome of the call counts for each of its requests.
      is: "outcome: Outcome = 'not_sent';",
      becomes: `get outcome() { return this.#request.call.worst ?? 'not_sent'; }
        set outcome(outcome) { this.#request.call.worst = outcome; }`,
    },
  ],
  'calls/gateway-request.ts': [
    {
      // The facts of a failure are those of the last request that failed, of any call.
      is: '  failure: FailedAttempt | undefined;',
      becomes: `static last;
        get failure() { return GatewayRequest.last; }
        set failure(failed) { GatewayRequest.last = failed; }`,
    },
  ],
  'calls/open-response.ts': [
    { is: 'this.#opened = other;', becomes: '' },
    { is: 'error = cause;', becomes: '' },
  ],
  'calls/send-each.ts': [
    { is: 'if (scope.isOver || scope.remaining <= 0) throw error;', becomes: '' },
    {
      is: "const outcome = worse(before?.outcome ?? 'not_sent', error.outcome);",
      becomes: 'const { outcome } = error;',
    },
    {
      is: 'if (isUnsent(findRequest(cause))) throw addReason(before, errorMessage(cause));',
      becomes: '',
    },
    { is: 'new Set([...call.attempts, ...attempts])', becomes: 'new Set(attempts)' },
    { is: '  first.call.mayChange = true;', becomes: '' },
  ],
  'policies/modes/output-modes.ts': [
    { is: "failure.kind === 'refused' || mayRepeat", becomes: 'true' },
    { is: 'known.delete(key);', becomes: '' },
    { is: '() => findNext(mode) !== undefined && mayRepeat', becomes: '() => false' },
    {
      is: 'isAuto ? rules.order[rules.order.indexOf(mode) + 1] : undefined;',
      becomes: 'rules.order[rules.order.indexOf(mode) + 1];',
    },
    { is: 'if (isAuto && output !== undefined)', becomes: 'if (false)' },
  ],
  'policies/modes/refusal.ts': [
    { is: ' && (!faultySchema.test(text) || unknownField.test(text))', becomes: '' },
    { is: ' || unknownField.test(text)', becomes: '' },
    { is: 'return status !== undefined && status < 300;', becomes: 'return false;' },
    { is: ' && /^(400|422|50[01])$/.test(`${status}`)', becomes: '' },
  ],
  'structured/dialect.ts': [
    { is: 'if (this.#count === 1) return options;', becomes: 'return options;' },
    { is: '{ ...options, fallback: null }', becomes: 'options' },
    { is: 'idempotencyKey: `${key}-turn-${this.#count}`', becomes: 'idempotencyKey' },
    { is: 'if (this.#count === 1) this.#change = change;', becomes: '' },
    {
      is: 'if (this.#count === 1) this.#change = change;',
      becomes: 'this.#change = change;',
    },
  ],
  'structured/json.ts': [
    {
      is: 'return found.length === 1 ? found[0]?.json : undefined;',
      becomes: 'return found[0]?.json;',
    },
  ],
  'answers/find-json.ts': [
    { is: 'if (closers.pop() !== char)', becomes: 'if (closers.pop() === undefined)' },
  ],
};
