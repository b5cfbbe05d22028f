import assert from 'node:assert/strict'
import { test } from 'node:test'
import { volumes } from '../../sim/libvirt/domains.ts'
import { putImage } from '../../sim/libvirt/shell.ts'
import { checksumOf } from '../../sim/world/volumes.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import type { Estate } from '../../src/model/estate.ts'
import { valid, WEB } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'

/* Images in the pools of libvirt, by their checksums: the whole engine. */

const URL = 'https://example.org/debian.qcow2'
const RIGHT = checksumOf(URL, 'sha256')
const NAME = 'debian.qcow2'

function declared(checksum: string, more = ''): Estate {
  const image = `{url: "${URL}", storage: vms, hosts: [kvm], checksum: "sha256:${checksum}"${more}}`
  return valid({ 'web.yaml': WEB.replace(`{url: "${URL}", storage: vms}`, image) })
}

const downloads = ({ writes }: LibvirtRun) => writes.filter((line) => line.includes(' fetch ')).length
const seedOf = ({ host }: LibvirtRun) => volumes(host, 'default').get(NAME)?.checksumSeed

test('[A16] an image comes once, and what is there with the right checksum is Ready without a download', async () => {
  const run = simulateLibvirt(1, declared(RIGHT), 'kvm')
  assert.equal(await run.settle(), 'settled')
  assert.equal(await run.settle(), 'settled')
  assert.equal(downloads(run), 1)
  const there = simulateLibvirt(2, declared(RIGHT), 'kvm')
  putImage(there.host, 'default', NAME, 3, URL)
  const told: string[] = []
  const onPass = ({ events }: PassReport) => void told.push(...events.map(({ reason }) => reason))
  assert.equal(await there.settle(undefined, onPass), 'settled')
  assert.equal(downloads(there), 0)
  // While its checksum is looked at, nobody is told that it is not there.
  assert.deepEqual(told, ['Started', 'Ready', 'Done'])
  assert.equal(
    there.disk.records.get('Image/debian@kvm')?.conditions.find(({ type }) => type === 'Ready')?.status,
    'True',
  )
})

test('[A16] a file of that name with another checksum is reported and left as it is, unless replace allows it', async () => {
  const said: string[] = []
  const run = simulateLibvirt(3, declared(RIGHT), 'kvm')
  putImage(run.host, 'default', NAME, 3, 'something else')
  await run.settle(undefined, ({ plan }) => {
    for (const { action } of plan.entries) if (action.do === 'refuse') said.push(action.reason)
  })
  assert.match(said.join('; '), /checksum mismatch/)
  assert.deepEqual([downloads(run), seedOf(run)], [0, 'something else'])
  run.estate = declared(RIGHT, ', replace: true')
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual([downloads(run), seedOf(run)], [1, URL])
})

test('[A16] what was downloaded and is not what Git says never gets its name', async () => {
  const run = simulateLibvirt(4, declared('0'.repeat(64)), 'kvm')
  run.deadlineMs = 600_000
  await run.settle()
  assert.equal(seedOf(run), undefined)
  const record = run.disk.records.get('Image/debian@kvm')
  assert.ok(
    record?.conditions.some(({ message }) => message.includes('not what its checksum says')),
    JSON.stringify(record),
  )
})
