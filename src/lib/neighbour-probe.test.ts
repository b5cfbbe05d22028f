import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neighbourProbe, readNeighbours } from './neighbour-probe.ts'

const ANSWER = `answers 192.168.4.50
answers 192.168.4.53
1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever
2: vmbr0    inet 192.168.4.17/24 brd 192.168.4.255 scope global vmbr0\\       valid_lft forever preferred_lft forever
2: vmbr0    inet6 fe80::1/64 scope link \\       valid_lft forever preferred_lft forever
192.168.4.50 dev vmbr0 lladdr 52:54:00:aa:bb:01 DELAY
192.168.4.51 dev vmbr0 lladdr 52:54:00:aa:bb:02 REACHABLE
192.168.4.52 dev vmbr0 lladdr 52:54:00:aa:bb:03 STALE
192.168.4.54 dev vmbr0  FAILED
192.168.4.55 dev vmbr0  INCOMPLETE
fd00::51 dev vmbr0 lladdr 52:54:00:aa:bb:02 router REACHABLE
`

test('[D-10] who answers has an address; who is only remembered has none', () => {
  const table: readonly (readonly [address: string, expected: unknown])[] = [
    ['192.168.4.50', [{ address: '192.168.4.50', own: false, hardware: '52:54:00:aa:bb:01' }]],
    ['192.168.4.51', [{ address: '192.168.4.51', own: false, hardware: '52:54:00:aa:bb:02' }]],
    ['192.168.4.52', []],
    ['192.168.4.53', [{ address: '192.168.4.53', own: false }]],
    ['192.168.4.54', []],
    ['192.168.4.55', []],
    ['192.168.4.17', [{ address: '192.168.4.17', own: true }]],
    ['192.168.4.1', []],
    ['fd00::51', [{ address: 'fd00::51', own: false, hardware: '52:54:00:aa:bb:02' }]],
  ]
  for (const [address, expected] of table) assert.deepEqual(readNeighbours(ANSWER, [address]), expected, address)
  assert.deepEqual(readNeighbours(ANSWER, []), [], 'nothing is told of whom nobody asked for')
})

test('addresses are words of their own, never part of the program', () => {
  assert.deepEqual(neighbourProbe(['192.168.4.50', 'fd00::51']).slice(-3), [
    'croft-neighbours',
    '192.168.4.50',
    'fd00::51',
  ])
})
