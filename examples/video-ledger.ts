// Creates a video that is paid for once, even if the process is killed and restarted at any time. The
// ledger has the task, and the download is resumed.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway, VideoSubmitUnknownError } from 'model-gateway';
import { downloadVideo, fileLedger } from 'model-gateway/node';

const client = new Gateway();
const ledger = fileLedger(join(tmpdir(), 'video-submissions'));
// The id of your job: the same for every attempt, and unique to this job.
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
  // A process died between the request and its response. Check the account first.
  console.error(error.message);
}
