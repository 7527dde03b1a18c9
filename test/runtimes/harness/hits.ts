import type { APIError } from 'model-gateway';
import type { World } from './world.ts';

/** Requests and connections at a fault server. */
export interface Hits {
  readonly connections: number;
  /** Complete requests, without preflights. */
  readonly requests: number;
}

/** Hits of a fault server since the last read. */
export async function takeHits({ control }: World, fault: string): Promise<Hits> {
  const response = await fetch(`${control}/hits?fault=${encodeURIComponent(fault)}`);
  return response.json();
}

/** An error in two words: what became of the request, and from what that was concluded. */
export function show({ outcome, evidence }: APIError): string {
  return `${outcome} ${evidence.code ?? evidence.phase}`;
}
