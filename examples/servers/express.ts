// Express 5. The page is in `public`, and its client has { apiKey: null, baseURL: '/api', maxRetries: 0 }.
import { pipeline } from 'node:stream';
import express from 'express';
import { handle } from './handler.ts';

const { PORT = '3000' } = process.env;
const app = express();
app.use(express.static('public'));

const body = express.raw({ type: () => true, limit: '20mb' });
app.post('/api/*path', body, async (asked, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const answer = await handle(
    new Request(new URL(asked.url, 'http://localhost'), {
      method: 'POST',
      headers: { 'content-type': asked.get('content-type') ?? '' },
      body: asked.body,
      signal: gone.signal,
    }),
  );
  response.status(answer.status).setHeaders(answer.headers);
  pipeline(answer.body ?? [], response, () => {});
});

app.listen(Number(PORT));
