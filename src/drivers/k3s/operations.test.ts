import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type OperationResult, runOperation } from '../../cli/clusters/run-operation.ts'
import { tokenHash } from '../../k3s/token.ts'
import type { ClusterOperation } from '../../model/cluster-operation.ts'
import { planRestore } from '../../plan/cluster/restore.ts'
import { planRotation } from '../../plan/cluster/rotate.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

async function run(lab: DriverLab, operation: ClusterOperation): Promise<{ result: OperationResult; log: string[] }> {
  const log: string[] = []
  const { operator } = lab
  const result = await lab.clock.runUntil(
    runOperation(operation, {
      operator,
      clock: lab.clock,
      signal: new AbortController().signal,
      surroundings: () => lab.surroundings(),
      setHold: async (reason) => void log.push(reason === undefined ? 'released' : 'held'),
      onStep: (step, _, state) => {
        if (state === 'done') log.push(`${step.do} ${step.node ?? ''}`.trim())
      },
    }),
  )
  return { result, log }
}

async function settled(names = 's1 s2 s3'): Promise<DriverLab> {
  const lab = driverLab(names)
  await lab.until(allReady(names))
  await lab.clock.advanceTo(lab.clock.now() + 60_000)
  return lab
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: {} })
const MAPS = '/api/v1/namespaces/default/configmaps'

function kept(lab: DriverLab): readonly string[] {
  const secrets = lab.vault.kept.get('homelab')
  return secrets === undefined
    ? []
    : [secrets.password, ...secrets.formerPasswords].map((one) => tokenHash(one.reveal()))
}

async function snapshotOn(lab: DriverLab) {
  await lab.perform({ do: 'snapshot', node: 's1' })
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  const facts = JSON.parse(
    (
      await lab.clock.runUntil(
        lab.surroundings().nodes.get('s1')?.shell?.run(['/usr/local/lib/croft/node', 'facts']) ??
          Promise.reject(new Error('no way')),
      )
    ).stdout,
  )
  const [newest] = facts.snapshots.sort((a: { atMs: number }, b: { atMs: number }) => b.atMs - a.atMs)
  return newest as { name: string; path: string; tokenHash?: string }
}

