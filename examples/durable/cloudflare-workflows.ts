// Videos in Cloudflare Workflows: a submission without retries, and polls with sleeps in between.
//
// By default, `step.do` is retried five times, so a submission with a lost response would be sent and paid up
// to six times. Workers that wait are terminated, so sleeps must be steps.
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers';
import {
  Gateway,
  parseVideoTaskRef,
  type VideoCreateParams,
  type VideoTaskRef,
  type VideoWaitState,
} from 'model-gateway';

interface Env {
  readonly GATEWAY_API_KEY: string;
  readonly GATEWAY_BASE_URL: string;
}

interface Order {
  readonly params: VideoCreateParams;
}

export class MakeVideo extends WorkflowEntrypoint<Env, Order> {
  override async run(event: WorkflowEvent<Order>, step: WorkflowStep): Promise<VideoTaskRef> {
    const client = new Gateway({
      apiKey: this.env.GATEWAY_API_KEY,
      baseURL: this.env.GATEWAY_BASE_URL,
    });
    // One attempt. If its response is lost, the instance fails and someone has to check the account.
    const once = { retries: { limit: 0, delay: 0 }, timeout: '10 minutes' } as const;
    const stored = await step.do('submit', once, async () => {
      const task = await client.videos.create(event.payload.params, { callId: event.instanceId });
      return JSON.stringify(task.ref);
    });
    const ref = parseVideoTaskRef(JSON.parse(stored));
    await step.sleep('first pause', 5_000);
    let state: VideoWaitState | undefined;
    // The default limit of 1,024 steps, at two per poll, is enough for an hour.
    for (let poll = 1; ; poll += 1) {
      const before = state;
      const answer = await step.do(`poll ${poll}`, async () => {
        const { state: after, next } = await client.videos.step(ref, before);
        if ('error' in next) throw next.error;
        const delayMs = 'delayMs' in next ? next.delayMs : undefined;
        return JSON.stringify({ after, delayMs });
      });
      const read: { after: VideoWaitState; delayMs?: number } = JSON.parse(answer);
      if (read.delayMs === undefined) return ref;
      state = read.after;
      await step.sleep(`pause ${poll}`, read.delayMs);
    }
  }
}
