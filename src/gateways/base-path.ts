/** A version anywhere in a path: what follows is a folder of that version. */
const version = /\/v\d+((alpha|beta)\d*)?(\/|$)/;

/** Hosts and paths that providers document as a complete base URL, without `/v1`. */
const whole =
  /(\/openai|\/compat|\/deployments\/[^/]+|\/serving-endpoints|\/endpoints\/openapi|^api\.perplexity\.ai|^models\.github\.ai\/.*inference|\.services\.ai\.azure\.com\/models)$/;

/** Returns whether OpenAI's routes follow a path directly, because it contains its version or needs none. */
export const isWholeBase = (host: string, path: string): boolean =>
  !path.endsWith('/v1beta') && (version.test(path) || whole.test(host + path));

/** Returns the root of Gemini's own routes. Providers serve OpenAI's routes in its folder `openai`. */
export const geminiRoot = (root: string): string =>
  root.replace(/(\/v\d+(beta\d*)?)?\/openai$/, '');
