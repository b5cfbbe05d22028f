import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom, filesOf, type Wanted } from './manifests.ts'
import { simulate } from './run.ts'

const MACHINES: readonly Wanted[] = [
  { name: 'web-1', host: 'pumped-piglet' },
  { name: 'web-2', host: 'still-fawn' },
]

test('an apply to a hypervisor that never answers ends after a few tries, and does not wait its whole time', async () => {
  const run = simulate({ seed: 3, estate: estateFrom(filesOf(MACHINES)) })
  run.datacentre.faults.add({ kind: 'drop-before', match: '' })
  const startedMs = run.clock.now()
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000, givesUp: true }), 'settled')
  assert.ok(run.clock.now() - startedMs < 600_000, `it waited ${(run.clock.now() - startedMs) / 1000} s`)
  assert.deepEqual(run.requests, [])
})

test('a controller waits for it as long as it takes', async () => {
  const run = simulate({ seed: 3, estate: estateFrom(filesOf(MACHINES)) })
  run.datacentre.faults.add({ kind: 'drop-before', match: '' })
  assert.equal(await run.untilSettled(run.start(), { mostMs: 600_000 }), 'deadline')
})

test('one that answers again in time is waited for, and everything is made', async () => {
  const run = simulate({ seed: 3, estate: estateFrom(filesOf(MACHINES)) })
  run.datacentre.faults.add({ kind: 'drop-before', match: '', count: 2 })
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000, givesUp: true }), 'settled')
  const names = [...run.datacentre.world.guests.values()].map(({ config }) => config.get('name'))
  for (const { name } of MACHINES) assert.ok(names.includes(name), `${name} was not made`)
})

test('an apply ends although one setting of a host cannot be read, and the rest is made', async () => {
  const clock = `apiVersion: croft.dev/v1alpha1
kind: ProxmoxTime
metadata: {name: clock}
spec: {host: still-fawn, timeZone: Europe/Vienna}
`
  const run = simulate({ seed: 3, estate: estateFrom({ ...filesOf(MACHINES), 'clock.yaml': clock }) })
  const reason = "command 'timedatectl show' failed: exit code 1"
  run.datacentre.faults.add({ kind: 'fail', match: '^GET /nodes/still-fawn/time', status: 500, reason })
  assert.equal(await run.untilSettled(run.start(), { mostMs: 600_000, givesUp: true }), 'settled')
  const names = [...run.datacentre.world.guests.values()].map(({ config }) => config.get('name'))
  for (const { name } of MACHINES) assert.ok(names.includes(name), `${name} was not made`)
})
