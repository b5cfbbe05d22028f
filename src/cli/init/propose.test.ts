import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObservedStorage } from '../../model/resource.ts'
import type { Found } from './found.ts'
import { diskStorages, endpointOf, exampleRange, propose, readRange } from './propose.ts'

const GIB = 2 ** 30

function storage(host: string, name: string, content: readonly string[], free: number): ObservedStorage {
  return { host, name, content, available: true, shared: false, totalBytes: (free + 10) * GIB, usedBytes: 10 * GIB }
}

function found(parts: Partial<Found> = {}): Found {
  const hosts = parts.hosts ?? ['a', 'b', 'c']
  return {
    hosts,
    off: [],
    bridges: hosts.flatMap((host, at) => [
      { host, name: 'vmbr0', address: `192.168.4.${11 + at}/24`, gateway: '192.168.4.1' },
    ]),
    storages: hosts.flatMap((host) => [
      storage(host, 'local', ['iso', 'import', 'images'], 900),
      storage(host, 'local-zfs', ['images', 'rootdir'], 300),
    ]),
    nameServers: ['192.168.4.1', 'fd00::1'],
    ...parts,
  }
}

describe('what croft init proposes', () => {
  test('comes from what every host has', () => {
    assert.deepEqual(propose(found()), {
      bridge: 'vmbr0',
      network: '192.168.4.0/24',
      gateway: '192.168.4.1',
      disks: 'local-zfs',
      files: 'local',
      nameServers: ['192.168.4.1'],
      servers: 3,
    })
  })

  const cases: readonly (readonly [string, Partial<Found>, Partial<ReturnType<typeof propose>>])[] = [
    ['one server on two hosts', { hosts: ['a', 'b'] }, { servers: 1 }],
    [
      'the bridge that leads out before one with an earlier name',
      {
        hosts: ['a'],
        bridges: [
          { host: 'a', name: 'storage', address: '10.9.0.1/24' },
          { host: 'a', name: 'vmbr0', address: '10.0.3.9/22', gateway: '10.0.0.1' },
        ],
      },
      { bridge: 'vmbr0', network: '10.0.0.0/22', gateway: '10.0.0.1' },
    ],
    [
      'no bridge that only some hosts have',
      {
        bridges: [
          { host: 'a', name: 'vmbr0' },
          { host: 'b', name: 'vmbr0' },
          { host: 'a', name: 'vmbr1' },
          { host: 'b', name: 'vmbr1' },
          { host: 'c', name: 'vmbr1' },
        ],
      },
      { bridge: 'vmbr1', network: undefined, gateway: undefined },
    ],
    [
      'nothing where no storage fits',
      { storages: [storage('a', 'nas', ['backup'], 9)] },
      { disks: undefined, files: undefined },
    ],
    [
      'no storage that is not available',
      { hosts: ['a'], storages: [{ ...storage('a', 'nas', ['images'], 9), available: false }] },
      { disks: undefined },
    ],
  ]
  for (const [name, parts, expected] of cases)
    test(name, () => {
      const proposal = propose(found(parts))
      for (const [key, value] of Object.entries(expected))
        assert.equal(proposal[key as keyof typeof proposal], value, key)
    })

  test('the storage with the most space on its fullest host', () => {
    const storages = [
      storage('a', 'big-once', ['images'], 5_000),
      storage('b', 'big-once', ['images'], 5),
      storage('a', 'even', ['images'], 100),
      storage('b', 'even', ['images'], 100),
    ]
    assert.deepEqual(diskStorages(found({ hosts: ['a', 'b'], storages })), ['even', 'big-once'])
  })
})

describe('a range of addresses', () => {
  const choices = { network: '192.168.4.0/24', gateway: '192.168.4.1', servers: 3 }
  const cases: readonly (readonly [string, RegExp | { from: string; to: string }])[] = [
    ['192.168.4.80-192.168.4.83', { from: '192.168.4.80', to: '192.168.4.83' }],
    [' 192.168.4.80 - 192.168.4.99 ', { from: '192.168.4.80', to: '192.168.4.99' }],
    ['192.168.4.80-192.168.4.82', /4 addresses are the least/],
    ['192.168.4.99-192.168.4.80', /4 addresses are the least/],
    ['192.168.4.80', /first and the last address, like 192\.168\.4\.230-192\.168\.4\.250/],
    ['', /first and the last address/],
    ['192.168.5.1-192.168.5.9', /192\.168\.5\.1 is not in 192\.168\.4\.0\/24/],
    ['192.168.4.250-192.168.4.256', /192\.168\.4\.256 is not in/],
    ['192.168.4.1-192.168.4.9', /192\.168\.4\.1 is the gateway/],
    ['192.168.4.9-192.168.4.40', /192\.168\.4\.11 is host a/],
    ['192.168.4.240-192.168.4.255', /192\.168\.4\.255 is for broadcasts/],
  ]
  for (const [text, expected] of cases)
    test(`"${text}"`, () => {
      const answer = readRange(text, choices, found())
      if (!(expected instanceof RegExp)) assert.deepEqual(answer, { is: expected })
      else assert.match('problem' in answer ? answer.problem : 'accepted', expected)
    })

  test('the example is one that would be accepted in every usual network', () => {
    for (const network of ['192.168.4.0/24', '10.0.0.0/16', '172.16.0.0/22', '192.168.1.128/25']) {
      const answer = readRange(exampleRange(network), { network, gateway: '1.1.1.1', servers: 3 }, { bridges: [] })
      assert.ok('is' in answer, `${network}: ${JSON.stringify(answer)}`)
    }
  })
})

test('an address of Proxmox as people write it', () => {
  const cases: Readonly<Record<string, string | undefined>> = {
    '192.168.4.175': 'https://192.168.4.175:8006',
    'pve1.home.arpa': 'https://pve1.home.arpa:8006',
    'https://pve1:443/': 'https://pve1:8006',
    'https://pve1:8443': 'https://pve1:8443',
    'https://[fd00::9]': 'https://[fd00::9]:8006',
    'http://pve1': undefined,
    'https://pve1/api2/json': undefined,
    'https://root@pve1': undefined,
    'ssh root': undefined,
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(endpointOf(text), expected, text)
})
