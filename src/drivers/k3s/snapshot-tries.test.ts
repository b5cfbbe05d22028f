import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OWN_SNAPSHOTS } from '../../k3s/node-program.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { allReady, type DriverLab, driverLab, LAB_VERSION } from './testing/lab.ts'

const NEXT = 'v1.34.4+k3s1'
const NAMES = 's1 s2 s3'

const votes = (count: number) => (observed: ObservedCluster) =>
  observed.members !== 'unknown' &&
  observed.members.length === count &&
  observed.members.every(({ learner, up }) => !learner && up === 'yes')

/** Three running servers with another declared release. */
async function pinned(): Promise<DriverLab> {
  const lab = driverLab(NAMES)
  await lab.until((observed) => allReady(NAMES)(observed) && votes(3)(observed), 900)
  await lab.clock.advanceTo(lab.clock.now() + 900_000)
  lab.spec = { ...lab.spec, version: NEXT, upgrade: { ...lab.spec.upgrade, soakMs: 1000 } }
  lab.restart()
  lab.done.length = 0
  return lab
}

const snapshotsAsked = (lab: DriverLab) => lab.done.filter(({ step }) => step.verb === 'snapshot').length
const rounds = (lab: DriverLab, count: number) => lab.until(() => false, count).catch(() => undefined)
const onRelease =
  (version: string) =>
  ({ nodes }: ObservedCluster) =>
    nodes.every(({ kube }) => typeof kube === 'object' && kube.version === version && kube.work === undefined)

describe('the snapshot before a change', () => {
  test('that no server can take: two tries, then the words of K3s; it goes on by itself when there is room', async () => {
    const lab = await pinned()
    await lab.until(({ nodes }) => nodes.every(({ k3s }) => k3s !== 'unknown' && k3s.fetched === NEXT), 300)
    for (const name of NAMES.split(' ')) lab.box(name).trouble.diskFull = true
    await rounds(lab, 300)
    const { decision } = await lab.look()
    assert.equal(snapshotsAsked(lab), 2)
    assert.match(decision.holds.find(({ guard }) => guard === 'snapshot')?.reason ?? '', /No space left on device/)
    for (const name of NAMES.split(' ')) lab.box(name).trouble.diskFull = false
    await lab.until(onRelease(NEXT), 1800)
  })

  test('is known by its name, not by the clock of the server that took it', async () => {
    const lab = await pinned()
    const send = lab.deps.openKubernetes
    lab.deps.openKubernetes = (target) => {
      const wire = send(target)
      return {
        close: () => wire.close(),
        send: async (request, signal) => {
          const answer = await wire.send(request, signal)
          if (!request.path.includes('etcdsnapshotfiles')) return answer
          const hourBefore = (time: string) => new Date(Date.parse(time) - 3_700_000).toISOString()
          const body = String(answer.body).replace(/(?<="creationTime":")[^"]*/g, hourBefore)
          return { ...answer, body }
        },
      }
    }
    lab.restart()
    await lab.until(onRelease(NEXT), 1800)
    assert.equal(snapshotsAsked(lab), 3, 'one before each server')
  })

  test('croft keeps the newest of its own on each server', async () => {
    const lab = await pinned()
    lab.spec = { ...lab.spec, version: LAB_VERSION }
    lab.restart()
    for (let count = 0; count < OWN_SNAPSHOTS + 3; count++) {
      await lab.perform({ verb: 'snapshot', node: 's1' })
      await lab.clock.advanceTo(lab.clock.now() + 10_000)
    }
    const files = lab.box('s1').machine.files.list('/var/lib/rancher/k3s/server/db/snapshots')
    assert.equal(files.filter((name) => name.startsWith('croft-')).length, OWN_SNAPSHOTS)
  })
})
