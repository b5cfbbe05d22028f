import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coordinate } from './coordinate.ts'
import { clusterSpec, HOUR, NOW, observedCluster } from './testing/fixture.ts'
import { plannedSteps } from './testing/planned.ts'

const DAY = 24 * HOUR
const spec = clusterSpec('s1 s2 s3 a1')
const holds = (ends: Readonly<Record<string, number | undefined>>) => {
  const turns = Object.fromEntries(
    Object.entries(ends).map(([name, days]) => [
      name,
      { k3s: days === undefined ? {} : { certificatesEndMs: NOW + days * DAY } },
    ]),
  )
  const decision = coordinate(spec, observedCluster('s1 s2 s3 a1', turns), NOW)
  assert.deepEqual([plannedSteps(decision), decision.phase], [[], 'Ready'], 'it says so, and does nothing')
  return decision.holds
}
const day = (days: number) => new Date(NOW + days * DAY).toISOString().slice(0, 10)

test('certificates with time left, and such that nobody can read, are not told', () => {
  assert.deepEqual(holds({ s1: 31, s2: 365, s3: undefined }), [])
})

test('certificates that end soon are told by node and day, the first first, with the command that renews them', () => {
  assert.deepEqual(holds({ s1: 29, s2: 7, s3: 200, a1: 7 }), [
    {
      guard: 'certificates',
      reason: `the certificates of s2 end on ${day(7)}, of a1 end on ${day(7)}, of s1 end on ${day(29)}; K3s renews them only when it starts`,
      allow: 'croft cluster rotate homelab certificates',
    },
  ])
})

test('certificates that have ended are told with what needs no API', () => {
  const [hold] = holds({ s1: -1 })
  assert.match(hold?.reason ?? '', new RegExp(`of s1 ended on ${day(-1)}`))
  assert.match(hold?.allow ?? '', /systemctl restart k3s/)
})
