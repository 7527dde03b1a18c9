/** Names of the parameters for when a URL was signed and for how many seconds it is valid. */
const signedFor = ['x-amz', 'x-goog', 'x-tos', 'x-oss'].map(
  (prefix) => [`${prefix}-date`, `${prefix}-expires`] as const,
);

/** Parameters with the time when a URL expires, in seconds since 1970. */
const expiryNames = ['expires', 'x-expires', 'e'];

/** 2001 and 2286, in seconds: other numbers are not a time. */
const [earliest, latest] = [1e9, 1e10];

/** Parses the compact time of signatures, such as `20260102T030405Z`, to milliseconds since 1970. */
function parseCompact(text: string): number {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Date.parse(iso);
}

/**
 * Returns when a signed URL of a cloud store expires, in milliseconds since 1970; `undefined` if the URL does not
 * tell. Reads the parameters of AWS, Google, Azure, Alibaba, Tencent, Volcengine and Qiniu.
 */
export function readExpiry(url: string): number | undefined {
  if (!URL.canParse(url)) return undefined;
  const query = new Map(
    [...new URL(url).searchParams].map(([name, value]) => [name.toLowerCase(), value]),
  );
  for (const [dateName, durationName] of signedFor) {
    const date = parseCompact(query.get(dateName) ?? '');
    const duration = Number(query.get(durationName) ?? Number.NaN);
    if (Number.isFinite(date + duration)) return date + duration * 1_000;
  }
  const azure = query.has('sig') ? Date.parse(query.get('se') ?? '') : Number.NaN;
  if (Number.isFinite(azure)) return azure;
  const [, tencent] = query.get('q-sign-time')?.split(';') ?? [];
  const seconds = [...expiryNames.map((name) => query.get(name)), tencent]
    .map(Number)
    .find((value) => value > earliest && value < latest);
  return seconds === undefined ? undefined : seconds * 1_000;
}
