// An unavailable release: detected on every node before the first is cordoned.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { releaseChecksum } from '../../../sim/k3s/install.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const NAMES = 's1 a1'
const NEXT = 'v1.35.0+k3s1'
const SOURCE = 'https://github.com/k3s-io/k3s/releases/download/v1.35.0%2Bk3s1/k3s'
const upgrade: ClusterSpec['upgrade'] = {
  method: 'inPlace',
  drain: { timeoutMs: 60_000, onTimeout: 'wait' },
  soakMs: 1000,
  nodeTimeoutMs: 600_000,
  healthChecks: [],
  windows: [],
  agentsSurge: 1,
}

async function ready(): Promise<DriverLab> {
  const lab = driverLab(NAMES, { upgrade, allow: { degraded: false, interruption: true } })
  await lab.until(allReady(NAMES), 900)
  await lab.clock.advanceTo(lab.clock.now() + 120_000)
  return lab
}

const pin = (lab: DriverLab) => {
  lab.spec = { ...lab.spec, version: NEXT }
  lab.restart()
}
const versions = ({ nodes }: ObservedCluster) =>
  nodes.map(({ kube }) => (typeof kube === 'object' ? kube.version : kube))
const isCordoned = ({ nodes }: ObservedCluster) =>
  nodes.some(({ kube }) => typeof kube === 'object' && (kube.unschedulable || kube.work !== undefined))

const troubles: readonly [string, (lab: DriverLab) => () => void, RegExp][] = [
  [
    'has no checksum file',
    (lab) => {
      const had = lab.deps.fetchText
      Object.assign(lab.deps, { fetchText: () => Promise.reject(new Error('404 Not Found')) })
      return () => Object.assign(lab.deps, { fetchText: had })
    },
    /no checksum of K3s v1\.35\.0\+k3s1 .*404 Not Found/,
  ],
  [
    'has another checksum',
    (lab) => {
      lab.world.k3s.artifacts.set(SOURCE, { sha256: 'f'.repeat(64), version: NEXT })
      return () => void lab.world.k3s.artifacts.delete(SOURCE)
    },
    /checksum/,
  ],
  [
    'does not fit on the disk of the agent, which would be last',
    (lab) => {
      lab.box('a1').machine.trouble.diskFull = true
      return () => void delete lab.box('a1').machine.trouble.diskFull
    },
    /a1: No space left on device/,
  ],
  [
    'is another one than it is called',
    (lab) => {
      lab.world.k3s.artifacts.set(SOURCE, { sha256: releaseChecksum(NEXT), version: 'v1.34.9+k3s1' })
      return () => void lab.world.k3s.artifacts.delete(SOURCE)
    },
    /calls itself v1\.34\.9\+k3s1/,
  ],
]

describe('a release that', () => {
  for (const [what, make, reason] of troubles)
    test(`${what} is said, and no node is cordoned for it`, async () => {
      const lab = await ready()
      const clear = make(lab)
      pin(lab)
      let cordoned = false
      const held = (observed: ObservedCluster) => {
        cordoned ||= isCordoned(observed)
        return cordoned
      }
      await assert.rejects(lab.until(held, 90), /not after 90 rounds/)
      const { decision } = await lab.look()
      const hold = decision.holds.find(({ guard }) => guard === 'program')
      assert.match(hold?.reason ?? '', reason)
      const asks = lab.done.filter(({ step }) => step.verb === 'prepare-k3s' && step.version === NEXT).length
      assert.ok(asks < 40, `not asked again in every pass: ${asks}`)
      clear()
      const after = await lab.until((seen) => versions(seen).every((one) => one === NEXT) && !isCordoned(seen), 2000)
      assert.deepEqual(versions(after), [NEXT, NEXT])
    })
})

describe('a program that changed on a node between its fetch and its exchange', () => {
  test('[S-24] is refused there, said, fetched again, and never runs', async () => {
    const lab = await ready()
    const { files } = lab.box('s1').machine
    const beside = `/usr/local/bin/.k3s-${NEXT}.croft`
    pin(lab)
    let changed = false
    const refusals: string[] = []
    const after = await lab.until((seen) => {
      if (!changed && isCordoned(seen) && files.read(beside) !== undefined) {
        files.write(beside, 'k3s program v1.35.0+k3s1, with another inside')
        changed = true
      }
      refusals.push(...lab.done.flatMap(({ outcome }) => (outcome.result === 'refused' ? outcome.refusal.message : [])))
      return versions(seen).every((one) => one === NEXT) && !isCordoned(seen)
    }, 2000)
    assert.ok(changed)
    assert.match(refusals[0] ?? '', /s1: the program of K3s v1\.35\.0\+k3s1 that was fetched has another checksum than/)
    assert.equal(files.text('/usr/local/bin/k3s'), lab.box('a1').machine.files.text('/usr/local/bin/k3s'))
    assert.deepEqual(versions(after), [NEXT, NEXT])
  })
})
