import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DoctorReport, reportSchema } from '../../src/programs/cli/doctor/report-schema.ts';

const program = join(import.meta.dirname, '../../dist/cli/main.js');

/** A gateway, and the profile to call it with. */
interface Examined {
  readonly url: string;
  readonly key: string;
  readonly profile: string;
  /** Headers of every request, as in `GATEWAY_HEADERS`. */
  readonly headers?: string;
}

/** Runs `doctor` with all paid calls. @throws if it prints no report */
export async function runDoctor({
  url,
  key,
  profile,
  headers = '',
}: Examined): Promise<DoctorReport> {
  const home = await mkdtemp(join(tmpdir(), 'model-gateway-doctor-'));
  const words = ['doctor', '--report', '--json', '--spend', '20', '--video'];
  const child = spawn(process.execPath, [program, ...words], {
    env: {
      ...process.env,
      HOME: home,
      GATEWAY_BASE_URL: url,
      GATEWAY_API_KEY: key,
      GATEWAY_PROFILE: profile,
      GATEWAY_HEADERS: headers,
      GATEWAY_LOG: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  await rm(home, { recursive: true, force: true });
  if (output === '') throw new Error(`doctor failed: ${errors}`);
  return reportSchema.parse(JSON.parse(output));
}
