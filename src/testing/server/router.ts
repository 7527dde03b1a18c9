import { endpoints, type Operation, operations } from '../../endpoints.ts';
import { decodePercents } from '../../answers/bytes.ts';

/** Operation and path parameters of a request. */
export interface Route {
  readonly operation: Operation;
  /** Path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

export const escaped = (literal: string): string =>
  literal.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Converts a path template to the source of a regular expression. */
export function pathPattern(template: string): string {
  return template
    .split(/(\{\w+\})/)
    .map((piece) => {
      const name = /^\{(\w+)\}$/.exec(piece)?.[1];
      return name === undefined ? escaped(piece) : `(?<${name}>[^/?#]+)`;
    })
    .join('');
}

/** Finds the operation for a method and path. */
export type FindRoute = (method: string, path: string) => Route | undefined;

/**
 * Creates a function that finds operations by their paths.
 *
 * @param paths - Path templates by operation. If several match, the first one is used.
 */
export function createRouter(paths: Readonly<Partial<Record<Operation, string>>>): FindRoute {
  const routes = operations.flatMap((operation) => {
    const path = paths[operation];
    if (path === undefined) return [];
    const { method } = endpoints[operation];
    return [{ operation, method, pattern: new RegExp(`^${pathPattern(path)}$`) }];
  });
  return (method, path) => {
    for (const route of routes) {
      const match = route.method === method ? route.pattern.exec(path) : null;
      if (match === null) continue;
      const groups = Object.entries(match.groups ?? {});
      return {
        operation: route.operation,
        parameters: Object.fromEntries(
          groups.map(([name, value]) => [name, decodePercents(value)]),
        ),
      };
    }
    return undefined;
  };
}
