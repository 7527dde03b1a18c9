// Makes a video that is paid for once, whatever happens to the process: kill it at any moment, and
// start it again. The ledger knows the task, and the download goes on where it broke off.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway, VideoSubmitUnknownError } from 'model-gateway';
import { downloadVideo, fileLedger } from 'model-gateway/node';

const client = new Gateway();
const ledger = fileLedger(join(tmpdir(), 'video-submissions'));
// The id of your job: the same at every attempt, and of no other job.
const callId = process.env['JOB_ID'] ?? 'job-1';

try {
  for (const attempt of ['first', 'second']) {
    const video = await client.videos.createAndWait(
      { model: 'sora-2', prompt: 'A paper boat on a quiet lake', seconds: 4 },
      { ledger, callId },
    );
    console.log(`The ${attempt} attempt has task ${video.id}`);
    const { path, bytes } = await downloadVideo(client, video, {
      to: join(tmpdir(), `${callId}.mp4`),
      resume: true,
    });
    console.log(`Saved ${path}, ${bytes} bytes`);
  }
} catch (error) {
  if (!VideoSubmitUnknownError.isInstance(error)) throw error;
  // A process died between sending the request and hearing of its task. Look at the account first.
  console.error(error.message);
}
