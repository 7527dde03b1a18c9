import ipaddr from 'ipaddr.js';
import { isLocalName, isPrivateIPv4, toHostName } from '../../../http/url.ts';

/** Names that are reserved for tests. */
const reservedName = /(^|\.)(test|invalid)$/;

/** The only range of IPv6 that is routed publicly. */
const publicRange = ipaddr.parseCIDR('2000::/3');

/**
 * Returns whether a host of a URL is public by its name or address. Addresses that may contain another one, such as
 * those of NAT64 and 6to4, are not. A public name may still resolve to a private address.
 */
export function isPublicHost(hostname: string): boolean {
  const host = toHostName(hostname.replace(/^\[|\]$/g, ''));
  if (!ipaddr.isValid(host)) return !isLocalName(host) && !reservedName.test(host);
  const address = ipaddr.parse(host);
  if (address.kind() === 'ipv4') return !isPrivateIPv4(address.toString());
  return address.range() === 'unicast' && address.match(publicRange);
}
