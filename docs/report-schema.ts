/** Writes the JSON schema of `doctor --report` into the package. */
import { writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { reportSchema } from '../src/programs/cli/doctor/report-schema.ts';

const schema = JSON.stringify(z.toJSONSchema(reportSchema), undefined, 2);
await writeFile('dist/doctor-report.schema.json', `${schema}\n`);
