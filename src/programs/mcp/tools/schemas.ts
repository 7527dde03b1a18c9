import * as z from '#mcp-sdk';

const callId = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe(
    'An id of your own for this call. The same id again returns the same result without another charge. By default, it is derived from the arguments and the content of the files.',
  );

const again = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe(
    'Any text, to pay for a new result of a call that was made before. Without it, the same arguments return the existing result.',
  );

const name = z
  .string()
  .regex(/^[^\\/\0]{1,80}$/)
  .optional()
  .describe('The beginning of the file name. By default, the first words of the prompt.');

const prompt = z.string().trim().min(1).max(32_000);

const paid = { name, call_id: callId, again };

/** Returns the schema of the parameter `model`, which is optional if the server has a default. */
const model = (byDefault: string | undefined) => {
  const named = z.string().min(1).max(200);
  return byDefault === undefined
    ? named.describe('A name that list_models returns.')
    : named.default(byDefault).describe('A name that list_models returns.');
};

const size = z.string().max(40).optional();

const imageFields = {
  n: z.number().int().min(1).max(10).default(1).describe('The number of images; each is charged.'),
  size: size.describe('Width and height, such as 1024x1024, if the model supports it.'),
  quality: z.string().max(40).optional().describe('Such as low, medium or high, if supported.'),
  background: z
    .enum(['transparent', 'opaque', 'auto'])
    .optional()
    .describe('The background, if the model supports it. Transparent ones need PNG or WebP.'),
  output_format: z.enum(['png', 'jpeg', 'webp']).optional().describe('The default is PNG.'),
};

const path = z.string().min(1).max(4_096);

const states = ['running', 'submitted', 'done', 'failed', 'unknown'] as const;

/** The arguments of the tools. @param models - The default models by kind. */
export function createSchemas(models: Readonly<Partial<Record<string, string>>>) {
  const image = { model: model(models['image']), ...imageFields, ...paid };
  return {
    create_image: z.strictObject({ prompt: prompt.describe('The image to create.'), ...image }),
    edit_image: z.strictObject({
      prompt: prompt.describe('The change to make.'),
      images: z
        .array(path)
        .min(1)
        .max(16)
        .describe(
          'Paths of files in the workspace, paths or file: URIs of results, or https URLs; files and URLs cannot be combined.',
        ),
      mask: path.optional().describe('A PNG whose transparent area may change.'),
      ...image,
    }),
    create_speech: z.strictObject({
      text: z.string().trim().min(1).max(32_000).describe('The text to speak.'),
      model: model(models['speech']),
      voice: z
        .string()
        .max(100)
        .default('alloy')
        .describe('A voice that the model has, such as alloy or nova.'),
      format: z
        .enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])
        .default('mp3')
        .describe('The format of the file.'),
      speed: z.number().min(0.25).max(4).optional().describe('1 is the normal speed.'),
      instructions: z.string().max(4_000).optional().describe('How to speak, if supported.'),
      ...paid,
    }),
    transcribe_audio: z.strictObject({
      path: path.describe('An audio or video file in the workspace.'),
      model: model(models['transcription']),
      language: z.string().max(20).optional().describe('The spoken language, such as en.'),
      prompt: z.string().max(4_000).optional().describe('Words to expect, such as names.'),
      call_id: callId,
      again,
    }),
    create_video: z.strictObject({
      prompt: prompt.describe('The video to create.'),
      model: model(models['video']),
      seconds: z.number().min(1).max(600).optional().describe('The length; it sets the price.'),
      size: size.describe('Width and height, such as 1280x720, if the model supports it.'),
      image: path.optional().describe('The first frame: a file in the workspace or an https URL.'),
      ...paid,
    }),
    wait_video: z.strictObject({
      call_id: z.string().min(1).describe('The call_id that create_video returned.'),
    }),
    list_jobs: z.strictObject({
      limit: z.number().int().min(1).max(100).default(20).describe('The most jobs to list.'),
      state: z.enum(states).optional().describe('List only jobs in this state.'),
    }),
    list_models: z.strictObject({
      search: z.string().max(100).optional().describe('A part of the name.'),
    }),
    estimate_cost: z.strictObject({
      tool: z
        .enum(['create_image', 'edit_image', 'create_speech', 'transcribe_audio', 'create_video'])
        .describe('The tool that would make the call.'),
      model: z.string().min(1).max(200).describe('A name that list_models returns.'),
      n: imageFields.n,
      size: size.describe('Width and height, such as 1024x1024.'),
      quality: imageFields.quality,
      seconds: z.number().min(1).max(600).optional().describe('Of a video.'),
      text: z.string().max(32_000).optional().describe('The text to speak.'),
    }),
    account_balance: z.strictObject({}),
    check_charge: z.strictObject({
      call_id: z.string().min(1).optional().describe('The call_id of a job.'),
      request_id: z.string().min(1).optional().describe("A request id of the gateway's usage log."),
    }),
  };
}

export type Schemas = ReturnType<typeof createSchemas>;

export type Arguments<Tool extends keyof Schemas> = z.infer<Schemas[Tool]>;

const file = z.object({
  path: z.string(),
  uri: z.string(),
  mime_type: z.string(),
  bytes: z.number(),
});

/** The structured result of a job. */
export const jobOutput = z.object({
  call_id: z.string(),
  tool: z.string(),
  model: z.string(),
  state: z.enum(states),
  charged: z
    .enum(['yes', 'no', 'unknown'])
    .describe(
      'unknown: the request may have been sent, and its response is still open or was lost.',
    ),
  cost_usd: z.number().optional().describe('As the gateway reported it, or as expected.'),
  reused: z.boolean().describe('true if an earlier call made the result, so nothing was charged.'),
  files: z.array(file),
  text: z.string().optional(),
  task_id: z.string().optional(),
  status: z.string().optional(),
  message: z.string().optional(),
  created_at: z.string(),
});

export type JobOutput = z.infer<typeof jobOutput>;
