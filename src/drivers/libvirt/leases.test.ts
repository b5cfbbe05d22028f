import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLeases } from './session.ts'

test('[D-10] the table of leases is read, and nothing else in it', () => {
  const table = ` Expiry Time           MAC address         Protocol   IP address           Hostname   Client ID or DUID
----------------------------------------------------------------------------------------------------------------
 2026-11-16 03:00:00   52:54:00:AA:bb:01   ipv4       192.168.122.50/24    printer    ff:00:01
 2026-11-16 03:00:00   52:54:00:aa:bb:02   ipv6       fd00::50/64          -          -
 2026-11-16 03:00:00   52:54:00:aa:bb:03   ipv4       somewhere            x          -
`
  const by = (who: string) => `${who}, which has it by DHCP from the network default of kvm`
  assert.deepEqual(readLeases(table, 'default', 'kvm'), [
    { address: '192.168.122.50', hardware: '52:54:00:aa:bb:01', by: by('52:54:00:aa:bb:01 (printer)') },
    { address: 'fd00::50', hardware: '52:54:00:aa:bb:02', by: by('52:54:00:aa:bb:02') },
  ])
  assert.deepEqual(readLeases('error: failed to get network', 'default', 'kvm'), [])
})
