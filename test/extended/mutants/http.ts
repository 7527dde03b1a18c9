import type { MutantsByFile } from './mutant.ts';

/** Retry rules, the classification of failures, redirects, limits, keys and headers. */
export const httpMutants: MutantsByFile = {
  'http/retry.ts': [
    { is: "const never = all('throw');", becomes: "const never = all('retry');" },
    {
      is: "const unlessCharged: Rules = { ...always, charged: 'throw' };",
      becomes: "const unlessCharged: Rules = { ...always, charged: 'once' };",
    },
    {
      is: "const ifFree: Rules = { ...never, free: 'retry', keyed: 'retry' };",
      becomes: 'const ifFree: Rules = unlessCharged;',
    },
    {
      is: "const unlessBilled: Rules = { ...always, metered: 'throw', charged: 'throw' };",
      becomes: 'const unlessBilled: Rules = ifFree;',
    },
    {
      is: "const onceIfCharged: Rules = { ...always, charged: 'once' };",
      becomes: 'const onceIfCharged: Rules = always;',
    },
    {
      is: "cannot_connect: row('not_sent', always)",
      becomes: "cannot_connect: row('unknown', always)",
    },
    {
      is: "timed_out: row('unknown', unlessBilled)",
      becomes: "timed_out: row('unknown', unlessCharged)",
    },
    {
      is: "interrupted: row('unknown', unlessCharged)",
      becomes: "interrupted: row('rejected', unlessCharged)",
    },
    {
      is: "unusable_answer: row('unknown', ifFree)",
      becomes: "unusable_answer: row('unknown', unlessCharged)",
    },
    {
      is: "other_shape: row('unknown', onceIfFree)",
      becomes: "other_shape: row('unknown', never)",
    },
    {
      is: "const onceIfFree: Rules = { ...never, free: 'once', keyed: 'once' };",
      becomes: 'const onceIfFree: Rules = once;',
    },
    { is: "undecided: row('unknown', never)", becomes: "undecided: row('rejected', never)" },
    { is: "refused: row('rejected', never)", becomes: "refused: row('unknown', never)" },
    {
      is: "conflict: row('rejected', ifKeyed)",
      becomes: "conflict: row('rejected', never)",
    },
    {
      is: "too_early: row('rejected', onceIfCharged)",
      becomes: "too_early: row('rejected', always)",
    },
    { is: "if (idempotent) return 'keyed';", becomes: '' },
    {
      is: "return retryUnknownOutcome ? 'allowed' : 'charged';",
      becomes: "return retryUnknownOutcome ? 'free' : 'charged';",
    },
    {
      is: "return phase === 'local' ? 'not_sent' : failures[kind].outcome;",
      becomes: 'return failures[kind].outcome;',
    },
    { is: "if (!shouldRetry) return 'throw';", becomes: 'if (!shouldRetry) return rule;' },
    {
      is: "(column !== 'charged' && outcome === 'rejected')",
      becomes: "column !== 'charged'",
    },
    {
      is: "phase === 'body' && column !== 'free' && column !== 'keyed'",
      becomes: "phase === 'body' && column === 'charged'",
    },
    {
      is: "if (!state.replayable || isBilled || phase === 'local' || rule === 'throw') return 'throw';",
      becomes: "if (isBilled || phase === 'local' || rule === 'throw') return 'throw';",
    },
    {
      is: "return state.canRefresh ? 'refresh' : 'throw';",
      becomes: "return 'refresh';",
    },
    {
      is: "rule === 'once' ? Math.min(1, state.maxRetries) : state.maxRetries",
      becomes: "rule === 'once' ? 1 : state.maxRetries",
    },
    {
      is: 'state.retries < limit ?',
      becomes: 'state.retries <= limit ?',
    },
    {
      is: 'if (retryAfter > longestRetryAfter) return undefined;',
      becomes: '',
    },
    {
      is: 'Math.min(longestPause, firstPause * 2 ** retries)',
      becomes: 'firstPause * 2 ** retries',
    },
    {
      is: "kind === 'bare_rate_limited' ? Math.max(1_000, pause) : pause",
      becomes: 'pause',
    },
    { is: 'if (this.#left < cost) return false;', becomes: '' },
    { is: 'Math.min(this.#capacity, this.#left + 1)', becomes: 'this.#left' },
  ],
  'http/retry-after.ts': [
    { is: 'const isLimit = status === 429;', becomes: 'const isLimit = true;' },
  ],
  'http/redaction.ts': [
    {
      is: "if (typeof inner !== 'string' || isUsed(field, inner)) return inner;",
      becomes: "if (typeof inner !== 'string') return inner;",
    },
  ],
  'http/classify.ts': [
    { is: 'connect (E[MN]FILE|', becomes: 'connect (ENFILE|' },
    {
      is: 'return isRelayed(headers) && !isKeyUnknown(body) && !isKeyRefused(body);',
      becomes: 'return !isKeyUnknown(body) && !isKeyRefused(body);',
    },
    { is: 'if (status >= 100 && status < 400) ', becomes: 'if (status >= 100 && status < 300) ' },
    { is: "[409, 'conflict'],", becomes: '' },
    { is: "[425, 'too_early'],", becomes: '' },
    { is: "[460, 'interrupted'],", becomes: '' },
    { is: "status > 500 ? 'interrupted' : ", becomes: '' },
    {
      is: '!/[(（]retry[)）]/i.test(message)',
      becomes: 'true',
    },
    { is: 'if (longQuota.test(', becomes: "if (''.includes(" },
    {
      is: 'wait > longestRetryAfter && means(body, dailyLimit)',
      becomes: 'means(body, dailyLimit)',
    },
    { is: 'return isRefused && !mayBeTask', becomes: 'return isRefused' },
    { is: 'missingStatus.test(`${status}`) && ', becomes: '' },
    {
      is: "return charge === 'free' ? 'refused' : 'content_refused';",
      becomes: "return 'refused';",
    },
    {
      is: 'code === settlementUnknown || (status < 500 && means({ code }, afterWork))',
      becomes: 'status < 500 && means({ code }, afterWork)',
    },
    {
      is: 'containsId(body) || (status === 429 && mentionsTaskId(body))',
      becomes: 'containsId(body)',
    },
    {
      is: "return isJSON(body) || hasHint ? 'rate_limited' : 'bare_rate_limited';",
      becomes: "return 'rate_limited';",
    },
    {
      is: "if (status === 500) return 'interrupted';",
      becomes: "if (status === 500) return 'server_error';",
    },
    {
      is: "return isFromGateway ? 'refused' : 'undecided';",
      becomes: "return 'refused';",
    },
    {
      is: "createsTask && body.envelope === 'task' && !hasTask",
      becomes: "createsTask && body.envelope === 'task'",
    },
    { is: '/ UND_ERR_SOCKET 0$/', becomes: '/ UND_ERR_SOCKET /' },
    {
      is: 'levels > 0 && errors.every(failedToConnect)',
      becomes: 'levels > 0 && errors.some(failedToConnect)',
    },
    {
      is: "if (http2ErrorCode === refusedStream) kind = 'cannot_connect';",
      becomes: "if (typeof http2ErrorCode === 'number') kind = 'cannot_connect';",
    },
    {
      is: "return isOwnPort || isAbout(link, targets) ? kind : 'interrupted';",
      becomes: 'return kind;',
    },
    {
      is: "/^(5|408|429)/.test(`${tunnelStatus}`) ? 'cannot_connect' : 'proxy_refused'",
      becomes: "'interrupted'",
    },
    {
      is: 'targets !== undefined && chain.some((link) => isAbout(link, targets) === false)',
      becomes: 'false',
    },
  ],
  'calls/attempt.ts': [
    {
      is: 'if (scope.isOver) return request.localFailure(undefined);',
      becomes: '',
    },
    {
      is: 'if (outgoing?.isSent !== true) return request.localFailure(error);',
      becomes: '',
    },
    {
      is: "return scope.stopped === 'signal' ? request.explain(failed) : failed;",
      becomes: 'return request.explain(failed);',
    },
  ],
  'calls/retries.ts': [
    { is: 'request.client.budget.refund();', becomes: '' },
    {
      is: 'if (pause === undefined || pause >= scope.remaining) throw request.giveUp(failed);',
      becomes: 'if (pause === undefined) throw request.giveUp(failed);',
    },
    {
      is: 'const body = request.body ?? (await prepare(request));',
      becomes: 'const body = await prepare(request);',
    },
    { is: 'await waitForRetry(request, request.explain(error.failed));', becomes: '' },
  ],
  'calls/history.ts': [
    {
      is: "if (phase === 'local') return;",
      becomes: '',
    },
    {
      is: 'severity.indexOf(one) > severity.indexOf(other)',
      becomes: 'true',
    },
  ],
  'calls/gateway-request.ts': [
    {
      is: 'canRefresh: !history.isRefreshed && typeof',
      becomes: 'canRefresh: typeof',
    },
    {
      is: "this.settings.idempotency === null || this.spec.method === 'GET'",
      becomes: 'this.settings.idempotency === null',
    },
    {
      is: 'if (this.#hasEnded) return;',
      becomes: '',
    },
  ],
  'http/send.ts': [
    { is: 'fetch === globalFetch ? given : withFields(given)', becomes: 'given' },
    {
      is: 'if (status === 307 || status === 308) return true;',
      becomes: 'if (status >= 300) return true;',
    },
    {
      is: 'if (!isSameOrigin(url, target)) headers = publicHeaders(headers);',
      becomes: '',
    },
    {
      is: "username === '' && password === '' ?",
      becomes: 'true ?',
    },
    { is: 'sent.then(({ body }) => discardBody(body)).catch(() => {});', becomes: '' },
    { is: '  scope.controller.signal.throwIfAborted();', becomes: '' },
  ],
  'http/responses/foreign-response.ts': [
    {
      is: "kind: 'undecided', phase: 'sent', code",
      becomes: "kind: 'interrupted', phase: 'sent', code",
    },
    { is: 'if (isTaken && isSuccess) {', becomes: 'if (false) {' },
  ],
  'http/outputs.ts': [
    { is: "if (asks === undefined ? makesMedia : asks(body)) return 'charged';", becomes: '' },
    { is: 'const media = /^(image|audio|video|music)s?$/i;', becomes: 'const media = /^image$/;' },
  ],
  'http/responses/response-body.ts': [
    {
      is: 'if (received < expected) {',
      becomes: 'if (received > expected) {',
    },
    {
      is: "throw end === 'broken' ? toReadFailure(cause, incoming, text) : tooLarge(incoming, limit, text);",
      becomes: 'throw tooLarge(incoming, limit, text);',
    },
  ],
};
