import { modelsCreated, type EmulatorModel } from '../control/models.ts';
import type { Call } from '../server/call.ts';
import { notFound } from './errors.ts';
import { unitsPerDollar } from './usage.ts';

const outputs: Readonly<Record<string, string>> = {
  image: 'image',
  audio: 'audio',
  video: 'video',
  text: 'text',
};

/** Price of a token: one credit unit, in US dollars. */
const perToken = String(1 / unitsPerDollar);

const outputOf = ({ id, type = 'text' }: EmulatorModel): string =>
  /embedding/.test(id) ? 'embeddings' : (outputs[type] ?? 'text');

function modelBody(model: EmulatorModel): unknown {
  const { id } = model;
  const output = outputOf(model);
  const context = 128_000;
  return {
    id,
    canonical_slug: id,
    hugging_face_id: null,
    name: id,
    created: modelsCreated,
    description: 'A model of the emulator.',
    context_length: context,
    architecture: {
      modality: `text->${output}`,
      input_modalities: ['text', 'image'],
      output_modalities: [output],
      tokenizer: 'Other',
      instruct_type: null,
    },
    pricing: { prompt: perToken, completion: perToken },
    top_provider: { context_length: context, max_completion_tokens: 16_384, is_moderated: false },
    per_request_limits: null,
    supported_parameters: ['max_tokens', 'temperature', 'tools', 'response_format', 'reasoning'],
    default_parameters: null,
    supported_voices: null,
    links: { details: `/api/v1/models/${id}/endpoints` },
  };
}

/** `GET /api/v1/models`. Lists models that return text, unless `output_modalities` names others. */
export function listOpenRouterModels({ world, url }: Call): Response {
  const requested = (url.searchParams.get('output_modalities') ?? 'text').split(',');
  const isListed = (model: EmulatorModel) =>
    requested.includes('all') || requested.includes(outputOf(model));
  const data = world.models.filter(isListed).map(modelBody);
  return Response.json({ data, total_count: data.length, links: { next: null } });
}

/** `GET /api/v1/model/{author}/{slug}`. */
export function retrieveOpenRouterModel({ parameters, world }: Call): Response {
  const id = `${parameters['author']}/${parameters['slug']}`;
  const model = world.models.find((known) => known.id === id);
  if (model === undefined) throw notFound(`Model ${id} not found`);
  return Response.json({ data: modelBody(model) });
}
