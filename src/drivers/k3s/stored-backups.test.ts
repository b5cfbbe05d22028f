import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bucketOf } from '../../../sim/k3s/buckets.ts'
import { contentOf } from '../../../sim/k3s/snapshots.ts'
import { runOperation } from '../../engine/clusters/operation.ts'
import { tokenHash } from '../../k3s/token.ts'
import { type BackupPolicy, passwordsOf } from '../../model/cluster.ts'
import { Secret } from '../../model/secret.ts'
import { chosenBackup, type ListedBackup, listBackups } from '../../plan/clusters/backup-list.ts'
import { planRestore } from '../../plan/clusters/restore.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const NAMES = 's1 s2 s3'
const TO = {
  s3: {
    s3: {
      endpoint: 'http://minio.lan:9000',
      bucket: 'backups',
      folder: 'home/etcd',
      credentials: { env: 'S3_KEYS' },
    },
  },
  nfs: { nfs: { server: '10.67.0.50', path: '/backup' } },
  directory: { directory: '/srv/etcd' },
} as const
const KEYS = 'AKIA:not/for+arguments'
const never = new AbortController().signal
const MAP = '/api/v1/namespaces/default/configmaps'

/** A cluster that was backed up there, whose machines were then made anew: nothing is left on any disk but what survives. */
async function lostAfterBackup(to: BackupPolicy['to'], survives: readonly string[] = []): Promise<DriverLab> {
  const lab = driverLab(NAMES, { backup: { schedule: '0 3 * * *', keep: 5, to } })
  lab.deps.resolveSecret = async () => new Secret(KEYS)
  lab.deps.listBucket = async ({ url }, { endpoint, bucket, keys }, folder = '') => {
    assert.equal(url.origin, 'http://minio.lan:9000')
    assert.deepEqual(keys, { access: 'AKIA', secret: 'not/for+arguments' })
    const flags = { 'etcd-s3': 'true', 'etcd-s3-endpoint': endpoint.replace('http://', ''), 'etcd-s3-bucket': bucket }
    const found = bucketOf(lab.world, new Map(Object.entries(flags).map(([flag, value]) => [flag, [value]])))
    return (found?.files.list(`/${folder}`) ?? []).flatMap((name) => {
      const content = contentOf(lab.world, found?.files.text(`/${folder}/${name}`))
      const metadata = new Map([['k3s-token-hash', content?.tokenHash ?? '']])
      return content === undefined ? [] : [{ name, bytes: content.bytes, atMs: content.atMs, metadata }]
    })
  }
  await lab.until(allReady(NAMES))
  await lab.call('POST', MAP, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } })
  await lab.clock.advanceTo(lab.clock.now() + 60_000)
  await lab.perform({ verb: 'snapshot', node: 's1' })
  await lab.clock.advanceTo(lab.clock.now() + 10_000)
  for (const name of NAMES.split(' ')) {
    const { files } = lab.box(name).machine
    const kept = survives.flatMap((path) =>
      files.list(path).map((one) => [`${path}/${one}`, files.read(`${path}/${one}`)] as const),
    )
    await lab.wipe(name)
    for (const path of ['/var/lib/rancher', '/usr/local/lib/croft', '/etc/systemd/system/croft-backup.mount', '/croft'])
      files.remove(path)
    for (const [path, bytes] of kept) if (bytes !== undefined) files.write(path, bytes)
  }
  lab.restart()
  lab.asked.length = 0
  return lab
}

const kept = (lab: DriverLab) =>
  [...lab.vault.kept.values()].flatMap((secrets) => passwordsOf(secrets).map((one) => tokenHash(one.reveal())))

async function listed(lab: DriverLab): Promise<readonly ListedBackup[]> {
  const { observed } = await lab.look()
  const { snapshots, unread } = await lab.clock.runUntil(lab.operator.backups(lab.surroundings(), never))
  assert.deepEqual(unread, [])
  return listBackups(lab.spec, { observed, remembered: [], stored: snapshots, kept: kept(lab) })
}

async function restored(lab: DriverLab, row: ListedBackup): Promise<void> {
  const { observed } = await lab.look()
  const chosen = chosenBackup(lab.spec, [row], row.name, undefined, () => true)
  assert.ok(chosen)
  const { name: snapshot, path, server } = chosen
  const inFile = await lab.clock.runUntil(lab.operator.tokenOf(server, path, lab.surroundings(), never))
  const hash = row.tokenHash ?? inFile
  assert.ok(hash !== undefined, 'nobody says which token opens it')
  const plan = planRestore(lab.spec, observed, kept(lab), { snapshot, path, server, tokenHash: hash })
  assert.deepEqual(plan.refusals, [])
  const { operator } = lab
  const result = await lab.clock.runUntil(
    runOperation(plan, {
      operator,
      clock: lab.clock,
      signal: never,
      surroundings: () => lab.surroundings(),
      setHold: async () => {},
      unsure: async () => undefined,
      intend: async () => {},
      onStep: () => Promise.resolve(),
    }),
  )
  assert.deepEqual(result, { is: 'done' })
  lab.restart()
  await lab.until(allReady(NAMES))
  assert.equal((await lab.call('GET', `${MAP}/kept`)).status, 200)
}

describe('backups, where they lie', () => {
  test('[R20-5] empty hosts are restored straight from S3, and the keys are in no argument and on no disk', async () => {
    const lab = await lostAfterBackup(TO.s3)
    const rows = await listed(lab)
    assert.deepEqual(
      rows.map(({ where, usable }) => [where, usable]),
      [['s3://backups/home/etcd', 'yes']],
    )
    const [row] = rows
    assert.ok(row)
    await restored(lab, row)
    assert.ok(!lab.asked.some((call) => call.includes('not/for+arguments')), 'the keys were in an argument')
  })

  test('[R20-5] empty hosts are restored from a share that none of them has mounted', async () => {
    const lab = await lostAfterBackup(TO.nfs)
    const rows = await listed(lab)
    assert.deepEqual(
      rows.map(({ where, path }) => [where, path.startsWith('/croft/backup/')]),
      [['10.67.0.50:/backup', true]],
    )
    const [row] = rows
    assert.ok(row)
    await restored(lab, row)
  })

  test('[R20-5] a directory that outlived the machines is found on the server that has it', async () => {
    const lab = await lostAfterBackup(TO.directory, ['/srv/etcd'])
    const rows = await listed(lab)
    assert.deepEqual(
      rows.map(({ where, server }) => [where, server]),
      [['s1:/srv/etcd', 's1']],
    )
    const [row] = rows
    assert.ok(row)
    await restored(lab, row)
  })

  test('a bucket that refuses is named with what it said, and the disks are listed all the same', async () => {
    const lab = driverLab('s1', { backup: { schedule: '0 3 * * *', keep: 5, to: TO.s3 } })
    lab.deps.resolveSecret = async () => new Secret(KEYS)
    lab.deps.listBucket = () => Promise.reject(new Error('AccessDenied (HTTP 403)'))
    await lab.until(allReady('s1'))
    await lab.perform({ verb: 'snapshot', node: 's1' })
    await lab.clock.advanceTo(lab.clock.now() + 10_000)
    const { snapshots, unread } = await lab.clock.runUntil(lab.operator.backups(lab.surroundings(), never))
    assert.equal(snapshots.length, 1)
    assert.deepEqual(unread, ['s3://backups at http://minio.lan:9000: AccessDenied (HTTP 403)'])
  })
})
