import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const URL = 'https://images.test/noble.qcow2'
const RIGHT = 'ab'.repeat(32)
const OTHER = 'cd'.repeat(32)
const KEY = 'EnvironmentDownloadFile/noble'

const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: 'https://127.0.0.1:8006', token: {env: PROXMOX_TOKEN}}
`

function image(checksum: string, more = '', annotation = ''): string {
  return `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: noble${annotation}}
spec:
  forProvider:
    nodeName: fun-bedbug
    datastoreId: local
    contentType: import
    fileName: noble.qcow2
    url: ${URL}
    checksum: ${checksum}
    checksumAlgorithm: sha256
${more}`
}

function estate(checksum: string, more?: string, annotation?: string) {
  const made = estateFrom({ 'connection.yaml': connection, 'image.yaml': image(checksum, more, annotation) })
  assert.deepEqual(
    made.problems.filter((problem) => problem.severity === 'error').map((problem) => problem.message),
    [],
  )
  return made
}

/** A datacentre in which the file lies on the storage already, as copied there by a person. */
function withFile(checksum: string, more?: string, annotation?: string): Simulation {
  const run = simulate({ seed: 16, estate: estate(checksum, more, annotation) })
  run.datacentre.world.downloads.set(URL, { sizeBytes: 1000, virtualBytes: 2 ** 30, sha256: RIGHT, sha512: '' })
  run.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')?.set('import/noble.qcow2', {
    name: 'import/noble.qcow2',
    content: 'import',
    format: 'qcow2',
    sizeBytes: 1000,
    ctimeSeconds: 1,
    checksumSeed: URL,
  })
  return run
}

const volumeOf = (run: Simulation) =>
  run.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')?.get('import/noble.qcow2')
const readyOf = (run: Simulation) =>
  run.disk.records.get(KEY)?.conditions.find((condition) => condition.type === 'Ready')?.status
const downloads = (run: Simulation) =>
  run.datacentre.state().hosts as readonly { readonly tasks: readonly { readonly log: readonly string[] }[] }[]
const logOf = (run: Simulation) => downloads(run).flatMap((host) => host.tasks.flatMap((task) => task.log))

test('[A16] a file that is there with the right checksum is Ready, nothing is downloaded, and it is asked only once', async () => {
  const run = withFile(RIGHT)
  const before = volumeOf(run)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(readyOf(run), 'True')
  assert.equal(volumeOf(run), before)
  assert.ok(logOf(run).some((line) => line.includes('no need to download')))
  assert.ok(!logOf(run).some((line) => line.startsWith('Length:')), 'bytes were downloaded')
  assert.equal(run.datacentre.writes.length, 1)
  // A new controller on the same store does not ask again.
  await run.passes(run.start(), 3)
  assert.equal(run.datacentre.writes.length, 1)
  // It was there before us, so it stays when it leaves the declaration.
  run.estate = estateFrom({ 'connection.yaml': connection })
  await run.passes(run.start(), 3)
  assert.equal(volumeOf(run), before)
})

test('[A16] another declared checksum is verified anew', async () => {
  const run = withFile(RIGHT)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.estate = estate(OTHER)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.writes.length, 2)
  assert.match(syncedOf(run), /checksum mismatch/)
})

test('[A16] a file that is there with another checksum is reported as a mismatch and left as it is', async () => {
  const run = withFile(OTHER)
  const before = volumeOf(run)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(volumeOf(run), before)
  assert.match(syncedOf(run), /^EnvironmentDownloadFile\/noble: checksum mismatch: local:import\/noble.qcow2/)
  const writes = run.datacentre.writes.length
  await run.passes(run.start(), 5)
  assert.equal(run.datacentre.writes.length, writes, 'it is verified again and again')
})

for (const [how, more, annotation] of [
  ['the field overwrite', '    overwrite: true\n', ''],
  ['the annotation croft.dev/replace', '', ', annotations: {croft.dev/replace: allowed}'],
] as const) {
  test(`[A16] ${how} allows a file with another checksum to be replaced`, async () => {
    const run = withFile(RIGHT, more, annotation)
    const volume = volumeOf(run)
    assert.ok(volume)
    // Another file has replaced it under that name.
    const local = run.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')
    local?.set(volume.name, { ...volume, sizeBytes: 7, checksumSeed: 'https://elsewhere.test/x' })
    run.datacentre.world.downloads.set('https://elsewhere.test/x', {
      sizeBytes: 7,
      virtualBytes: 7,
      sha256: OTHER,
      sha512: '',
    })
    assert.equal(await run.untilSettled(run.start()), 'settled')
    assert.equal(volumeOf(run)?.checksumSeed, URL)
    assert.equal(readyOf(run), 'True')
    await run.passes(run.start(), 3)
    assert.deepEqual(
      run.datacentre.writes.map((write) => write.method),
      ['POST', 'DELETE', 'POST'],
    )
  })
}

function syncedOf(run: Simulation): string {
  return run.disk.records.get(KEY)?.conditions.find((condition) => condition.type === 'Synced')?.message ?? ''
}
