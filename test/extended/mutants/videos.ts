import type { MutantsByFile } from './mutant.ts';

/** Waits, submissions, ledgers and the readings of a task. */
export const videoMutants: MutantsByFile = {
  'options/option-names.ts': [
    { is: "elsewhere === 'refuse'", becomes: "elsewhere !== 'refuse'" },
    { is: '!refuses && hasParameter(params, name)', becomes: 'hasParameter(params, name)' },
  ],
  'resources/videos/operations.ts': [
    {
      is: 'totalTimeout: shorter(options.timeout, totalTimeout)',
      becomes: 'totalTimeout',
    },
  ],
  'resources/videos/kind.ts': [
    { is: "ref.route.type !== 'openai' || !isServed", becomes: "ref.route.type !== 'openai'" },
  ],
  'tasks/limits.ts': [
    { is: 'setTimeout(end, limit) : undefined', becomes: 'undefined : undefined' },
    { is: 'if (limit !== null && limit <= 0) end();', becomes: '' },
  ],
  'tasks/wait.ts': [
    { is: '{ isNew, since }).untilDone()', becomes: '{ isNew }).untilDone()' },
    { is: "if (error instanceof TaskFailedError) await call?.finish('failed');", becomes: '' },
    { is: 'if (given !== undefined) return finish(given);', becomes: '' },
    {
      is: 'await notify(scope, ref, onSubmitted, since);',
      becomes: 'void notify(scope, ref, onSubmitted, since);',
    },
    {
      is: "const isNew = status !== 'completed' && status !== 'failed';",
      becomes: 'const isNew = true;',
    },
  ],
  'tasks/decide.ts': [
    { is: 'age === undefined || age >= first', becomes: 'age === undefined' },
    {
      is: 'elapsed - unchangedSince >= doubt.first && elapsed - vendorPolledAt >= doubt.pause',
      becomes: 'elapsed - unchangedSince >= doubt.first',
    },
    {
      is: "next: state.status === 'failed' ? 'failed' : reason",
      becomes: 'next: reason',
    },
    {
      is: 'timeout !== null && started >= timeout - timerSlack',
      becomes: 'timeout !== null && elapsed >= timeout - timerSlack',
    },
    { is: 'Math.min(retryAfter, longestPause.requested)', becomes: 'retryAfter' },
    {
      is: 'Math.min(Math.max(varied, requested), remaining)',
      becomes: 'Math.max(varied, requested)',
    },
    {
      is: 'errors > settings.maxConsecutiveErrors',
      becomes: 'errors >= settings.maxConsecutiveErrors',
    },
    { is: 'interval.min * 2 ** (errors - 1)', becomes: 'interval.min' },
    { is: 'Math.max(moment.age ?? 0, moment.elapsed)', becomes: '(moment.age ?? 0)' },
    {
      is: 'state.status !== undefined && missed.missing <= toleratedMisses',
      becomes: 'missed.missing <= toleratedMisses',
    },
    {
      is: 'hasMoved || last === undefined ? first : Math.min(max, last * factor)',
      becomes: 'first',
    },
    { is: 'errors: 0,\n    missing: 0,\n  };', becomes: '};' },
    {
      is: "isFinal || before.status === 'failed' ? status : undefined",
      becomes: 'status',
    },
    {
      is: 'unchangedPolls >= complaints.polls && elapsed - unchangedSince >= complaints.span',
      becomes: 'unchangedPolls >= complaints.polls',
    },
  ],
  'tasks/run.ts': [
    { is: 'shorter(left, settings.request.totalTimeout)', becomes: 'left' },
    { is: 'error.cause !== undefined ? ', becomes: 'error.cause === undefined ? ' },
    { is: "if ([0, 501, 505].includes(status)) return 'fatal';", becomes: '' },
    { is: '[425, 429].includes(status)', becomes: '[425].includes(status)' },
    {
      is: "task?.status === 'failed' && isObject(task.raw) && namesTask(task.raw, ref.id)",
      becomes: "task?.status === 'failed'",
    },
  ],
  'resources/videos/submit.ts': [
    {
      is: 'VideoSubmitResponseError.isInstance(error) ? error.ref : undefined',
      becomes: 'undefined',
    },
  ],
  'tasks/submit.ts': [
    { is: "isUnknown ? 'unknown' : 'not_submitted'", becomes: "'not_submitted'" },
    { is: "!GatewayError.isInstance(error) || error.outcome === 'unknown'", becomes: 'false' },
    { is: 'const accepted = call.accept(ref);', becomes: 'const accepted = Promise.resolve();' },
    { is: 'const lateGrace = 30_000;', becomes: 'const lateGrace = 0;' },
    { is: 'Promise.race([call.track(recorded), left])', becomes: 'recorded' },
    { is: 'others.length === 0 ? request : {}', becomes: 'request' },
  ],
  'tasks/ledger.ts': [
    {
      is: 'found.refs.length > 0 || found.claimId !== replaces',
      becomes: 'found.claimId !== replaces',
    },
    {
      is: "end === 'not_submitted' && !call.isDoubtful",
      becomes: "end === 'not_submitted'",
    },
    { is: '(claimId ?? call.claimId) !== call.claimId', becomes: 'false' },
    { is: 'found.isAlive !== true', becomes: 'true' },
    {
      is: "verdict === 'refunded' || verdict === 'not_charged'",
      becomes: "verdict !== 'charged'",
    },
    { is: 'one.id === other.id && one.baseURL === other.baseURL', becomes: 'one.id === other.id' },
    {
      is: "check(isSame, 'callId', 'belongs to another submission; use a different one for each.');",
      becomes: '',
    },
    { is: "await this.finish('not_submitted', {}, claimId);", becomes: '' },
    {
      is: "late.status === 'claimed' ? this.finish('not_submitted', {}, late.claimId) : undefined",
      becomes: 'undefined',
    },
    { is: "if (!isLate) await this.finish('unknown');", becomes: '' },
    { is: "check(callId !== undefined, 'callId', problem);", becomes: '' },
    { is: 'baseName(requested) === baseName(logged) ? requested : logged', becomes: 'requested' },
  ],
  'tasks/reading.ts': [
    {
      is: "status === 404 || code === 'task_not_exist' || isNamed",
      becomes: "status === 404 || code === 'task_not_exist'",
    },
    { is: 'Number(state) === 3 ||', becomes: 'Number(state) >= 2 ||' },
    { is: "plain === '' || plain === 'unknown' ? 'empty' : 'foreign'", becomes: "'foreign'" },
    { is: 'isFraction ? Math.round(number * 100) : number', becomes: 'number' },
    {
      is: 'reads(reviewWords, failure) && !reads(stumbleWords, failure)',
      becomes: 'reads(reviewWords, failure)',
    },
  ],
  'resources/videos/schema.ts': [
    {
      is: "if (findResultURL(body) !== undefined) return 'completed';",
      becomes: '',
    },
  ],
  'tasks/many.ts': [
    { is: 'if (thrown !== undefined) return;', becomes: '' },
    { is: 'if (thrown !== undefined) throw thrown.error;', becomes: '' },
    { is: 'callId: `${callId}-${index}`', becomes: 'callId' },
  ],
  'tasks/poll-format.ts': [
    {
      is: 'if (response.status !== acceptedStatus) return format.read(request, incoming);',
      becomes: 'if (true) return format.read(request, incoming);',
    },
  ],
  'tasks/scope.ts': [
    {
      is: "checkGateway(target.ref, baseURL, 'If it has moved here, change baseURL in the handle.');",
      becomes: '',
    },
  ],
};
