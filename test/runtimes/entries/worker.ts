import { checks } from '../checks/index.ts';
import { runChecks } from '../harness/check.ts';
import { readWorld } from '../harness/world.ts';

/** Runs the checks inside of a request, as workers may only make requests there. */
async function fetchHandler(request: Request): Promise<Response> {
  const world = readWorld(await request.text());
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const report = (line: string): void => {
    void writer.write(encoder.encode(`${line}\n`));
  };
  void runChecks(checks, world, report).then(() => writer.close());
  return new Response(readable);
}

export default { fetch: fetchHandler };
