import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allReady, driverLab } from './testing/lab.ts'

test('three servers and two agents form one cluster from clean boxes', async () => {
  const lab = driverLab('s1 s2 s3 a1 a2')
  const observed = await lab.until(allReady('s1 s2 s3 a1 a2'))
  const verbs = lab.done.map(({ step, outcome }) => `${step.do} ${step.node} ${outcome.result}`)
  console.log(
    (lab.clock.now() - Date.parse('2026-11-15T01:32:09Z')) / 1000,
    [...new Set(verbs)],
    observed.members,
    lab.asked.slice(-30),
  )
  assert.equal(observed.api, 'yes')
  assert.ok(observed.members !== 'unknown' && observed.members.every(({ up, learner }) => up === 'yes' && !learner))
})
