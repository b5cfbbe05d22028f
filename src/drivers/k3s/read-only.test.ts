import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allReady, driverLab } from './testing/lab.ts'

/** Calls of an observation that would change something: all but reads. */
const effects = (asked: readonly string[]) => asked.filter((call) => !/^GET |: facts$|: -s -- facts$/.test(call))

test('[D-12] a look writes nothing: not to the vault, not to the API, not to a node, however far the cluster is', async () => {
  const lab = driverLab('s1 s2 s3 a1 a2')
  const keep = lab.vault.write
  const done = allReady('s1 s2 s3 a1 a2')
  const seen = new Set<string>()
  for (let round = 0; round < 200; round++) {
    lab.asked.length = 0
    lab.written.length = 0
    lab.vault.write = async () => assert.fail('the look wrote to the vault')
    const { observed, decision } = await lab.look()
    assert.deepEqual(effects(lab.asked), [])
    assert.deepEqual(lab.written, [])
    lab.vault.write = keep
    for (const step of decision.steps) {
      seen.add(step.verb)
      await lab.perform(step)
    }
    await lab.clock.advanceTo(lab.clock.now() + 1000)
    if (done(observed) && decision.steps.length === 0) break
  }
  // Effects that observations once had are steps of the plan now.
  for (const verb of ['record-first-server', 'note-formed', 'delete-join-token']) assert.ok(seen.has(verb), verb)
  assert.equal(lab.vault.kept.get('homelab')?.formed, true)
  const tokens = await lab.call('GET', '/api/v1/namespaces/kube-system/secrets')
  assert.doesNotMatch(String(tokens.body), /bootstrap-token-/)
  // Also for one that lost the record, and finds the cluster running.
  lab.vault.kept.clear()
  lab.restart()
  lab.asked.length = 0
  lab.vault.write = async () => assert.fail('the look wrote to the vault')
  const { decision } = await lab.look()
  assert.deepEqual(
    decision.steps.map((step) => step.verb),
    ['read-back-secrets'],
  )
  assert.deepEqual(effects(lab.asked), [])
})
