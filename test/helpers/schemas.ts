import type {
  ConvertibleSchema,
  StandardSchemaResult,
  StandardSchemaV1,
} from '../../src/structured/types.ts';

type Check<Output> = (value: unknown) => StandardSchemaResult<Output>;

/** A validator without a library, which awaits `pause` if it is set. */
export function schemaOf<Output>(
  check: Check<Output>,
  options: { jsonSchema: Record<string, unknown>; pause?: Promise<void> },
): { schema: ConvertibleSchema<unknown, Output>; seen: unknown[] };
export function schemaOf<Output>(
  check: Check<Output>,
  options?: { pause?: Promise<void> },
): { schema: StandardSchemaV1<unknown, Output>; seen: unknown[] };
export function schemaOf<Output>(
  check: Check<Output>,
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
