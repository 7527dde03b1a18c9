import type { Emulator, Fault, ReceivedRequest } from '../../src/testing/index.ts';

/** The model that a request names in its path, JSON or form. */
function modelOf({ body, path }: ReceivedRequest): unknown {
  const inPath = /\/models\/([^/:]+):/.exec(path)?.[1];
  if (inPath !== undefined) return inPath;
  return body.kind === 'json'
    ? Object(body.value).model
    : 'fields' in body && Object(body.fields).model;
}

/** The models of the submissions and of the charges, in order. */
export const requestedModels = ({ requests, charges }: Emulator) => ({
  requests: requests.filter(({ method }) => method === 'POST').map(modelOf),
  charges: charges.map(({ model }) => model),
});

/** Makes every request for `model-a` fail. */
export const failFirst = (emulator: Emulator, fault: Fault) =>
  emulator.fail({ fault, times: Infinity, when: (request) => modelOf(request) === 'model-a' });
