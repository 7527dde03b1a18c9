import type { ResponseIssue } from '../types.ts';

/** How strictly answers are read, and who is told of differences. */
export interface ReadCheck {
  readonly validation: 'tolerant' | 'strict' | 'off';
  readonly onIssue: (issue: ResponseIssue) => void;
}
