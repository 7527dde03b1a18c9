import { endpoints, type Operation } from '../../endpoints.ts';

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

function isOperation(name: string): name is Operation {
  return name in endpoints;
}

/** All documented operations. */
export const operations: readonly Operation[] = Object.keys(endpoints).filter((name) =>
  isOperation(name),
);

const routes = operations.map((operation) => ({
  operation,
  method: endpoints[operation].method,
  pattern: new RegExp(`^${pathPattern(endpoints[operation].path)}$`),
}));

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Finds the operation for a method and path. */
export function findRoute(method: string, path: string): Route | undefined {
  for (const route of routes) {
    const match = route.method === method ? route.pattern.exec(path) : null;
    if (match === null) continue;
    const groups = Object.entries(match.groups ?? {});
    return {
      operation: route.operation,
      parameters: Object.fromEntries(groups.map(([name, value]) => [name, decoded(value)])),
    };
  }
  return undefined;
}
