import { GatewayError } from './errors/gateway-error.ts';
import { GatewayPromise } from './http/promise.ts';

/**
 * An API of `openai` that gateways do not document. Wrappers of its clients take hold of `create()` when
 * they wrap, whether it is used or not, so it has to be there.
 */
export class Unserved {
  /** @internal */
  readonly fail: () => GatewayPromise<never>;

  /** @internal */
  constructor(name: string, instead: string) {
    const advice = `Use ${instead}, or post('/v1/${name}', { body }) where your gateway serves it.`;
    const problem = `${name}.create() is not served here, and nothing was sent.`;
    this.fail = () =>
      new GatewayPromise(
        Promise.reject(new GatewayError(problem, { outcome: 'not_sent', advice })),
      );
  }

  /**
   * @deprecated it is not served.
   * @throws `GatewayError` that names what to use instead; nothing is sent
   */
  create(..._given: readonly unknown[]): GatewayPromise<never> {
    return this.fail();
  }
}
