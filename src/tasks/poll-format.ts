import { isObject, parseJSON } from '../answers/objects.ts';
import type { ResponseSchema } from '../answers/reader.ts';
import type { ResultFormat } from '../calls/gateway-request.ts';
import { jsonFormat } from '../calls/response.ts';
import { readText } from '../http/responses/response-body.ts';
import { findStatusWord, isPolledTask } from './reading.ts';

/** The status of a response to a poll that says that the task is not completed yet. */
export const acceptedStatus = 202;

/**
 * Reads a poll. A 202 means that the task is pending, whatever its body: gateways send none, `null`, text or a page.
 * Only a status word in it counts.
 */
export function pollFormat<T, Task>(
  schema: ResponseSchema<T>,
  finish: (value: T, response: { readonly status: number }) => Task,
): ResultFormat<Task, 'json'> {
  const polled = { result: { name: 'task', isIn: isPolledTask }, ...schema };
  const format = jsonFormat({ schema: polled }, finish);
  return {
    kind: 'json',
    async read(request, incoming) {
      const { response } = incoming;
      if (response.status !== acceptedStatus) return format.read(request, incoming);
      const text = await readText(incoming, request.settings.maxResponseBytes);
      const body = parseJSON(text);
      const isTask = isObject(body) && findStatusWord(body) !== undefined;
      const pending = new Response(isTask ? text : '{}', response);
      return format.read(request, { ...incoming, response: pending });
    },
  };
}
