import { describe, expect, test } from 'vitest';
import { isPublicHost } from '../../../src/programs/mcp/tools/public-host.ts';

/** Returns the host of a URL as the tools receive it. */
const hostOf = (host: string): string => new URL(`https://${host}/a.png`).hostname;

describe('the host of an image', () => {
  test.each([
    'example.org',
    'example.org.',
    'images.example.com',
    'internal.example.com',
    'metadata.goog.example.com',
    'svc.example.com',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '168.63.129.15',
    '198.17.0.1',
    '198.20.0.1',
    '[2606:4700::1111]',
    '[2a00:1450:4001::1]',
  ])('%s is public', (host) => {
    expect(isPublicHost(hostOf(host))).toBe(true);
  });

  test.each([
    // Names
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'gateway',
    'printer.local',
    'metadata.google.internal',
    'metadata.goog',
    'metadata.goog.',
    'a.metadata.goog',
    'wiki.intranet',
    'a.lan',
    'router.home',
    'nas.home.arpa',
    '1.0.0.10.in-addr.arpa',
    'a.corp',
    'db.private',
    'localhost.localdomain',
    'api.default.svc',
    'api.default.svc.cluster.local',
    'a.test',
    'a.invalid',
    // IPv4
    '0.0.0.0',
    '10.0.0.7',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    // IPv6
    '[::]',
    '[::1]',
    '[::7f00:1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:0:10.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::10.0.0.1]',
    '[100::1]',
    '[2001::1]',
    '[2001:db8::1]',
    '[2002:a00:1::1]',
    '[2002:7f00:1::]',
    '[4000::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[feff::1]',
    '[ff02::1]',
  ])('%s is not public', (host) => {
    expect(isPublicHost(hostOf(host))).toBe(false);
  });
});
