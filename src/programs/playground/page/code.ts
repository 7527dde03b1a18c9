import type { CallInput, CallView, Hello } from '../protocol.ts';
import { toText } from './format.ts';

/** The input of a call, sent or not, as far as its code depends on it. */
export type CodedCall = Pick<CallView, 'operation' | 'sent' | 'video'> &
  Pick<CallInput, 'kind' | 'body' | 'remixOf' | 'strict'>;

/** The routes of the operations. */
const paths: Readonly<Record<string, string>> = {
  'chat.completions.create': '/v1/chat/completions',
  'images.generate': '/v1/images/generations',
  'images.edit': '/v1/images/edits',
  'audio.speech.create': '/v1/audio/speech',
  'audio.transcriptions.create': '/v1/audio/transcriptions',
  'audio.translations.create': '/v1/audio/translations',
  'embeddings.create': '/v1/embeddings',
  'videos.create': '/v1/videos',
};

/** Returns the file extension of speech. */
const speechFormat = ({ body }: CodedCall): string => toText(body['response_format']) || 'mp3';

/** Formats a value as TypeScript: names without quotes, strings in single quotes. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') {
    // Data URLs of images would hide the rest.
    if (value.startsWith('data:') && value.length > 200) return `'${value.slice(0, 40)}…'`;
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, inner));
    const isShort = items.join(', ').length < 70 && !items.some((item) => item.includes('\n'));
    return isShort
      ? `[${items.join(', ')}]`
      : `[\n${inner}${items.join(`,\n${inner}`)},\n${indent}]`;
  }
  const fields = Object.entries(value).map(
    ([name, field]) => `${/^[\w$]+$/.test(name) ? name : literal(name)}: ${literal(field, inner)}`,
  );
  if (fields.length === 0) return '{}';
  const line = `{ ${fields.join(', ')} }`;
  if (line.length < 70 && !line.includes('\n')) return line;
  return `{\n${inner}${fields.join(`,\n${inner}`)},\n${indent}}`;
}

/** Formats the parameters as code. Sent files are opened from the disk. */
function params({ body, sent }: CodedCall, extra: Readonly<Record<string, unknown>> = {}): string {
  const text = literal({ ...body, ...extra });
  const files = sent.map(
    ({ field, name }) => `  ${field}: await fileFromPath(${literal(name)}),\n`,
  );
  if (files.length === 0) return text;
  const open = text.includes('\n')
    ? text
    : `{\n  ${text.slice(2, -2).replaceAll(', ', ',\n  ')},\n}`;
  return open.replace(/\}$/, `${files.join('')}}`);
}

const uses: Readonly<Record<string, (call: CodedCall) => string>> = {
  'chat.completions.create': (
    call,
  ) => `const stream = await client.chat.completions.create(${params(call, { stream: true })});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
}
`,
  'images.generate': (call) => `const images = await client.images.generate(${params(call)});
for (const [index, image] of images.data.entries()) {
  await saveTo(image, \`image-\${index + 1}.png\`);
}
`,
  'images.edit': (call) => `const images = await client.images.edit(${params(call)});
for (const [index, image] of images.data.entries()) {
  await saveTo(image, \`image-\${index + 1}.png\`);
}
`,
  'audio.speech.create': (
    call,
  ) => `const speech = await client.audio.speech.create(${params(call)});
await saveTo(speech, 'speech.${speechFormat(call)}');
`,
  'audio.transcriptions.create': (
    call,
  ) => `const transcription = await client.audio.transcriptions.create(${params(call)});
console.log(transcription);
`,
  'audio.translations.create': (
    call,
  ) => `const translation = await client.audio.translations.create(${params(call)});
console.log(translation);
`,
  'embeddings.create': (
    call,
  ) => `const { vectors } = await client.embeddings.createMany(${params(call)});
console.log(vectors.length, vectors[0]?.length);
`,
  'videos.create': (call) => `const video = await client.videos.createAndWait(${params(call)}, {
  onSubmitted: (ref) => console.log('submitted', JSON.stringify(ref)),
});
await saveTo(await client.videos.downloadContent(video), 'video.mp4');
`,
  'videos.remix': ({
    body,
    video,
  }) => `const video = await client.videos.remixAndWait('${video?.ref.remixOf ?? 'the id of the first task'}', {
  prompt: ${literal(body['prompt'])},
});
await saveTo(await client.videos.downloadContent(video), 'remix.mp4');
`,
};

/** Formats a call as a program that reads the key from the environment. */
export function toTypeScript(call: CodedCall, { gateway }: Pick<Hello, 'gateway'> = {}): string {
  const code = uses[call.operation]?.(call) ?? '';
  const helpers = ['fileFromPath', 'saveTo'].filter((name) => code.includes(`${name}(`));
  const node =
    helpers.length === 0 ? '' : `import { ${helpers.join(', ')} } from 'model-gateway/node';\n`;
  const settings = {
    ...(gateway === undefined ? {} : { gateway }),
    ...(call.strict === true ? { retryUnknownOutcome: false } : {}),
  };
  const options = Object.keys(settings).length === 0 ? '' : literal(settings);
  return `import { Gateway } from 'model-gateway';
${node}
const client = new Gateway(${options}); // reads GATEWAY_BASE_URL and GATEWAY_API_KEY

${code}`;
}

/** Quotes a text for a shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Formats a call as a curl command. */
export function toCurl(call: CodedCall, hello?: Pick<Hello, 'gateway' | 'baseURL'>): string {
  const { body, sent, operation, kind, remixOf } = call;
  const path = paths[operation] ?? (remixOf === undefined ? '' : '/v1/videos/{video_id}/remix');
  const isOpenRouter = hello?.gateway === 'openrouter';
  if (isOpenRouter && kind !== 'chat' && kind !== 'embeddings') {
    return '# OpenRouter has its own format for this request. Use the TypeScript code.\n';
  }
  // The path of OpenRouter's API may be missing in GATEWAY_BASE_URL.
  const base = isOpenRouter ? hello.baseURL.replace(/\/v1$/, '') : '$GATEWAY_BASE_URL';
  const lines = [`curl "${base}${path}"`, '-H "Authorization: Bearer $GATEWAY_API_KEY"'];
  const isForm = sent.length > 0 || operation === 'videos.create';
  if (isForm) {
    for (const [name, value] of Object.entries(body)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      lines.push(`--form-string ${quote(`${name}=${text}`)}`);
    }
    for (const { field, name } of sent) lines.push(`-F ${quote(`${field}=@${name}`)}`);
  } else {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(
      `-d ${quote(JSON.stringify(kind === 'chat' ? { ...body, stream: true } : body, undefined, 2))}`,
    );
  }
  if (kind === 'speech') lines.push(`-o speech.${speechFormat(call)}`);
  return `${lines.join(' \\\n  ')}\n`;
}
