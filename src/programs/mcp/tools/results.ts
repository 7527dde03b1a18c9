import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallToolResult, ContentBlock } from '#mcp-sdk';
import { round } from './cost.ts';
import type { ToolError } from './errors.ts';
import {
  downloading,
  isUndelivered,
  jobCost,
  type JobRecord,
  type OutputFile,
} from '../jobs/job.ts';
import type { JobOutput } from './schemas.ts';

/** How much of an image a result contains. */
export type Inline = 'none' | 'thumbnail' | 'full';

/** The largest image that a result contains, in bytes. */
const maxInlineBytes = 4 * 1_024 * 1_024;

export const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

/** Returns the URI of a saved file. */
export const toURI = ({ path }: OutputFile): string => pathToFileURL(path).href;

const toLink = (file: OutputFile): ContentBlock => ({
  type: 'resource_link',
  uri: toURI(file),
  name: basename(file.path),
  mimeType: file.mimeType,
  size: file.bytes,
});

/** Returns the state of a job as structured content. */
export function toOutput(record: JobRecord, reused: boolean): JobOutput {
  const { callId, tool, model, state, files, text, status, message, ref } = record;
  // By the time that this is read, the request may have been sent.
  const { charged = 'unknown' } = record;
  const cost = jobCost(record);
  return {
    call_id: callId,
    tool,
    model,
    state: state === 'queued' ? 'running' : state,
    charged,
    reused,
    files: files.map((file) => ({
      path: file.path,
      uri: toURI(file),
      mime_type: file.mimeType,
      bytes: file.bytes,
    })),
    created_at: new Date(record.createdAt).toISOString(),
    ...(cost === undefined ? {} : { cost_usd: cost }),
    ...(text === undefined ? {} : { text }),
    ...(ref === undefined ? {} : { task_id: ref.id }),
    ...(status === undefined ? {} : { status }),
    ...(message === undefined ? {} : { message }),
  };
}

function describeCost(record: JobRecord): string {
  const { cost, estimate } = record;
  if (cost !== undefined) return ` It cost $${round(cost)}.`;
  return estimate === undefined ? '' : ` Its expected cost is $${round(estimate)}.`;
}

const makeNew = 'To pay for a new result, pass again with any text.';

function describe(record: JobRecord, reused: boolean): string {
  const { callId, state, message = '', files, text, charged, status, tool } = record;
  const id = JSON.stringify(callId);
  switch (state) {
    case 'done': {
      const saved = files.map(({ path }) => path).join('\n');
      const cost = reused
        ? `An earlier call made this result; nothing was charged now. ${makeNew}`
        : describeCost(record).trim();
      const lines = text === undefined ? ['Saved:', saved] : [text, ''];
      if (message !== '') lines.push(message);
      return [...lines, cost].join('\n').trim();
    }
    case 'queued':
    case 'running':
      return `The call is still running. Call wait_video with call_id ${id}, or repeat this call: neither is charged again.`;
    case 'submitted': {
      const now = status === undefined ? '' : ` (${status})`;
      const kind = tool === 'create_video' ? 'video' : 'image';
      const problem = message === '' ? '' : ` The last check failed: ${message}`;
      const creating = `The gateway is creating the ${kind}${now}.${problem}`;
      const loading = message === '' ? 'The video is completed and is being downloaded.' : message;
      const progress = status === downloading ? loading : creating;
      return `${progress}${describeCost(record)} Call wait_video with call_id ${id} until the state is done. That is free.`;
    }
    case 'failed':
      if (charged === 'no') return `${message} Nothing was charged.`;
      if (isUndelivered(record)) {
        return `${message} It is paid for. wait_video with call_id ${id} tries the download again, which is free; otherwise ask the operator of the gateway for the file of its task_id. ${makeNew}`;
      }
      return `${message} It was charged; check_charge with call_id ${id} shows whether it was refunded. ${makeNew}`;
    case 'unknown':
      return `${message} It may have been charged. Repeat this call to look for its result: it is sent again only if the gateway's usage log proves that it was free. check_charge with call_id ${id} reads the log. ${makeNew}`;
  }
}

async function toImages(record: JobRecord, inline: Inline): Promise<ContentBlock[]> {
  const { files, thumbnail } = record;
  if (inline === 'thumbnail' && thumbnail !== undefined) {
    return [{ type: 'image', data: thumbnail, mimeType: 'image/jpeg' }];
  }
  if (inline !== 'full') return [];
  const images: ContentBlock[] = [];
  for (const { path, mimeType, bytes } of files) {
    if (!mimeType.startsWith('image/') || bytes > maxInlineBytes) continue;
    const data = await readFile(path, 'base64').catch(() => undefined);
    if (data !== undefined) images.push({ type: 'image', data, mimeType });
  }
  return images;
}

/** Returns the result of a tool for a job. */
export async function toResult(
  record: JobRecord,
  reused: boolean,
  inline: Inline,
): Promise<CallToolResult> {
  return {
    content: [
      textBlock(describe(record, reused)),
      ...record.files.map(toLink),
      ...(await toImages(record, inline)),
    ],
    structuredContent: toOutput(record, reused),
    ...(record.state === 'failed' || record.state === 'unknown' ? { isError: true } : {}),
  };
}

/** Returns a tool error that an agent can act on. */
export function toErrorResult({ message }: ToolError): CallToolResult {
  return { content: [textBlock(message)], isError: true };
}
