import type { MutantsByFile } from './mutant.ts';

/** Verdicts of streams, events, time limits, and what ends a stream. */
export const streamMutants: MutantsByFile = {
  'streams/verdict.ts': [
    { is: "proof.isFinished(state === 'closed')", becomes: 'proof.isFinished(isEnding(state))' },
    { is: "isEnding(state) && state !== 'failed'", becomes: 'isEnding(state)' },
    {
      is: "if (isBroken || last !== 'whole') return 'truncated';",
      becomes: "if (isBroken) return 'truncated';",
    },
    { is: "if (endIsProof) return 'complete';", becomes: '' },
    { is: "if (!proof.started) return 'truncated';", becomes: '' },
    {
      is: "return isEnding(state) ? 'no_finish_reason' : 'no_terminator';",
      becomes: "return 'no_terminator';",
    },
    { is: "last !== 'torn' && isFinished(state, proof)", becomes: 'isFinished(state, proof)' },
    { is: "failed: { terminator: 'thrown',", becomes: 'failed: {' },
  ],
  'streams/follow.ts': [
    {
      is: '// Events after the end of a complete response are ignored.\n    if (this.isOver) return;',
      becomes: '',
    },
    {
      is: "if (!isOpen && !data.startsWith('{') && keepAliveText.test(data)) return;",
      becomes: '',
    },
    { is: "if (this.#strayText !== '') this.#refuseErrors(this.#strayText);", becomes: '' },
    { is: 'if (isOpen) this.#last = this', becomes: 'if (isOpen) this' },
    { is: "if (hasUsage(value)) this.#move('settled');", becomes: '' },
    { is: "if (this.#eventsSinceFailure >= lateEvents) this.#move('settled');", becomes: '' },
    {
      is: 'if (error !== undefined && !this.hasFailed)',
      becomes: 'if (error !== undefined)',
    },
    {
      is: 'if (error !== undefined) this.#refuse(value, error);\n      else if (typeof',
      becomes: 'if (typeof',
    },
    {
      is: "validation === 'strict' || this.#compared++ < comparedItems",
      becomes: "validation === 'strict'",
    },
    {
      is: 'if (this.#delivery?.add(item) !== false) this.hasNewItems = true;',
      becomes: 'this.hasNewItems = true;',
    },
    {
      is: 'if (this.#strayText.length > this.#maxEventBytes) throw tooLarge(this.#maxEventBytes);',
      becomes: '',
    },
    {
      is: 'verdict.hasLostError(this.#state) && !this.isFinished',
      becomes: '!this.isFinished',
    },
    { is: 'const instead = this.#hasEvents ? undefined :', becomes: 'const instead =' },
    { is: "if (instead.isWhole) this.#move('whole');", becomes: "this.#move('whole');" },
    { is: 'this.#addRest((this.#protocol.responseBeside ?? responseBeside)(value));', becomes: '' },
  ],
  'resources/routes/routes.ts': [
    { is: 'started ||= !isBesideError || parts.size > 0;', becomes: 'started = true;' },
    { is: '!isBesideError || parts.size > 0;', becomes: '!isBesideError;' },
  ],
  'streams/events.ts': [
    { is: 'isEnding && beginningOfField.test(line)', becomes: 'isEnding' },
    { is: "endsInReturn && text.startsWith('\\n') ? lines.slice(1) : lines", becomes: 'lines' },
  ],
  'streams/stream-reader.ts': [
    {
      is: "if (this.#bytesRead > maxBytes) throw tooLarge(maxBytes, 'it', 'maxResponseBytes');",
      becomes: '',
    },
    {
      is: '|| this.#letGo !== undefined || this.#follower.hasFailed;',
      becomes: '|| this.#letGo !== undefined;',
    },
    { is: "if (limit === 'ending' || hasFailed)", becomes: "if (limit === 'ending')" },
    {
      is: "this.#settle({ verdict: 'complete' }, 'drain')",
      becomes: "this.#settle({ verdict: 'complete' }, 'cancel')",
    },
    { is: 'else if (follower.isEnding) this.#timeouts?.expectEnd();', becomes: '' },
    { is: "verdict !== 'complete' && onTruncated !== 'allow'", becomes: "verdict !== 'complete'" },
    { is: 'else if (isFinished) this.#leave();', becomes: 'else if (false) this.#leave();' },
    { is: 'this.#timeouts?.stop();', becomes: '' },
    {
      is: "for (const each of this.#signals) each.removeEventListener('abort', this.#onAbort);",
      becomes: '',
    },
  ],
  'streams/timeouts.ts': [
    {
      is: "if (this.#isUnread) yield ['unread', idleTimeout, this.#unreadSince];",
      becomes: '',
    },
    { is: 'this.#waitingSince ?? since', becomes: 'since' },
    {
      is: "if (this.#hasBytes) yield ['idleTimeout', idleTimeout, since];\n    else yield",
      becomes: 'yield',
    },
    {
      is: 'if (hasEvents) this.#waitingSince = undefined;',
      becomes: 'this.#waitingSince = undefined;',
    },
  ],
  'resources/chat/accumulator.ts': [
    {
      is: 'if (chunk.usage) completion.usage = addUsage(completion.usage, chunk.usage);',
      becomes: 'if (chunk.usage) completion.usage ??= chunk.usage;',
    },
    {
      is: "piece.finish_reason || (delta.audio?.expires_at ? 'stop' : '')",
      becomes: "piece.finish_reason ?? ''",
    },
    { is: 'completion.id = first.id || second.id;', becomes: 'completion.id = first.id;' },
  ],
  'resources/chat/tool-calls.ts': [
    { is: 'if (another !== undefined) return another;', becomes: '' },
    {
      is: "current.wireId === '' ? startsNewCall(current, piece) : hasName(piece)",
      becomes: 'hasName(piece)',
    },
    { is: 'this.#open.at(count === 1 ? -1 : position)', becomes: 'this.#open.at(-1)' },
    { is: "if (open.wireId === '') {", becomes: '{' },
    { is: '|| !open.isComplete()) return false;', becomes: ') return false;' },
    { is: "piece.function.arguments = '';", becomes: '' },
    {
      is: 'this.#last = piece.startsWith(last) ? piece : undefined;',
      becomes: 'this.#last = piece;',
    },
    { is: 'call.incomplete = true;', becomes: ';' },
  ],
  'resources/generate/accumulator.ts': [
    { is: 'if (hasContent(piece)) delete candidate.finishReason;', becomes: '' },
    { is: 'list.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));', becomes: '' },
    { is: '&& last.thought === part.thought', becomes: '' },
    { is: '  if (willContinue === true) return;', becomes: '  return;' },
    {
      is: 'response.usageMetadata = mergeUsage(response.usageMetadata, piece.usageMetadata);',
      becomes: 'response.usageMetadata = piece.usageMetadata;',
    },
  ],
  'streams/open-stream.ts': [
    {
      is: "if (StreamTimeoutError.isInstance(error)) return { ...failed, kind: 'timed_out' };",
      becomes: '',
    },
    {
      is: "beginning === '' || (/^(json|markup)$/.test(format) && !isSVG)",
      becomes: "beginning === ''",
    },
    { is: 'holds: request.holdsStream()', becomes: 'holds: false' },
  ],
};
