import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CLIENT_KUBELET } from '../../../sim/k3s/disk.ts'
import { withKnownToken } from '../../engine/clusters/backups.ts'
import { type OperationResult, runOperation } from '../../engine/clusters/operation.ts'
import { NODE_PROGRAM } from '../../k3s/node-program.ts'
import { tokenHash } from '../../k3s/token.ts'
import { passwordsOf, RecordClosed } from '../../model/cluster.ts'
import type { ClusterOperation } from '../../model/observed-cluster.ts'
import { Secret } from '../../model/secret.ts'
import { planDrill } from '../../plan/clusters/backup.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { planRestore } from '../../plan/clusters/restore.ts'
import { planRotation } from '../../plan/clusters/rotate.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

async function run(
  lab: DriverLab,
  operation: ClusterOperation,
): Promise<{ result: OperationResult; log: string[]; said: string[] }> {
  const log: string[] = []
  const said: string[] = []
  const { operator } = lab
  const result = await lab.clock.runUntil(
    runOperation(operation, {
      operator,
      clock: lab.clock,
      signal: new AbortController().signal,
      surroundings: () => lab.surroundings(),
      setHold: async (reason) => void log.push(reason === undefined ? 'released' : 'held'),
      unsure: async () => undefined,
      intend: async () => {},
      onStep: (step, _, state, told) => {
        if (told !== undefined) said.push(told)
        if (state === 'done') log.push(`${step.verb} ${step.node ?? ''}`.trim())
      },
    }),
  )
  return { result, log, said }
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
  return secrets === undefined ? [] : passwordsOf(secrets).map((one) => tokenHash(one.reveal()))
}