describe('restore', () => {
  test('[A38] all servers stop, one starts over with the kept token, the others join again, and every step is told', async () => {
    const lab = await settled()
    await lab.call('POST', MAPS, configMap('before'))
    const taken = await snapshotOn(lab)
    await lab.call('POST', MAPS, configMap('after'))
    const { observed } = await lab.look()
    const hash = kept(lab)[0] ?? ''
    const operation = planRestore(lab.spec, observed, kept(lab), {
      snapshot: taken.name,
      path: taken.path,
      server: 's1',
      tokenHash: hash,
    })
    const { result, log } = await run(lab, operation)
    assert.deepEqual(result, { is: 'done' })
    assert.deepEqual(log, [
      'held',
      'hold',
      'stop-k3s s1',
      'stop-k3s s2',
      'stop-k3s s3',
      'write-files s1',
      'restore-snapshot s1',
      'start-k3s s1',
      'forget-db s2',
      'write-files s2',
      'start-k3s s2',
      'forget-db s3',
      'write-files s3',
      'start-k3s s3',
      'delete-node',
      'released',
      'release',
    ])
    assert.equal((await lab.call('GET', `${MAPS}/before`)).status, 200)
    assert.equal((await lab.call('GET', `${MAPS}/after`)).status, 404)
    lab.restart()
    const after = await lab.until(allReady('s1 s2 s3'))
    assert.ok(after.members !== 'unknown' && after.members.length === 3)
  })

  test('[R20-3] servers with empty disks are restored from a snapshot that is kept elsewhere', async () => {
    const lab = await settled()
    await lab.call('POST', MAPS, configMap('before'))
    const taken = await snapshotOn(lab)
    const bytes = lab.box('s1').machine.files.read(taken.path)
    assert.ok(bytes)
    for (const name of ['s1', 's2', 's3']) {
      await lab.perform({ do: 'wipe-k3s', node: name })
      await lab.clock.advanceTo(lab.clock.now() + 60_000)
    }
    lab.box('s1').machine.files.write('/srv/kept', bytes)
    lab.restart()
    const { observed } = await lab.look()
    const request = { snapshot: taken.name, path: '/srv/kept', server: 's1', tokenHash: kept(lab)[0] ?? '' }
    const { result, log } = await run(lab, planRestore(lab.spec, observed, kept(lab), request))
    assert.deepEqual(result, { is: 'done' }, log.join(', '))
    assert.equal((await lab.call('GET', `${MAPS}/before`)).status, 200)
    lab.restart()
    const after = await lab.until(allReady('s1 s2 s3'))
    assert.ok(after.members !== 'unknown' && after.members.length === 3)
  })

  for (const what of ['token', 'ca', 'encryption-keys'] as const) {
    test(`[R20-6] a snapshot from before a rotation (${what}) is restored, and the other servers come back`, async () => {
      const lab = await settled('s1 s2 s3 a1')
      await lab.call('POST', MAPS, configMap('before'))
      const taken = await snapshotOn(lab)
      const hash = kept(lab)[0] ?? ''
      const { observed } = await lab.look()
      const rotated = await run(lab, planRotation(what, lab.spec, observed, lab.clock.now()))
      assert.deepEqual(rotated.result, { is: 'done' })
      await lab.clock.advanceTo(lab.clock.now() + 60_000)
      lab.restart()
      const seen = (await lab.look()).observed
      const request = { snapshot: taken.name, path: taken.path, server: 's1', tokenHash: hash }
      const restored = await run(lab, planRestore(lab.spec, seen, kept(lab), request))
      assert.deepEqual(restored.result, { is: 'done' }, restored.log.join(', '))
      assert.equal((await lab.call('GET', `${MAPS}/before`)).status, 200)
      lab.restart()
      const after = await lab.until(allReady('s1 s2 s3 a1'))
      assert.ok(after.members !== 'unknown' && after.members.length === 3)
      // Twice: what a start writes must not keep the next one from starting.
      for (const name of ['s1', 's2', 's3']) {
        await lab.perform({ do: 'restart-k3s', node: name })
        await lab.clock.advanceTo(lab.clock.now() + 90_000)
      }
      const again = await lab.until(allReady('s1 s2 s3 a1'))
      assert.ok(again.nodes.every(({ k3s }) => k3s !== 'unknown' && k3s.service === 'running'))
    })
  }

  test('[F-33] a wrong or missing token is refused before anything is stopped', async () => {
    const lab = await settled('s1')
    const { observed } = await lab.look()
    const request = { snapshot: 'x', path: '/x', server: 's1' }
    for (const [passwords, more] of [
      [kept(lab), { tokenHash: '000000000000' }],
      [kept(lab), {}],
      [[], { tokenHash: kept(lab)[0] ?? '' }],
    ] as const) {
      const operation = planRestore(lab.spec, observed, passwords, { ...request, ...more })
      assert.deepEqual(operation.steps, [])
      assert.equal(operation.refusals.length, 1)
    }
  })
})

describe('rotation', () => {
  test('of the token: everybody runs with the new one, and the old one is kept for older snapshots', async () => {
    const lab = await settled('s1 s2 s3 a1')
    const [before] = kept(lab)
    const { observed } = await lab.look()
    const { result } = await run(lab, planRotation('token', lab.spec, observed, lab.clock.now()))
    assert.deepEqual(result, { is: 'done' })
    assert.notEqual(kept(lab)[0], before)
    assert.ok(kept(lab).includes(before ?? ''))
    lab.restart()
    await lab.until(allReady('s1 s2 s3 a1'))
  })

  test('of the CA under the same root: the token stays, and so does our access', async () => {
    const lab = await settled()
    const before = lab.vault.kept.get('homelab')
    const { observed } = await lab.look()
    const { result, log } = await run(lab, planRotation('ca', lab.spec, observed, lab.clock.now()))
    assert.deepEqual(result, { is: 'done' }, log.join(', '))
    const after = lab.vault.kept.get('homelab')
    assert.equal(after?.caHash, before?.caHash)
    assert.notEqual(after?.files.get('client-ca.key')?.reveal(), before?.files.get('client-ca.key')?.reveal())
    lab.restart()
    const seen = await lab.until(allReady('s1 s2 s3'))
    assert.equal(seen.api, 'yes')
  })
})

