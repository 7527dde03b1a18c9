// Handles requests from your pages; hono.ts, express.ts and next/ pass them on to it.
import { APIError, Gateway, InvalidInputError } from 'model-gateway';

const gateway = new Gateway();

/** The fields that pages send. The page's client checks them, and so does this one. */
interface Asked {
  messages: Gateway.ChatCompletionMessageParam[];
  stream?: boolean;
  prompt: string;
  image: File;
  input: string;
}

/** Sends what pages may request. You set models and limits; nothing else is passed on. */
function call(path: string, asked: Asked, signal: AbortSignal) {
  const { messages, stream, prompt, image, input } = asked;
  switch (path.slice(path.lastIndexOf('/v1/'))) {
    case '/v1/chat/completions': {
      const params = { model: 'gpt-4o-mini', max_tokens: 1_000, messages, stream };
      return gateway.chat.completions.create(params, { signal });
    }
    case '/v1/images/generations':
      return gateway.images.generate({ model: 'gpt-image-1', prompt }, { signal });
    case '/v1/images/edits':
      return gateway.images.edit({ model: 'gpt-image-1', prompt, image }, { signal });
    case '/v1/audio/speech':
      return gateway.audio.speech.create({ model: 'tts-1', voice: 'alloy', input }, { signal });
  }
  return undefined;
}

/** Returns an error for the page's client, which must not retry what this client has retried. */
function refuse(status: number, error: unknown): Response {
  return Response.json({ error }, { status, headers: { 'x-should-retry': 'false' } });
}

/** Returns what a page sent, or `undefined` if it is neither a JSON object nor a form. */
async function readBody(request: Request) {
  const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data');
  try {
    const body = isForm ? Object.fromEntries(await request.formData()) : await request.json();
    return Object(body) === body ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Handles requests from a client whose `baseURL` is the path that serves this. */
export async function handle(request: Request): Promise<Response> {
  // Authenticate users and check their limits here.
  const asked = await readBody(request);
  if (asked === undefined) return refuse(400, { message: 'Send a JSON object or a form.' });
  try {
    const answer = await call(new URL(request.url).pathname, asked, request.signal)?.asResponse();
    if (!answer) return refuse(404, { message: 'This is not offered here.' });
    const type = answer.headers.get('content-type') ?? '';
    return new Response(answer.body, { headers: { 'content-type': type } });
  } catch (error) {
    if (InvalidInputError.isInstance(error)) return refuse(400, { message: error.message });
    const { status = 0, error: said } = APIError.isInstance(error) ? error : {};
    // Only errors that a page can fix or wait for. Others may contain private details.
    if ([400, 413, 422, 429].includes(status)) return refuse(status, said);
    if (!request.signal.aborted) console.error(error);
    return refuse(502, { message: 'Please try again later.' });
  }
}
