import * as z from 'zod';

const call = z
  .strictObject({
    model: z.string(),
    usd: z.number().optional().describe('What the call cost, in US dollars, if that is known.'),
    source: z
      .enum(['usage-log', 'response'])
      .optional()
      .describe("Where the cost is from: the gateway's usage log, or the response."),
    atMostUSD: z
      .number()
      .describe('The most that the call can have cost, in US dollars; 0 if it was rejected.'),
    milliseconds: z.number(),
  })
  .describe('A paid call. Only in rows of calls that were made.');

const row = z.strictObject({
  id: z
    .string()
    .describe(
      'The check, `route.` and the name of an operation, or `call.` and that of a paid call.',
    ),
  status: z
    .enum(['ok', 'warn', 'fail', 'skip', 'yes', 'no', 'unknown', 'pass', 'unsupported', 'timeout'])
    .describe(
      'The result of a check (`ok`, `warn`, `fail`, `skip`), whether the gateway has something (`yes`, `no`, `unknown`), or the result of a call (`pass`, `fail`, `unsupported`, `timeout`, `skip`).',
    ),
  detail: z.string(),
  fix: z.string().optional().describe('A suggestion for the user.'),
  call: call.optional(),
});

const profile = z.strictObject({
  name: z.string(),
  basePath: z.string().optional(),
  paths: z.record(z.string(), z.string()).optional(),
  unsupported: z.record(z.string(), z.string()).optional(),
  requests: z
    .record(z.string(), z.strictObject({ body: z.enum(['json', 'multipart']) }))
    .optional(),
  imageTask: z.string().optional(),
  requestIdHeaders: z.array(z.string()).optional(),
});

/** The JSON document of `doctor --report`. The build writes it as `dist/doctor-report.schema.json`. */
export const reportSchema = z.strictObject({
  version: z.literal(1).describe('The version of this format.'),
  createdAt: z.iso.datetime(),
  client: z.string().describe('The version of model-gateway.'),
  runtime: z.string(),
  rows: z.array(row),
  spend: z
    .strictObject({
      limitUSD: z.number(),
      chargedUSD: z.number().describe('The sum of the known costs of the calls.'),
      unknownUSD: z.number().describe('The most that the calls without a known cost have cost.'),
    })
    .optional()
    .describe('The paid calls in US dollars. Only with `--spend`.'),
  settings: z
    .strictObject({
      gateway: z
        .enum(['new-api', 'openrouter', 'litellm', 'openai'])
        .describe('The name of the profile that fits best.'),
      profile: profile.optional().describe('What differs from that profile.'),
      options: z.strictObject({
        bodyFormat: z.literal('json').optional(),
        structuredOutput: z.enum(['json_object', 'prompt']).optional(),
      }),
      reasons: z.array(z.string()),
      code: z.string().describe('The options as TypeScript.'),
    })
    .optional()
    .describe('Options with which this client works with the gateway.'),
  removed: z
    .array(z.strictObject({ name: z.string(), times: z.number() }))
    .describe('What was removed from the details, and how many times.'),
});

export type DoctorReport = z.infer<typeof reportSchema>;
export type ReportRow = z.infer<typeof row>;
export type ReportSettings = NonNullable<DoctorReport['settings']>;
