/** A message, and the request id with its parentheses that the gateway writes at its end. */
export function splitRequestId(message: string): [text: string, suffix: string] {
  const suffix = /\(request id: [^()\s]{1,200}\)$/i.exec(message.trimEnd())?.[0] ?? '';
  return suffix === ''
    ? [message, '']
    : [message.trimEnd().slice(0, -suffix.length).trimEnd(), suffix];
}

/** A message by which answers are compared: every request has an id of its own. */
export function withoutRequestIds(message: string): string {
  return message.replace(/request[\s_-]?id["':=\s]{0,4}[\w-]{1,200}/gi, '');
}

/** The request id in an error message; the last one, as gateways in a row each add theirs. */
export function requestIdFromMessage(message = ''): string | undefined {
  return [...message.matchAll(/\(request id: ([^()\s]{1,200})\)/gi)].at(-1)?.[1];
}
