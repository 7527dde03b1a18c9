import type { StandardSchemaResult, StandardSchemaV1 } from '../../src/structured/types.ts';

/** A validator without a library, which awaits `pause` if it is set. */
export function schemaOf<Output>(
  check: (value: unknown) => StandardSchemaResult<Output>,
  { jsonSchema, pause }: { jsonSchema?: Record<string, unknown>; pause?: Promise<void> } = {},
) {
  const seen: unknown[] = [];
  const schema: StandardSchemaV1<unknown, Output> = {
    '~standard': {
      version: 1,
      vendor: 'ours',
      validate: (value) => {
        seen.push(value);
        return pause === undefined ? check(value) : pause.then(() => check(value));
      },
      ...(jsonSchema && { jsonSchema: { input: () => jsonSchema } }),
    },
  };
  return { schema, seen };
}
