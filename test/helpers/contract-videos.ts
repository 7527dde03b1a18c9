import type { Emulator, EmulatorOptions, Fault, Quirks } from '../../src/testing/index.ts';
import type { Recording, Setup } from './contract.ts';
import { plainClient } from './emulator-client.ts';

/** The models of the recorded gateway, by their names in the recordings. */
const models: Readonly<Record<string, string>> = {
  sora: 'sora-2',
  openai: 'gpt-video',
  kling: 'kling-v1',
  ali: 'wan2.5-t2v-preview',
  vidu: 'viduq1',
  hailuo: 'MiniMax-Hailuo-02',
  jimeng: 'jimeng_v30',
  veo: 'veo-3.0-generate-001',
  doubao: 'doubao-seedance-1-0-pro-250528',
};

function getModel({ name }: Recording): string {
  if (name.includes('chain')) return 'm-video';
  const vendor = Object.keys(models).find((known) => name.includes(known)) ?? 'sora';
  return models[/^(vendor route|content, range)/.test(name) ? 'kling' : vendor] ?? '';
}

async function submit(emulator: Emulator, model: string): Promise<string> {
  const prompt = 'A boat';
  await emulator.fetch(`${emulator.baseURL}/v1/videos`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${emulator.apiKey}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, prompt, content: [{ type: 'text', text: prompt }] }),
  });
  return emulator.videos.list[0]?.id ?? '';
}

/** State of the task when the response was recorded, with its values. */
function getState({ name, answer }: Recording): string {
  const body = Object(answer.body);
  if (name.startsWith('content too early')) return 'new';
  if (name.includes('stumbled') || String(body.data?.fail_reason).startsWith('upstream returned'))
    return 'stumbled';
  if (name.startsWith('content of a failed')) return 'failed';
  if (name.includes('content') && body.status === undefined) return 'completed';
  if (name.startsWith('remix')) return 'completed';
  const word = body.data?.status ?? body.status;
  return word === undefined ? 'stumbled' : String(word).toLowerCase();
}

/** A task in its recorded state. */
const task = (quirks: Partial<Quirks> = {}): Setup => ({
  options: { videoDuration: 60_000, quirks },
  prepare: async (emulator, recording) => {
    emulator.clock.hold();
    const id = await submit(emulator, getModel(recording));
    const state = getState(recording);
    if (/^(completed|success|succeeded)$/.test(state)) emulator.videos.complete(id);
    if (state.startsWith('fail')) emulator.videos.fail(id);
    const status = ([401, 500] as const).find((known) => recording.name.includes(`${known} to`));
    if (state === 'stumbled') emulator.videos.failPoll(id, status);
    if (state === 'in_progress') emulator.clock.advance(30_000);
    return id;
  },
});

const failing = (fault: Fault, options: EmulatorOptions = {}): Setup => ({
  options,
  prepare: (emulator) => void emulator.fail({ fault }),
});

const refused = (status: number): Setup => failing({ type: 'vendor-refusal', status });

/** A rejection with the code of the vendor or of the step that failed. */
const coded = (status: number, code: string): Setup => failing({ type: 'error', status, code });

const downloads = (count: number): Setup => ({
  prepare: async (emulator) => {
    const id = await submit(emulator, 'sora-2');
    const { get } = plainClient(emulator);
    for (let done = 0; done < count; done += 1) await get(`/v1/videos/${id}/content`);
    return id;
  },
});

/** The vendor does not have the content (yet). */
const missing = failing({
  type: 'error',
  status: 502,
  envelope: 'openai-short',
  errorType: 'server_error',
});

/** Statuses of a gateway that lists tasks of another gateway as a vendor's. */
const chained: Partial<Quirks> = {
  videoPollError: 'unknown',
  videoLength: 'missing',
  videoModel: 'empty',
  videoEarlyEnd: true,
};

const queued = { unknown: 'queued' };

/** The states of recorded responses about videos, by recording. */
export const videoSetups: readonly (readonly [names: RegExp, setup: Setup])[] = [
  [/^video, upstream 429/, refused(429)],
  [/^video, upstream 500/, refused(500)],
  [/^submission refused, .*(submithtml)/, refused(502)],
  [/^submission refused, .*submitreset/, coded(500, 'do_request_failed')],
  [/^submission refused, .*submitempty/, coded(500, 'unmarshal_response_body_failed')],
  [/^submission refused, sora, submitjunk/, coded(500, 'invalid_response')],
  [/^submission refused, ali, submitcode200/, failing({ type: 'error-in-200' })],
  [/^submission refused, (kling|vidu), submitcode/, coded(400, 'task_failed')],
  [/^submission refused, hailuo, submitrate/, coded(400, '1002')],
  [/^submission refused, hailuo, submitcode/, coded(400, '1026')],
  [/^submission refused, .*(submitcode|400)$/, refused(400)],
  ...[201, 401, 429, 500, 503].map(
    (status) => [new RegExp(`^submission refused, .*${status}$`), refused(status)] as const,
  ),
  [/^(submission|poll), the gateway's own limit/, {}],
  [/^content, asked too often/, downloads(10)],
  [/^vendor has no content yet, content/, missing],
  [/chain-sora, poll 1/, task({ videoForeignId: true, videoStatuses: queued })],
  [
    /chain-kling, poll 1/,
    task({ videoForeignId: true, videoLength: 'missing', videoStatuses: queued }),
  ],
  [/chain-sora/, task()],
  [/chain-kling/, task(chained)],
  // The vendor's error is in a task that continues.
  [/poll, ali, poll 9/, task({ videoError: 'always', videoStatuses: {} })],
  [/poll, hailuo, poll 6/, task({ videoError: 'always' })],
  [
    /^(video (polled|completed|failed)|vendor route (at once|completed|failed)|content|remix|vendor's .* poll, |whole life|vendor has|status while)/,
    task(),
  ],
];
