// What a server of your own does for its pages: hono.ts, express.ts and next/ hand it what they ask.
import { APIError, Gateway, InvalidInputError } from 'model-gateway';

const gateway = new Gateway();

/** What the clients of pages send. They check it, and so does yours. */
interface Asked {
  messages: Gateway.ChatCompletionMessageParam[];
  stream?: boolean;
  prompt: string;
  image: File;
  input: string;
}

/** What pages may ask for: models and limits are yours, and nothing else is passed on. */
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

/** An error as a page's client reads it. It is not to repeat what your client has repeated. */
function refuse(status: number, error: unknown): Response {
  return Response.json({ error }, { status, headers: { 'x-should-retry': 'false' } });
}

/** Answers a client whose `baseURL` is the path where this is served. */
export async function handle(request: Request): Promise<Response> {
  // Here is the place to ask who it is, and how much they may use.
  const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data');
  try {
    const asked = isForm ? Object.fromEntries(await request.formData()) : await request.json();
    const answer = await call(new URL(request.url).pathname, asked, request.signal)?.asResponse();
    if (!answer) return refuse(404, { message: 'This is not offered here.' });
    const type = answer.headers.get('content-type') ?? '';
    return new Response(answer.body, { headers: { 'content-type': type } });
  } catch (error) {
    if (InvalidInputError.isInstance(error)) return refuse(400, { message: error.message });
    const { status = 0, error: said } = APIError.isInstance(error) ? error : {};
    // What a page can mend or wait for; of the rest it is told nothing, as it may hold what is yours.
    if ([400, 413, 422, 429].includes(status)) return refuse(status, said);
    if (!request.signal.aborted) console.error(error);
    return refuse(502, { message: 'Please try again later.' });
  }
}
