import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUps, nutAnswers } from '../../sim/metal/ups.ts'
import { disarmState } from '../../sim/proxmox/handlers/ha/power.ts'
import { HOSTS } from './cluster-run.ts'
import { formed, nothingLeft, running, until } from './power-run.ts'
import { wakers } from './power-site.ts'

const LEVELS = `  hosts: [${HOSTS.map((name, at) => `{name: ${name}, level: ${at + 1}}`).join(', ')}]
  ups: {name: rack@192.168.4.2}
`

async function onBattery(seed: number) {
  const ups = createUps()
  const lab = await formed(seed, LEVELS, {
    agents: ['a1'],
    power: (datacentre) => ({
      ...wakers([])(datacentre),
      exchangeLines: async (_host, _port, lines) => nutAnswers(ups, lines),
    }),
  })
  const { simulation, process } = lab
  const { world } = simulation.datacentre
  const on = () => HOSTS.filter((name) => world.hosts.get(name)?.power === 'on').join(', ')
  const reach = async (charge: number, hosts: string) => {
    Object.assign(ups, { onBattery: true, charge })
    assert.ok(await until(simulation, process, () => on() === hosts, 1_800_000), `${charge} %: ${on()}; ${lab.hint}`)
  }
  const mains = async () => {
    Object.assign(ups, { onBattery: false, charge: 30 })
    const back = await until(
      simulation,
      process,
      (report) => report.settled && report.powers?.[0]?.decision.phase === 'On' && on() === HOSTS.join(', '),
      3_600_000,
    )
    assert.ok(back, `mains are back: ${on()}; ${lab.hint}`)
    assert.equal(disarmState(world), undefined)
    nothingLeft(simulation, lab.replicas, lab.hint)
    assert.deepEqual(lab.storage.lost(), [], lab.hint)
  }
  return { ...lab, ups, on, reach, mains }
}

test('[A47] at 39 % tier 1 goes, the rest goes on; the mains come back before tier 2, and tier 1 returns', async () => {
  const { simulation, process, storage, on, reach, mains, hint } = await onBattery(51)
  const [first, second, third] = HOSTS
  await reach(41, [first, second, third].join(', '))
  await reach(39, [second, third].join(', '))
  // While the battery feeds nothing is woken, however its charge wavers.
  await reach(45, [second, third].join(', '))
  const acknowledged = storage.acknowledged('photos')
  await until(simulation, process, () => false, 120_000)
  assert.equal(on(), [second, third].join(', '), hint)
  assert.ok(storage.acknowledged('photos') > acknowledged, `applications do not run on what is left; ${hint}`)
  assert.deepEqual(storage.torn, [], hint)
  await mains()
})

test('[A47] at 19 % tier 2 goes, and with the majority the whole cluster, in order; at 9 % the rest', async () => {
  const { simulation, process, storage, ups, on, reach, mains, hint } = await onBattery(52)
  const [, second, third] = HOSTS
  await reach(39, [second, third].join(', '))
  await reach(19, third)
  assert.deepEqual(running(simulation.datacentre), [], `the last server stands alone; ${hint}`)
  await reach(9, '')
  assert.deepEqual(storage.torn, [], hint)
  // The mains are back, and another cut would find the battery empty: nothing is woken yet.
  Object.assign(ups, { onBattery: false, charge: 29 })
  await until(simulation, process, () => false, 120_000)
  assert.equal(on(), '', hint)
  await mains()
})
