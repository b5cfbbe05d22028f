import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { printDescription } from '../src/drivers/proxmox/marks.ts'
import { settingRules } from '../src/drivers/proxmox/rest/setting-rules.ts'
import { exampleOf } from '../src/drivers/proxmox/rest/testing/samples.ts'
import { proxmoxRules } from '../src/drivers/proxmox/rules.ts'
import { EXAMPLE_UID, exampleObserved, exampleResource } from '../src/drivers/proxmox/testing/vm-example.ts'
import { removed } from '../src/model/destruction.ts'
import { toldStep } from '../src/model/shown-step.ts'
import type { RestCall, Step } from '../src/model/step.ts'
import { DEFINITIONS } from '../src/proxmox/registry.ts'
import { destructionIn } from './destroying-calls.ts'
import { stepsOfAllLanes } from './steps-of-all-lanes.ts'

/** Steps that destroy by their call and carry no destruction. */
function ungated(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => {
    const what = destructionIn(step)
    return what === undefined || step.destroys !== undefined ? [] : [`${step.summary}: ${what}`]
  })
}

const rest = (method: RestCall['method'], path: string, params: RestCall['params'] = {}): Step => ({
  verb: 'configure',
  summary: `${method} ${path}`,
  lane: 'rest',
  host: 'a',
  queues: [],
  call: { method, path, params },
  disruption: 'none',
})

const QEMU = '/nodes/a/qemu/100'
const CALLS: readonly [string, Step, boolean][] = [
  ['a guest', rest('DELETE', QEMU, { purge: '1' }), true],
  ['a right that is taken away', rest('DELETE', '/access/users/dave@pve'), true],
  ['a disk by a parameter', rest('PUT', `${QEMU}/config`, { delete: 'net1,scsi1' }), true],
  ['an unused disk by a parameter', rest('POST', `${QEMU}/config`, { delete: 'unused0' }), true],
  ['a mount of a container', rest('PUT', '/nodes/a/lxc/101/config', { delete: 'mp0' }), true],
  ['a card by a parameter', rest('PUT', `${QEMU}/config`, { delete: 'net1' }), false],
  ['the drive of the seed', rest('PUT', `${QEMU}/config`, { delete: 'ide2' }), false],
  ['a smaller disk', rest('PUT', `${QEMU}/resize`, { disk: 'scsi0', size: '-4G' }), true],
  ['a larger disk', rest('PUT', `${QEMU}/resize`, { disk: 'scsi0', size: '40G' }), false],
  ['a move that deletes its source', rest('POST', `${QEMU}/move_disk`, { disk: 'scsi0', delete: '1' }), false],
  ['a restore over a guest', rest('POST', '/nodes/a/qemu', { vmid: '100', archive: 'x', force: '1' }), true],
  ['a new guest', rest('POST', '/nodes/a/qemu', { vmid: '100' }), false],
  ['an image over another', rest('POST', '/nodes/a/storage/local/download-url', { overwrite: '1' }), true],
  ['an image', rest('POST', '/nodes/a/storage/local/download-url', { filename: 'x' }), false],
  ['a rollback', rest('POST', `${QEMU}/snapshot/x/rollback`), true],
  ['a pool on disks', rest('POST', '/nodes/a/disks/zfs', { devices: '/dev/sdb' }), true],
]

for (const [what, step, destroys] of CALLS)
  test(`the table ${destroys ? 'knows' : 'lets through'}: ${what}`, () => {
    assert.equal(destructionIn(step) !== undefined, destroys)
    assert.equal(ungated([step]).length, destroys ? 1 : 0)
  })

test('no step of any lane destroys without a destruction', () => {
  const { thing } = stepsOfAllLanes()
  for (const [driver, steps] of Object.entries(thing)) {
    assert.ok(
      steps.some((step) => destructionIn(step) !== undefined),
      `${driver} destroys nothing here`,
    )
    assert.deepEqual(ungated(steps), [], driver)
  }
})

test('no setting of Proxmox is deleted, emptied or made on disks without a destruction', () => {
  let destroying = 0
  for (const definition of DEFINITIONS) {
    const example = exampleOf(definition)
    const steps = [...settingRules.createSteps(example)]
    const { host = '', id } = example
    const close = { config: { ...example.fields, rules: [], entries: [] }, atMs: 0 }
    const list = settingRules.listOf(example)
    const seen = { connection: 'c', type: 'setting', list, externalId: id, host, close } as const
    steps.push(...settingRules.deleteSteps(removed(seen, [])))
    assert.deepEqual(ungated(steps), [], definition.name)
    destroying += steps.filter((step) => destructionIn(step) !== undefined).length
  }
  assert.ok(destroying > 20, `${destroying}`)
})

test('only planners say why a thing goes, and only one module makes a destruction', () => {
  const root = path.join(import.meta.dirname, '..')
  const product = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.test\.ts$|\/testing\//.test(file))
  const makers = product.filter((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const [, names = ''] = /import \{([^}]*)\} from '[./]*\/?(?:model\/)?destruction\.ts'/.exec(text) ?? []
    return /\b(?:removed|ordered|ownAttempt)\b/.test(names) || /as (?:unknown as )?(?:Loss|Destruction)\b/.test(text)
  })
  assert.deepEqual(makers.sort(), [
    'src/model/destruction.ts',
    'src/plan/things/decide.ts',
    'src/plan/things/identify.ts',
    'src/plan/things/remains.ts',
    'src/plan/things/removals.ts',
  ])
})

test('plan, events and page tell the disks that go with a machine, also those that were taken out of it', () => {
  const [first, data, out] = [0, 1, 2].map((at) => `local:114/vm-114-disk-${at}.raw,size=8G`)
  const observed = exampleObserved({ boot: 'order=scsi0', scsi0: first, scsi1: data, unused0: out })
  const steps = proxmoxRules.deleteSteps(removed(observed, proxmoxRules.dataDisks(observed)))
  assert.deepEqual(steps.map(toldStep), [
    `shut down VM 114 on ${observed.host}`,
    `delete VM 114 on ${observed.host} with its disks (takes scsi1, unused0)`,
  ])
})

test('a disk that leaves the declaration is taken out by a step that names it', () => {
  const mark = { uid: EXAMPLE_UID, owner: 'EnvironmentVM/web-1', estate: 'home', deletion: 'Delete' as const }
  const description = printDescription('', { ...mark, devices: ['net1', 'scsi1'] }, '114')
  const config = { scsi1: 'local:114/vm-114-disk-1.raw,size=8G', net1: 'virtio=BC:24:11:00:00:01,bridge=vmbr0' }
  const observed = exampleObserved({ description, ...config })
  const changes = proxmoxRules.diff(exampleResource(), observed)
  assert.deepEqual(
    proxmoxRules.updateSteps(exampleResource(), observed, changes).map(({ destroys }) => destroys),
    [{ thing: `vm 114 on ${observed.host}`, takes: ['scsi1'], because: 'changed' }],
  )
})
