import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotateToken } from '../../sim/k3s/rotate-token.ts'
import { follow, formed, guestOf, HASTE, NEXT } from './cluster-lab.ts'
import { clusterAsDeclared } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-token.test.ts'

for (const server of ['s1', 's2'])
  test(`the token was rotated by hand on ${server}: an upgrade goes round with the present one, and its snapshots can be opened`, async () => {
    const hint = replay(FILE, 1)
    const run = await formed(1, hint)
    const process = guestOf(run, server)[1].machine?.k3s?.process
    assert.ok(process)
    assert.deepEqual(rotateToken(process.computer, 'rotated-by-hand'), { ok: true })
    run.estate = clusterEstate(clusterManifest({ spec: HASTE, version: NEXT }))
    const { end, verbs } = await follow(run, hint, { mostMs: 20 * 60_000 })
    assert.equal(end, 'settled', `${verbs.join(', ')}; ${hint}`)
    clusterAsDeclared(run, hint)
    assert.equal(run.vault.kept.get('homelab')?.password.reveal(), 'rotated-by-hand', hint)
  })