describe('recovery', () => {
  test('CA and token are read back from a server that runs, and without them no new cluster is begun', async () => {
    const lab = await settled('s1 s2 s3')
    const before = lab.vault.kept.get('homelab')
    lab.vault.kept.clear()
    lab.restart()
    const refused = await lab.perform({ do: 'record-first-server', node: 's1' })
    assert.ok(refused.result === 'refused' && /croft cluster recover homelab --from s1/.test(refused.refusal.message))
    const { operator } = lab
    const signal = new AbortController().signal
    assert.equal(await lab.clock.runUntil(operator.recover('s2', lab.surroundings(), signal)), undefined)
    const after = lab.vault.kept.get('homelab')
    assert.deepEqual(
      [after?.caHash, after?.password.reveal(), after?.agentPassword?.reveal(), after?.formed],
      [before?.caHash, before?.password.reveal(), before?.agentPassword?.reveal(), true],
    )
    lab.restart()
    assert.equal((await lab.look()).observed.api, 'yes')
    // The keys of the roots are on no server: a CA of this record cannot be rotated under them.
    const { observed } = await lab.look()
    const { result } = await run(lab, planRotation('ca', lab.spec, observed, lab.clock.now()))
    assert.ok(result.is === 'failed' && /keys of the roots are not kept/.test(result.message))
  })

  test('a record that cannot be opened holds the cluster and says why', async () => {
    const lab = await settled('s1')
    lab.vault.read = async () => {
      throw new Error('homelab.cluster.age cannot be opened')
    }
    const { decision } = await lab.look()
    assert.deepEqual(decision.steps, [])
    assert.match(decision.holds[0]?.reason ?? '', /homelab\.cluster\.age cannot be opened/)
  })
})

describe('draining', () => {
  test('[A50] what a disruption budget keeps is named; force deletes it', async () => {
    const lab = await settled('s1 a1')
    const labels = { app: 'w' }
    const container = { name: 'c', image: 'x' }
    await lab.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'w' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [container],
            nodeSelector: { 'kubernetes.io/hostname': 'a1' },
            terminationGracePeriodSeconds: 1,
          },
        },
      },
    })
    await lab.call('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'w' },
      spec: { minAvailable: 2, selector: { matchLabels: labels } },
    })
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    await lab.perform({ do: 'cordon', node: 'a1', purpose: 'upgrade', target: 'v', lane: 'kubernetes' })
    await lab.perform({ do: 'drain', node: 'a1', lane: 'kubernetes' })
    // What is free to go has time to go.
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    const kubeOf = async () => {
      const kube = (await lab.look()).observed.nodes.find(({ name }) => name === 'a1')?.kube
      assert.ok(typeof kube === 'object')
      return kube
    }
    const held = await kubeOf()
    assert.equal(held.podsToMove, 2)
    assert.match(held.drainBlockedBy ?? '', /The disruption budget w needs 2 healthy pods and has 2 currently/)
    await lab.perform({ do: 'drain', node: 'a1', lane: 'kubernetes', force: true })
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    const free = await kubeOf()
    assert.deepEqual([free.podsToMove, free.drainBlockedBy], [0, undefined])
    await lab.perform({ do: 'uncordon', node: 'a1', lane: 'kubernetes' })
    const back = await kubeOf()
    assert.deepEqual([back.unschedulable, back.work], [false, undefined])
  })
})
