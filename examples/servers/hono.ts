// Hono, on Node. The page is in `public`, and its client has { apiKey: null, baseURL: '/api', maxRetries: 0 }.
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { handle } from './handler.ts';

const { PORT = '3000' } = process.env;
const app = new Hono();
app.post('/api/*', (c) => handle(c.req.raw));
app.use('*', serveStatic({ root: './public' }));

serve({ fetch: app.fetch, port: Number(PORT) });