async function snapshotOn(lab: DriverLab) {
  await lab.perform({ verb: 'snapshot', node: 's1' })
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
  return newest as { name: string; path: string }
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
      'snapshot s1',
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
    for (const name of ['s1', 's2', 's3']) await lab.wipe(name)
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

  test('a restore puts the older token back into force, and keeps the newer one for newer snapshots', async () => {
    const lab = await settled('s1')
    const taken = await snapshotOn(lab)
    const rotation = planRotation('token', lab.spec, (await lab.look()).observed, lab.clock.now())
    assert.deepEqual((await run(lab, rotation)).result, { is: 'done' })
    lab.restart()
    await lab.until(allReady('s1'))
    const [newer = '', older = ''] = kept(lab)
    const request = { snapshot: taken.name, path: taken.path, server: 's1', tokenHash: older }
    const { result, log } = await run(lab, planRestore(lab.spec, (await lab.look()).observed, kept(lab), request))
    assert.deepEqual(result, { is: 'done' }, log.join(', '))
    assert.deepEqual(kept(lab), [older, newer])
  })

  test('[R20-3] a snapshot is found on a machine that croft has never been on', async () => {
    const lab = await settled('s1')
    const taken = await snapshotOn(lab)
    lab.box('s1').machine.files.remove(NODE_PROGRAM)
    const found = await lab.clock.runUntil(lab.operator.backups(lab.surroundings(), new AbortController().signal))
    assert.deepEqual(
      found.snapshots.map(({ name, location, node }) => ({ name, location, node })),
      [{ name: taken.name, location: `file://${taken.path}`, node: 's1' }],
    )
    assert.equal(lab.box('s1').machine.files.read(NODE_PROGRAM), undefined, 'a look wrote something')
  })

  test('a restored K3s lists what lies on its disk, and no longer knows which token opens it', async () => {
    const lab = await settled()
    const taken = await snapshotOn(lab)
    const listed = async () => {
      const { snapshots } = (await lab.look()).observed
      return snapshots === 'unknown' ? [] : snapshots.filter(({ name }) => name === taken.name)
    }
    const [before] = await listed()
    assert.equal(before?.tokenKept, 'yes')
    const request = { snapshot: taken.name, path: taken.path, server: 's1', tokenHash: kept(lab)[0] ?? '' }
    const { result } = await run(lab, planRestore(lab.spec, (await lab.look()).observed, kept(lab), request))
    assert.deepEqual(result, { is: 'done' })
    lab.restart()
    await lab.until(allReady('s1 s2 s3'))
    const [after] = await listed()
    assert.deepEqual([after?.tokenHash, after?.tokenKept], [undefined, 'unknown'])
    // Its earlier notes still apply.
    assert.deepEqual(after && before && withKnownToken(after, [before]), { ...after, ...before })
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
      // Twice: files of one start must not prevent the next one.
      for (const name of ['s1', 's2', 's3']) {
        await lab.perform({ verb: 'restart-k3s', node: name })
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

describe('drill', () => {
  async function withSpare(more = {}): Promise<DriverLab> {
    const lab = driverLab('s1 s2 s3 s9', more)
    lab.spec = { ...lab.spec, servers: lab.spec.servers.filter(({ name }) => name !== 's9') }
    lab.restart()
    await lab.until(allReady('s1 s2 s3'))
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    return lab
  }

  for (const secretsEncryption of [true, false]) {
    test(`[R20-4] the copy starts with the cluster's own flags and tokens, and every Secret is read (encryption ${secretsEncryption})`, async () => {
      const lab = await withSpare({ secretsEncryption })
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'login' }, type: 'kubernetes.io/basic-auth' }
      await lab.call('POST', '/api/v1/namespaces/default/secrets', { ...secret, data: { password: 'c2VjcmV0' } })
      const taken = await snapshotOn(lab)
      const { result, log, said } = await run(lab, planDrill(lab.spec, { ...taken, server: 's1', usable: 'yes' }, 's9'))
      assert.deepEqual(result, { is: 'done' }, log.join(', '))
      assert.match(
        said.join(' '),
        /3 Nodes and \d+ namespaces; \d+ Secrets were read, of the kinds .*kubernetes\.io\/basic-auth.*; not proved: that pods start/,
      )
      assert.ok(!said.join(' ').includes('c2VjcmV0'))
      const config = lab.written.find(({ node, path }) => node === 's9' && path.endsWith('config.yaml'))
      const text = Buffer.from(config?.base64 ?? '', 'base64').toString()
      assert.match(text, /"disable-agent": true/)
      assert.ok(text.includes(`"secrets-encryption": ${secretsEncryption}`))
      assert.doesNotMatch(text, /etcd-s3|etcd-snapshot-dir|"server":/)
      assert.equal(lab.box('s9').machine.files.text('/var/lib/rancher/k3s/server/token'), undefined, 'wiped at the end')
    })
  }

  test('a backup from before a rotation of the token is tried with the token that opens it', async () => {
    const lab = await withSpare()
    const taken = await snapshotOn(lab)
    const { observed } = await lab.look()
    const rotated = await run(lab, planRotation('token', lab.spec, observed, lab.clock.now()))
    assert.deepEqual(rotated.result, { is: 'done' })
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    const present = kept(lab)[0]
    const { result, log } = await run(lab, planDrill(lab.spec, { ...taken, server: 's1', usable: 'yes' }, 's9'))
    assert.deepEqual(result, { is: 'done' }, log.join(', '))
    assert.equal(kept(lab)[0], present, 'the cluster keeps its token')
    const secrets = lab.vault.kept.get('homelab')
    assert.ok(secrets)
    lab.vault.kept.set('homelab', { ...secrets, formerPasswords: [] })
    const lost = await run(lab, planDrill(lab.spec, { ...taken, server: 's1', usable: 'yes' }, 's9'))
    assert.match(JSON.stringify(lost.result), /the token that opens the backup is not kept/)
  })

  test('a machine that holds anything else than an earlier drill is left as it is', async () => {
    const lab = await withSpare()
    const taken = await snapshotOn(lab)
    const operation = planDrill(lab.spec, { ...taken, server: 's1', usable: 'yes' }, 's9')
    lab.box('s9').machine.files.write('/var/lib/rancher/k3s/server/db/etcd/name', 'precious')
    const { result } = await run(lab, operation)
    assert.ok(result.is === 'failed' && /s9 holds K3s .* that no drill left/.test(result.message))
    assert.equal(lab.box('s9').machine.files.text('/var/lib/rancher/k3s/server/db/etcd/name'), 'precious')
  })

  test('[R20-4] a copy that cannot read its Secrets, or that dies at every start, fails the drill by its own words', async () => {
    const lab = await withSpare()
    const taken = await snapshotOn(lab)
    const steps = planDrill(lab.spec, { ...taken, server: 's1', usable: 'yes' }, 's9').steps
    const plain = { ...lab.spec, secretsEncryption: false }
    const whole = { name: 'drill', steps, refusals: [], warnings: [] }
    const encrypted = lab.spec
    lab.spec = plain
    const blind = await run(lab, whole)
    assert.ok(blind.result.is === 'failed' && /unable to transform key/.test(blind.result.message))
    lab.spec = encrypted
    const secrets = lab.vault.kept.get('homelab')
    assert.ok(secrets)
    lab.vault.kept.set('homelab', { ...secrets, agentPassword: new Secret('another-password-for-agents') })
    const dying = await run(lab, whole)
    assert.match(JSON.stringify(dying.result), /cred\/passwd newer than datastore/)
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

  test('of the token: what K3s has taken is written down already, should croft end before it notes that', async () => {
    const lab = await settled('s1')
    const { observed } = await lab.look()
    const { write } = lab.vault
    let writes = 0
    lab.vault.write = async (secrets) => {
      if (++writes > 1) throw new Error('the disk is full')
      await write(secrets)
    }
    const operation = planRotation('token', lab.spec, observed, lab.clock.now())
    await run(lab, operation).catch((error: unknown) => assert.match(String(error), /the disk is full/))
    lab.vault.write = write
    assert.ok(writes > 1, 'once before K3s is told, once after it')
    const taken = lab.box('s1').machine.files.text('/var/lib/rancher/k3s/server/token') ?? ''
    const inForce = tokenHash(taken.trim().split(':').at(-1) ?? '')
    assert.notEqual(inForce, kept(lab)[0], 'K3s has taken the new one')
    assert.ok(kept(lab).includes(inForce))
  })

  test('of the certificates: one node after the other, agents with a token to ask with, and everybody comes back', async () => {
    const lab = await settled('s1 s2 s3 a1')
    const soonMs = lab.clock.now() + 10 * 86_400_000
    for (const name of ['s2', 'a1'])
      lab.box(name).machine.files.write(CLIENT_KUBELET, `notAfter=${new Date(soonMs).toUTCString()}`)
    lab.restart()
    const { observed } = await lab.look()
    const told = coordinate(lab.spec, observed, lab.clock.now()).holds.map(({ guard }) => guard)
    assert.deepEqual(told, ['certificates'], 'those that end soon are told')
    const { result, log } = await run(lab, planRotation('certificates', lab.spec, observed, lab.clock.now()))
    assert.deepEqual(result, { is: 'done' }, log.join(', '))
    assert.deepEqual(log.slice(2, -2), [
      'snapshot s1',
      'renew-certificates s1',
      'renew-certificates s2',
      'renew-certificates s3',
      'write-files a1',
      'renew-certificates a1',
    ])
    lab.restart()
    const after = await lab.until(allReady('s1 s2 s3 a1'))
    assert.ok(after.nodes.every(({ k3s }) => k3s !== 'unknown' && k3s.service === 'running'))
    assert.deepEqual(coordinate(lab.spec, after, lab.clock.now()).holds, [], 'and those that were renewed are not')
  })

  test('of the certificates: an agent without another token does not come back, so it gets one', async () => {
    const lab = await settled('s1 a1')
    const { observed } = await lab.look()
    const operation = planRotation('certificates', lab.spec, observed, lab.clock.now())
    const without = operation.steps.filter((step) => step.verb !== 'write-files')
    const { result } = await run(lab, { ...operation, steps: without })
    assert.ok(result.is === 'failed' && /a1 Ready/.test(result.message), JSON.stringify(result))
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
    const refused = await lab.perform({ verb: 'record-first-server', node: 's1' })
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
    // No server has the roots' keys: a CA of this record cannot be rotated under them.
    const { observed } = await lab.look()
    const { result } = await run(lab, planRotation('ca', lab.spec, observed, lab.clock.now()))
    assert.ok(result.is === 'failed' && /keys of the roots are not kept/.test(result.message))
  })

  test('every password that a snapshot may need is kept over two rotations, a recovery and another one', async () => {
    const lab = await settled('s1')
    const all = [kept(lab)[0] ?? '']
    const rotate = async () => {
      const { observed } = await lab.look()
      const { result } = await run(lab, planRotation('token', lab.spec, observed, lab.clock.now()))
      assert.deepEqual(result, { is: 'done' })
      all.unshift(kept(lab)[0] ?? '')
      lab.restart()
      await lab.until(allReady('s1'))
    }
    await rotate()
    await rotate()
    assert.equal(new Set(all).size, 3, 'each rotation makes a new one')
    assert.deepEqual(kept(lab), all)
    const signal = new AbortController().signal
    assert.equal(await lab.clock.runUntil(lab.operator.recover('s1', lab.surroundings(), signal)), undefined)
    assert.deepEqual(kept(lab), all, 'what is read back from a server takes nothing away')
    await rotate()
    assert.deepEqual(kept(lab), all)
    const secrets = lab.vault.kept.get('homelab')
    assert.ok(
      [...(secrets?.files.keys() ?? [])].some((path) => /root/.test(path)),
      'nor the keys of the roots',
    )
  })

  test('a record from before a rotation keeps its password when the one of the server is read back', async () => {
    const lab = await settled('s1')
    const older = lab.vault.kept.get('homelab')
    assert.ok(older !== undefined)
    const { observed } = await lab.look()
    assert.deepEqual((await run(lab, planRotation('token', lab.spec, observed, lab.clock.now()))).result, {
      is: 'done',
    })
    const all = kept(lab)
    lab.vault.kept.set('homelab', older)
    lab.restart()
    const signal = new AbortController().signal
    assert.equal(await lab.clock.runUntil(lab.operator.recover('s1', lab.surroundings(), signal)), undefined)
    assert.equal(all.length, 2)
    assert.deepEqual(kept(lab), all)
  })

  test('a sealed copy in Git that nobody can open does not keep the record from being read back; the only record does', async () => {
    const lab = await settled('s1')
    const before = lab.vault.kept.get('homelab')
    lab.vault.kept.clear()
    const recovered = (kept: 'vault' | 'escrow') => {
      lab.vault.read = () =>
        Promise.reject(new RecordClosed(`${kept}/homelab.cluster.age`, { why: 'there is no key', key: 'set it' }, kept))
      return lab.clock.runUntil(lab.operator.recover('s1', lab.surroundings(), new AbortController().signal))
    }
    await assert.rejects(recovered('vault'), /vault\/homelab\.cluster\.age is sealed/)
    assert.equal(lab.vault.kept.size, 0, 'what another key may open is not written over')
    assert.equal(await recovered('escrow'), undefined)
    assert.equal(lab.vault.kept.get('homelab')?.caHash, before?.caHash)
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
    await lab.perform({ verb: 'cordon', node: 'a1', purpose: 'upgrade', target: 'v', lane: 'object' })
    await lab.perform({ verb: 'drain', node: 'a1', lane: 'object' })
    // Pods that may be evicted get the time for it.
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    const kubeOf = async () => {
      const kube = (await lab.look()).observed.nodes.find(({ name }) => name === 'a1')?.kube
      assert.ok(typeof kube === 'object')
      return kube
    }
    const held = await kubeOf()
    assert.equal(held.podsToMove, 2)
    assert.match(held.drainBlockedBy ?? '', /The disruption budget w needs 2 healthy pods and has 2 currently/)
    await lab.perform({ verb: 'drain', node: 'a1', lane: 'object', force: true })
    await lab.clock.advanceTo(lab.clock.now() + 60_000)
    const free = await kubeOf()
    assert.deepEqual([free.podsToMove, free.drainBlockedBy], [0, undefined])
    await lab.perform({ verb: 'uncordon', node: 'a1', lane: 'object' })
    const back = await kubeOf()
    assert.deepEqual([back.unschedulable, back.work], [false, undefined])
  })
})
