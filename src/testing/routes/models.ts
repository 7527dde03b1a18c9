import type { Call } from '../server/call.ts';
import {
  geminiModels,
  knownModelBody,
  modelBody,
  modelsCreated,
  type EmulatorModel,
} from '../control/models.ts';

function anthropicModels(models: readonly EmulatorModel[]): unknown {
  return {
    data: models.map(({ id }) => ({
      id,
      created_at: new Date(modelsCreated * 1000).toISOString(),
      display_name: id,
      type: 'model',
    })),
    first_id: models.at(0)?.id ?? '',
    has_more: false,
    last_id: models.at(-1)?.id ?? '',
  };
}

function isAnthropic({ headers }: Request): boolean {
  return headers.has('x-api-key') && headers.has('anthropic-version');
}

/** `GET /v1/models`. */
function listModels({ request, world }: Call): Response {
  const { models, quirks } = world;
  if (quirks.modelList === 'failure') {
    return Response.json({ success: false, message: 'get user group failed' });
  }
  if (quirks.modelList === 'gemini') return Response.json(geminiModels(models));
  if (quirks.modelList === 'anthropic' || isAnthropic(request)) {
    return Response.json(anthropicModels(models));
  }
  return Response.json({
    success: true,
    object: 'list',
    data: models.map((model) => modelBody(model)),
  });
}

/** `GET /v1/models/{model}`: from a separate table; responds with status 200 for unknown models. */
function retrieveModel({ parameters, world }: Call): Response {
  const { model: id = '' } = parameters;
  const model = knownModelBody(world.models, id);
  if (model !== undefined) return Response.json(model);
  const error = { message: `The model '${id}' does not exist`, code: 'model_not_found' };
  return Response.json({ error: { ...error, type: 'invalid_request_error', param: 'model' } });
}

export const modelHandlers = {
  'models.list': listModels,
  'models.retrieve': retrieveModel,
};
