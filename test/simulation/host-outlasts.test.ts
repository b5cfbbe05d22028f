import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionOf } from '../../src/engine/conditions.ts'
import { LIMITS } from '../../src/lib/limits.ts'
import { example, hostsEstate, simulateHosts } from './hosts-run.ts'

const HOSTS = example('host-config/hosts.yaml')
const CONFIG = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: tools}
spec:
  hosts: [duck]
  packages: [curl]
`

test('a mirror that is away for an hour stalls a package, and once it is back nobody needs to come', async () => {
  const run = simulateHosts({ seed: 1, estate: hostsEstate([HOSTS, CONFIG]) })
  run.box('duck').trouble.noPackages = true
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  const key = 'HostConfig/tools@duck/package:curl'
  const stalled = () =>
    conditionOf([...run.disk.records].find(([name]) => name === key)?.[1].conditions ?? [], 'Stalled')
  assert.equal(stalled()?.status, 'True', [...run.disk.records.keys()].join(' '))
  const tried = () => run.deedsOf('duck').filter((deed) => deed.includes('apt-get')).length
  const before = tried()
  const end = run.clock.now() + 3_600_000
  while (run.clock.now() < end) await run.passes(process, 1)
  const more = tried() - before
  assert.ok(more >= 3_600_000 / LIMITS.backoff.maxMs - 2 && more <= 30, `${more} attempts in an hour`)
  run.box('duck').trouble.noPackages = false
  await run.clock.advanceTo(run.clock.now() + LIMITS.backoff.maxMs)
  assert.equal(await run.untilSettled(process), 'settled')
  assert.equal(stalled()?.status, 'False')
})
