import type { ResponseIssue } from '../errors/response-error.ts';

/** How strictly answers are read, and who is told of differences. */
export interface ReadCheck {
  readonly validation: 'tolerant' | 'strict' | 'off';
  readonly onIssue: (issue: ResponseIssue) => void;
}
