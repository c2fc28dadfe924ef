import { describe, expect, it } from 'vitest'
import { AddressRefusedError, isPublic, isTrustable } from '../../../src/fetch/http/address-guard.js'
import { failureKind } from '../../../src/fetch/http/failures.js'
import { suiteFile } from '../support.js'

const PUBLIC = [
  '1.1.1.1',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2600::',
  '2a00:1450:4001:81b::200e',
  '::ffff:1.1.1.1',
  '::ffff:101:101',
]

const NOT_PUBLIC: Record<string, string[]> = {
  'this network': ['0.0.0.0', '0.255.255.255', '::'],
  loopback: ['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1'],
  private: ['10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.255.255'],
  'link-local and metadata': ['169.254.0.1', '169.254.169.254', 'fe80::1', 'febf::1'],
  'metadata over IPv6': ['fd00:ec2::254', 'fd20:ce::254'],
  'metadata in a public range': ['168.63.129.16', '::ffff:168.63.129.16', '::ffff:a83f:8110'],
  'not given out': ['64:ff9c::1', '1::1', '1fff::1', '4000::1', '8000::', 'e000::1', 'fbff::1', 'ff00::'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255', '100.100.100.200'],
  'unique local and site-local': ['fc00::1', 'fdff:ffff::1', 'fec0::1'],
  multicast: ['224.0.0.251', '239.255.255.250', 'ff02::1', 'ff0e::1'],
  'reserved and broadcast': ['192.0.0.8', '192.88.99.1', '240.0.0.1', '255.255.255.255', '2001:1ff::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'discard-only and segment routing': ['100::1', '5f00::1'],
  mapped: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::FFFF:0:0'],
  compatible: [
    '::127.0.0.1',
    '::7f00:1',
    '::10.0.0.1',
    '::8.8.8.8',
    '0:0:0:0:0:0:8.8.8.8',
    '::808:808',
    '::2',
  ],
  translated: ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::10.0.0.1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'with a zone': ['fe80::1%eth0', '2600::1%eth0', '::ffff:1.1.1.1%1'],
  // Whoever connects might read these as something else than we do.
  'in odd notation': [
    '0x7f.1',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '08.8.8.8',
    '1.1.1.1.',
    ' 1.1.1.1',
    '1.1.1.1\n',
  ],
  'not an address': [
    '',
    'localhost',
    'example.com',
    '[::1]',
    '[2600::1]',
    '1.1.1.1:80',
    '1.1.1.1/8',
    ':::',
    '%',
  ],
}

describe('isPublic', () => {
  it.each(PUBLIC)('%s', (address) => expect(isPublic(address)).toBe(true))

  describe.each(Object.entries(NOT_PUBLIC))('refuses %s:', (_, addresses) => {
    it.each(addresses)('%j', (address) => expect(isPublic(address)).toBe(false))
  })

  const policy = suiteFile('security/ip_policy.json')

  it.skipIf(policy === undefined)('ip_policy.json (skipped without ../shared/suites)', () => {
    const cases = JSON.parse(policy!.toString()) as { ip: string; allowed: boolean }[]
    expect(cases.length).toBeGreaterThan(50)
    const wrong = cases.filter(({ ip, allowed }) => isPublic(ip) !== allowed)
    console.log(`ip_policy.json: ${cases.length - wrong.length} of ${cases.length}`)
    // It shows where 64:ff9b::/96 ends; but nothing outside of 2000::/3 was ever given out.
    expect(wrong.map(({ ip }) => ip)).toEqual(['64:ff9c::1'])
  })
})

describe('isTrustable', () => {
  it.each([
    ...[
      '127.0.0.1',
      '10.0.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '0.0.0.0',
      '::1',
      'fc00::1',
      'fd12::7',
      'fec0::1',
    ],
    ...['::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '::10.0.0.1', '4000::1'],
  ])('%s', (address) => expect(isTrustable(address)).toBe(true))

  it.each([
    ...['169.254.0.1', '169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%eth0', 'fc00::1%eth0'],
    ...[
      '168.63.129.16',
      '100.100.100.200',
      '192.0.0.192',
      'fd00:ec2::254',
      'FD00:0EC2:0::0254',
      'fd20:ce::254',
    ],
    ...[
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '::ffff:0:169.254.169.254',
      '::169.254.169.254',
      '::a9fe:a9fe',
    ],
    ...['64:ff9b::a9fe:a9fe', '64:ff9b:1::169.254.169.254', '2002:a9fe:a9fe::1', '64:ff9b::168.63.129.16'],
    // Teredo writes the address of its client inverted.
    ...['2001:0:4136:e378:8000:63bf:5601:5601', 'localhost', ''],
  ])('not %s, whoever names it', (address) => expect(isTrustable(address)).toBe(false))
})

describe('AddressRefusedError', () => {
  it.each([
    [
      'wiki.test',
      '10.0.0.1',
      /^wiki\.test has the address 10\.0\.0\.1, .*seed.*allowPrivate\('wiki\.test'\)\.$/,
    ],
    ['10.0.0.1', '10.0.0.1', /^10\.0\.0\.1 is not .*seed.*allowPrivate\('10\.0\.0\.1'\)\.$/],
  ])('says what happened to %s and what to do', (host, address, message) => {
    const error = new AddressRefusedError(host, address)
    expect(error.message).toMatch(message)
    expect(error).toMatchObject({ code: 'KUMO_ADDRESS_REFUSED', hostname: host, address })
    const { code, what } = failureKind(error, 'connecting')
    expect(code).toBe('address-refused')
    expect(`${host} ${what}.`).toBe(error.message)
  })

  it('does not advise to name a seed that was named', () => {
    const { message } = new AddressRefusedError('wiki.test', '10.0.0.1', true)
    expect(message).toMatch(
      /^wiki\.test has the address 10\.0\.0\.1, .*only if it always was.*allowPrivate\('wiki\.test'\)\.$/,
    )
    expect(message).not.toMatch(/name host/)
  })
})
