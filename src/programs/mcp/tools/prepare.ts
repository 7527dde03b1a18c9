import { openInput, type InputRules } from './inputs.ts';
import type { Input, JobRequest } from '../jobs/job.ts';
import type { Arguments } from './schemas.ts';

/** A request that a tool makes, without its ids and limits. */
export interface PreparedCall {
  readonly request: JobRequest;
  readonly inputs: Readonly<Partial<Record<'image' | 'mask' | 'file', readonly Input[]>>>;
  /** The prompt or text, for file names and lists. */
  readonly label: string;
}

const openImages = (paths: readonly string[], rules: InputRules): Promise<Input[]> =>
  Promise.all(paths.map((path) => openInput(path, 'image', rules)));

function imageParams({
  prompt,
  n,
  size,
  quality,
  background,
  output_format,
}: Pick<
  Arguments<'create_image'>,
  'prompt' | 'n' | 'size' | 'quality' | 'background' | 'output_format'
>) {
  return {
    prompt,
    n,
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    ...(background === undefined ? {} : { background }),
    ...(output_format === undefined ? {} : { output_format }),
  };
}

export async function prepareImage(args: Arguments<'create_image'>): Promise<PreparedCall> {
  const request = { tool: 'create_image', params: imageParams(args) } as const;
  return { request, inputs: {}, label: args.prompt };
}

export async function prepareEdit(
  args: Arguments<'edit_image'>,
  rules: InputRules,
): Promise<PreparedCall> {
  const { images, mask, prompt } = args;
  const request = { tool: 'edit_image', params: imageParams(args) } as const;
  const image = await openImages(images, rules);
  const inputs = mask === undefined ? { image } : { image, mask: await openImages([mask], rules) };
  return { request, inputs, label: prompt };
}

export async function prepareSpeech({
  text,
  voice,
  format,
  speed,
  instructions,
}: Arguments<'create_speech'>): Promise<PreparedCall> {
  const params = {
    input: text,
    voice,
    response_format: format,
    ...(speed === undefined ? {} : { speed }),
    ...(instructions === undefined ? {} : { instructions }),
  };
  return { request: { tool: 'create_speech', params }, inputs: {}, label: text };
}

export async function prepareTranscription(
  { path, language, prompt }: Arguments<'transcribe_audio'>,
  rules: InputRules,
): Promise<PreparedCall> {
  const params = {
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
  };
  const file = [await openInput(path, 'audio', rules)];
  return { request: { tool: 'transcribe_audio', params }, inputs: { file }, label: path };
}

export async function prepareVideo(
  { prompt, seconds, size, image }: Arguments<'create_video'>,
  rules: InputRules,
): Promise<PreparedCall> {
  const params = {
    prompt,
    ...(seconds === undefined ? {} : { seconds: String(seconds) }),
    ...(size === undefined ? {} : { size }),
  };
  const inputs = image === undefined ? {} : { image: await openImages([image], rules) };
  return { request: { tool: 'create_video', params }, inputs, label: prompt };
}
