import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disarmState } from '../../sim/proxmox/handlers/ha/power.ts'
import { HOSTS } from './cluster-run.ts'
import { nothingLeft, order, orderOf, untilPhase } from './power-run.ts'
import { OWN_HOST, type Site, site } from './power-site.ts'

/** What was written to the hypervisor and to the cluster since, in order, in short words. */
function written({ simulation: { requests } }: Site): readonly string[] {
  return requests.splice(0).flatMap((line) => {
    const [, method = '', path = ''] = line.split(' ')
    const guest = /\/qemu\/(\d+)\/status\/(shutdown|start)$/.exec(path)
    if (guest !== null) return [`${guest[2]} ${guest[1]}`]
    if (/\/ha\/status\//.test(path)) return [path.replace(/^.*\//, '')]
    const host = /\/nodes\/([^/]+)\/status$/.exec(path)
    if (host !== null) return [`shutdown ${host[1]}`]
    return method === 'PATCH' && path.includes('/argocd/') ? ['gitops'] : []
  })
}

test('[A41] [A43] [A44] [A48] [A49] a whole site: HA is disarmed first and armed last, the gateway is last off and first on', async () => {
  const lab = await site(21)
  const { simulation, storage, hint, replicas, packets } = lab
  const { world } = simulation.datacentre
  const gate = [...world.guests.values()].find((guest) => guest.config.get('name') === 'gate')?.vmid
  const nodes = [...world.guests.keys()].filter((vmid) => vmid !== gate)
  written(lab)
  await order(simulation, orderOf(simulation, 'off'))
  assert.equal(await untilPhase(simulation, lab.process, 'Off', { mostMs: 1_800_000 }), 'reached', hint)
  const down = written(lab)
  const story = down.join(', ')
  assert.equal(down[0], 'gitops', story)
  const firstStop = Math.min(...nodes.map((vmid) => down.indexOf(`shutdown ${vmid}`)))
  assert.ok(down.indexOf('disarm-ha') > 0 && down.indexOf('disarm-ha') < firstStop, story)
  const gateStops = down.indexOf(`shutdown ${gate}`)
  for (const vmid of nodes) assert.ok(down.indexOf(`shutdown ${vmid}`) < gateStops, story)
  for (const host of HOSTS.filter((name) => name !== OWN_HOST))
    assert.ok(down.indexOf(`shutdown ${host}`) > firstStop && down.indexOf(`shutdown ${host}`) < gateStops, story)
  assert.equal(down.at(-1), `shutdown ${OWN_HOST}`, 'the host of the gateway is the last')
  assert.deepEqual([storage.torn, storage.lost()], [[], []], hint)

  assert.notEqual(disarmState(world), undefined)
  packets.length = 0
  await order(simulation, orderOf(simulation, 'on'))
  assert.equal(await untilPhase(simulation, lab.process, 'On', { mostMs: 1_800_000 }), 'reached', hint)
  const up = written(lab)
  const back = up.join(', ')
  assert.deepEqual(new Set(packets), new Set(HOSTS), hint)
  assert.equal(up[0], `start ${gate}`, back)
  const lastStart = Math.max(...nodes.map((vmid) => up.indexOf(`start ${vmid}`)))
  assert.ok(up.indexOf('arm-ha') > lastStart, back)
  assert.equal(up.at(-1), 'gitops', back)
  nothingLeft(simulation, replicas, hint)
  lab.asBefore(hint)
})
