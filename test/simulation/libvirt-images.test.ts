import assert from 'node:assert/strict'
import { test } from 'node:test'
import { volumes } from '../../sim/libvirt/domains.ts'
import { libvirtShell, putImage } from '../../sim/libvirt/shell.ts'
import { checksumOf } from '../../sim/world/volumes.ts'
import { libvirtDriver } from '../../src/drivers/libvirt/driver.ts'
import { libvirtRules } from '../../src/drivers/libvirt/rules.ts'
import { discardStep } from '../../src/drivers/libvirt/steps.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { removed } from '../../src/model/destruction.ts'
import type { Estate } from '../../src/model/estate.ts'
import { machine, valid, WEB } from './libvirt-machines.ts'
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
  // While its checksum is read, no pass reports it as missing.
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

test('a file that disks of machines stand on is neither replaced nor deleted, and the disks are named', async () => {
  const newer = 'https://example.org/newer/debian.qcow2'
  const withMachine = (url: string, replace = false) => {
    const sum = `sha256:${checksumOf(url, 'sha256')}`
    const image = `{url: "${url}", storage: vms, hosts: [kvm], checksum: "${sum}", replace: ${replace}}`
    return valid({
      'web.yaml': `${WEB.replace(`{url: "${URL}", storage: vms}`, image)}${machine('web-1', '192.168.122.20')}`,
    })
  }
  const run = simulateLibvirt(5, withMachine(URL), 'kvm')
  assert.equal(await run.settle(), 'settled')
  const overlay = [...volumes(run.host, 'default').values()].find(({ parent }) => parent !== undefined)?.name
  assert.ok(overlay)
  run.deadlineMs = 600_000
  run.estate = withMachine(newer)
  await run.settle()
  run.estate = withMachine(newer, true)
  const said = new Set<string>()
  await run.settle(undefined, ({ plan }) => {
    for (const { action } of plan.entries) if (action.do === 'refuse') said.add(`${action.reason}; ${action.allow}`)
  })
  assert.equal(seedOf(run), URL)
  assert.match(
    [...said].join('; '),
    new RegExp(`Image/debian@kvm: default:import/debian.qcow2 on kvm: the disk default:${overlay} stands on it`),
  )

  // The driver asks again right before it deletes: a disk may have been made since the plan.
  const shell = libvirtShell(run.host)
  const [connection] = run.estate.connections.filter(({ driver }) => driver === 'libvirt')
  assert.ok(connection)
  const session = libvirtDriver.connect(connection, {
    clock: run.clock,
    random: seededRandom(1),
    openWire: () => assert.fail('libvirt needs no wire'),
    openShell: () => shell,
    resolveSecret: () => assert.fail('no secret is needed'),
  })
  const { signal } = new AbortController()
  putImage(run.host, 'default', 'free.qcow2')
  for (const name of [NAME, 'free.qcow2']) {
    const outcome = await run.clock.runUntil(
      session.perform(discardStep('kvm', 'default', name, wrongly(name)), signal),
    )
    assert.equal(outcome.result, name === NAME ? 'refused' : 'done')
    assert.equal(volumes(run.host, 'default').has(name), name === NAME)
  }
  // A plan that would delete it, and an image that is brought to the pool, read the same from the survey.
  const [file] = (await run.clock.runUntil(session.list('volumes/kvm/default', signal))).filter(
    ({ externalId }) => externalId === `default:import/${NAME}`,
  )
  assert.ok(file)
  assert.match(libvirtRules.undeletable(file)?.message ?? '', /stands on it/)
})

/** A volume as a plan that should not exist would let it go. */
function wrongly(name: string) {
  const externalId = `default:${name}`
  return removed({ connection: 'kvm', type: 'file', list: 'volumes/kvm/default', externalId, host: 'kvm' }, [])
}
