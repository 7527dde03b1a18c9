import type {
  AutoParseableResponseFormat,
  AutoParseableResponseTool,
  AutoParseableTextFormat,
  AutoParseableTool,
} from '../../structured/types.ts';

/** Converts a format of chat to one of the Responses API. */
export function toTextFormat<Parsed>({
  json_schema: { schema = {}, ...named },
  ...parser
}: AutoParseableResponseFormat<Parsed>): AutoParseableTextFormat<Parsed> {
  return { ...parser, ...named, schema };
}

/** Converts a tool of chat to one of the Responses API. */
export function toResponsesTool<Arguments>(
  { type, function: definition, ...parser }: AutoParseableTool<Arguments>,
  deferLoading: boolean | undefined,
): AutoParseableResponseTool<Arguments> {
  // The Responses API enforces schemas unless `strict` is set.
  const tool = { type, strict: null, ...definition, ...parser };
  return deferLoading === undefined ? tool : { ...tool, defer_loading: deferLoading };
}
