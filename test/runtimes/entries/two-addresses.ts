// Gives Node a name with two addresses, at both of which nothing listens: only then does it throw an
// `AggregateError`. What fails is real; only the name is made up.
import dns from 'node:dns';

const { lookup } = dns;

function lookupTwo(...parameters: readonly unknown[]): unknown {
  const [name, , callback] = parameters;
  if (name !== 'two-addresses.test' || typeof callback !== 'function') {
    return Reflect.apply(lookup, dns, parameters);
  }
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  return Reflect.apply(callback, undefined, [null, addresses]);
}

Reflect.set(dns, 'lookup', lookupTwo);
