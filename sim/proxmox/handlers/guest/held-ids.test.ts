import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'
import { holding } from '../../../world/locks.ts'

/** A creation under an id that another call holds waits five seconds before its task starts. Asked of the real. */

const NODE = '/nodes/pve1'
const TEMPLATE = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
const CT = { ostemplate: TEMPLATE, rootfs: 'local:0', unprivileged: '1' }

/** Holds the lock file of an id for `ms`. */
function hold({ datacentre: { world }, clock }: TestClient, vmid: number, ms = 3_600_000): void {
  const host = world.hosts.get('pve1') ?? assert.fail()
  void holding(
    world,
    host,
    `lock-${vmid}`,
    () => new Error('not free'),
    () => clock.sleep(ms),
  )
}

const busy = (vmid: number) => `can't lock file '/run/lock/lxc/pve-config-${vmid}.lock' - got timeout`

test('a new container waits for its id, and nothing is left of it', async () => {
  const client = createTestClient({ preset: 'recording' })
  hold(client, 205)
  const beganMs = client.clock.now()
  await holds(client, [
    ['POST', `${NODE}/lxc`, { vmid: '205', ...CT }, `500 unable to create CT 205 - ${busy(205)}`],
    ['GET', `${NODE}/lxc/205/config`, undefined, "500 Configuration file 'nodes/pve1/lxc/205.conf' does not exist"],
  ])
  assert.equal(client.clock.now() - beganMs, 5_000)
  hold(client, 206, 3_000)
  await holds(client, [['POST', `${NODE}/lxc`, { vmid: '206', ...CT }, 'task: OK']])
})
