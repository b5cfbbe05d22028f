import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Wire, WireFailure } from '../lib/wire.ts'
import { conditionOf, type Ground, groundWith, VMS } from './testing/harness.ts'
import { providerVms } from './testing/made-by-crossplane.ts'

const [VM] = providerVms(1, ['fun-bedbug'])
const PATH = `${VMS}/${VM?.name}`

function groundWithOne(): Promise<Ground> {
  assert.ok(VM)
  return groundWith(VM)
}

test('while nothing changes, a status that somebody changed by hand is put right, and a change on Proxmox is seen', async () => {
  const ground = await groundWithOne()
  const operator = await ground.start()
  await ground.pass(300_000)
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), 'True ReconcileSuccess')
  await ground.call('PATCH', `${PATH}/status`, { status: { conditions: [] } })
  await ground.pass(90_000)
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), 'True ReconcileSuccess')
  ground.datacentre.patchGuest(VM?.vmid ?? 0, { onboot: '0' })
  await ground.pass(180_000)
  assert.equal(ground.datacentre.world.guests.get(VM?.vmid ?? 0)?.config.get('onboot'), '1')
  await operator.stop()
})

test('[F-04] a status that was not written is written later, though nothing else changes', async () => {
  const ground = await groundWithOne()
  const base = ground.api.wire()
  let refuse = false
  const wire: Wire = {
    ...base,
    async send(request, signal) {
      if (refuse && request.path.endsWith('/status')) throw new WireFailure('no', 'ECONNREFUSED', 'connection refused')
      return base.send(request, signal)
    },
  }
  const operator = await ground.start({ wire })
  await ground.pass(300_000)
  refuse = true
  await ground.call('PATCH', `${PATH}/status`, { status: { conditions: [] } })
  await ground.pass(180_000)
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), undefined)
  refuse = false
  await ground.pass(90_000)
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), 'True ReconcileSuccess')
  await operator.stop()
})

test('[F-10] while nothing changes, a token that is changed on Proxmox and then in its Secret is taken up', async () => {
  const ground = await groundWithOne()
  const operator = await ground.start()
  await ground.pass(300_000)
  ground.datacentre.setToken('root@pam!croft', { secret: 'another' })
  ground.datacentre.patchGuest(VM?.vmid ?? 0, { onboot: '0' })
  await ground.pass(180_000)
  assert.notEqual(
    conditionOf(await ground.get(PATH), 'Synced'),
    'True ReconcileSuccess',
    'it says that it sees nothing',
  )
  const credentials = JSON.stringify({ endpoint: 'https://192.168.4.175:8006/', api_token: 'root@pam!croft=another' })
  await ground.call('PATCH', '/api/v1/namespaces/default/secrets/proxmox-credentials', {
    data: { credentials: Buffer.from(credentials).toString('base64') },
  })
  await ground.pass(600_000)
  assert.equal(ground.datacentre.world.guests.get(VM?.vmid ?? 0)?.config.get('onboot'), '1')
  assert.equal(conditionOf(await ground.get(PATH), 'Synced'), 'True ReconcileSuccess')
  await operator.stop()
})
