import * as z from 'zod';

const row = z.strictObject({
  id: z.string().describe('The check, or `route.` and the name of an operation.'),
  status: z
    .enum(['ok', 'warn', 'fail', 'skip', 'yes', 'no', 'unknown'])
    .describe('The result of a check, or whether the gateway serves a route.'),
  detail: z.string(),
  fix: z.string().optional().describe('A suggestion for the user.'),
});

/** The JSON document of `doctor --report`. The build writes it as `dist/doctor-report.schema.json`. */
export const reportSchema = z.strictObject({
  version: z.literal(1).describe('The version of this format.'),
  createdAt: z.iso.datetime(),
  client: z.string().describe('The version of model-gateway.'),
  runtime: z.string(),
  rows: z.array(row),
  removed: z
    .array(z.strictObject({ name: z.string(), times: z.number() }))
    .describe('What was removed from the details, and how many times.'),
});

export type DoctorReport = z.infer<typeof reportSchema>;
export type ReportRow = z.infer<typeof row>;
