import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Change } from '../../../model/resource.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { proxmoxRules } from '../rules.ts'
import { EXAMPLE_UID, exampleObserved, exampleResource } from '../testing/vm-example.ts'
import { type Config, OPTION_ROWS, type Seen } from './testing/option-table.ts'

const BASE = Object.keys(createParams({}))

function createParams(declared: Partial<VmSpec>): Config {
  return proxmoxRules.createSteps(exampleResource(declared), '114')[0]?.call?.params ?? {}
}

function seen(changes: readonly Change[]): Seen[] {
  return changes.map(({ path, from, to, effect }) => [path, from, to, effect])
}

describe('options of a VM', () => {
  for (const row of OPTION_ROWS) {
    const resource = exampleResource(row.declared)
    it(`${row.what}: creates`, () => {
      const params = Object.entries(createParams(row.declared)).filter(
        ([key]) => !BASE.includes(key) || key in row.create,
      )
      assert.deepEqual(Object.fromEntries(params), row.create)
    })
    it(`${row.what}: no difference`, () => {
      for (const config of row.same)
        assert.deepEqual(proxmoxRules.diff(resource, exampleObserved(config)), [], JSON.stringify(config))
    })
    it(`${row.what}: differences and what is written`, () => {
      for (const { config, changes, update } of row.differs) {
        const observed = exampleObserved(config)
        const found = proxmoxRules.diff(resource, observed)
        assert.deepEqual(seen(found), changes, JSON.stringify(config))
        const call = proxmoxRules.updateSteps(resource, observed, found).find((step) => step.verb === 'configure')?.call
        const { digest, description: _, ...params } = call?.params ?? {}
        assert.deepEqual(params, update)
        if (call !== undefined) assert.equal(digest, 'd1')
      }
    })
  }

  it('what is written makes exactly the chosen change true', () => {
    for (const { declared, differs } of OPTION_ROWS) {
      for (const { config } of differs) {
        const resource = exampleResource(declared)
        const before = exampleObserved(config)
        const changes = proxmoxRules.diff(resource, before).filter((change) => change.effect !== 'replace')
        for (const chosen of changes) {
          const step = proxmoxRules.updateSteps(resource, before, [chosen]).find((one) => one.verb === 'configure')
          if (step?.call === undefined) continue
          const { digest: _, delete: dropped, ...params } = step.call.params
          const kept = Object.entries({ ...before.close?.config, ...params }).filter(([key]) => key !== dropped)
          // Proxmox names a new volume; all else is stored as sent.
          const after = exampleObserved(Object.fromEntries(kept.map(([key, value]) => [key, stored(value)])))
          const left = proxmoxRules.diff(resource, after).map((change) => change.path)
          assert.ok(!left.includes(chosen.path), `${chosen.path} of ${JSON.stringify(declared)}`)
        }
      }
    }
  })

  it('a stopped guest needs no restart', () => {
    const changes = proxmoxRules.diff(exampleResource({ cpu: { cores: 4 } }), exampleObserved({}, { power: 'stopped' }))
    assert.deepEqual(seen(changes), [['cpu.cores', 1, 4, 'live']])
  })

  it('a password is never shown', () => {
    const resource = exampleResource({ cloudInit: { storage: 'local', slot: 'ide2', password: { env: 'PW' } } })
    assert.equal(
      proxmoxRules.diff(resource, exampleObserved({ ide2: 'local:114/vm-114-cloudinit.qcow2,media=cdrom' }))[0]?.secret,
      true,
    )
  })

  it('a password goes by itself, before the first start: a creation keeps it in clear text on the host', () => {
    const cloudInit = { storage: 'local', slot: 'ide2', password: { env: 'PW' } } as const
    const steps = proxmoxRules.createSteps(exampleResource({ cloudInit, power: 'running' }), '114')
    assert.deepEqual(
      steps.map(({ verb, secretParams }) => [verb, secretParams]),
      [
        ['create', undefined],
        ['configure', ['cipassword']],
        ['start', undefined],
      ],
    )
    assert.equal(steps[0]?.call?.params.cipassword, undefined)
  })

  it('a disc drive that the host itself put at the end of the boot order is no reason for a restart', () => {
    const seen = exampleObserved({ ide2: 'local:iso/a.iso,media=cdrom', scsi1: 'local:114/vm-114-disk-1.raw,size=1G' })
    const waits = (before: string, now: string) => {
      const close = { ...seen.close, config: { ...seen.close?.config, boot: now }, pending: ['boot'] }
      const observed = { ...seen, close: { ...close, inForce: { boot: before } } } as typeof seen
      const found = proxmoxRules.diff(exampleResource({ bootOrder: now.slice('order='.length).split(';') }), observed)
      return found.some(({ path }) => path === 'restart')
    }
    assert.equal(waits('order=scsi0', 'order=scsi0;ide2'), false)
    assert.equal(waits('order=scsi0', 'order=scsi0;scsi1'), true)
    assert.equal(waits('order=scsi0', 'order=ide2;scsi0'), true)
    assert.equal(waits('order=scsi0;ide2', 'order=scsi0'), true)
  })

  it('what may be plugged under this guest decides what is live', () => {
    const card = (text: string) => ({ net0: `virtio=BC:24:11:00:00:01,${text}` })
    const mac = 'BC:24:11:00:00:01'
    const nic = { slot: 'net0', model: 'virtio', mac, bridge: 'vmbr1' } as const
    const table: readonly (readonly [Parameters<typeof exampleResource>[0], Record<string, string>, string])[] = [
      [{ usb: [{ slot: 'usb0', mapping: 'coral' }] }, { ostype: 'l26' }, 'usb.usb0 live'],
      [{ usb: [{ slot: 'usb0', mapping: 'coral' }] }, { ostype: 'win7' }, 'usb.usb0 restart'],
      [{ usb: [{ slot: 'usb0', mapping: 'coral' }] }, { ostype: 'l26', hotplug: 'disk' }, 'usb.usb0 restart'],
      [{ tablet: false }, {}, 'tablet live'],
      [{ tablet: false }, { hotplug: 'disk' }, 'tablet restart'],
      [{ nics: [nic] }, { ...card('bridge=vmbr0'), hotplug: '0' }, 'nics.net0.bridge live'],
      [{ nics: [{ ...nic, model: 'e1000' }] }, { ...card('bridge=vmbr1'), hotplug: '0' }, 'nics.net0.model restart'],
      [{ nics: [{ ...nic, model: 'e1000' }] }, card('bridge=vmbr1'), 'nics.net0.model live'],
      [{ hotplug: '0' }, { hotplug: 'network,cpu' }, 'hotplug restart'],
      [{ hotplug: '0' }, { hotplug: 'network' }, 'hotplug live'],
    ]
    for (const [declared, config, expected] of table) {
      const found = proxmoxRules.diff(exampleResource(declared), exampleObserved(config))
      assert.deepEqual(
        found.map(({ path, effect }) => `${path} ${effect}`),
        [expected],
        JSON.stringify([declared, config]),
      )
    }
  })

  it('a disk that the guest boots from goes with a restart, any other at once', () => {
    const disk = { scsi1: 'local:114/vm-114-disk-1.raw,size=1G' }
    const gone = (boot: string) => {
      const seen = exampleObserved({ ...disk, boot })
      const mark = { uid: EXAMPLE_UID, ...seen.mark, devices: ['scsi1'] }
      const found = proxmoxRules.diff(exampleResource({}), { ...seen, mark })
      return found.find(({ path }) => path === 'disks.scsi1')?.effect
    }
    assert.equal(gone('order=scsi0'), 'live')
    assert.equal(gone('order=scsi0;scsi1'), 'restart')
  })

  it('names, tags and descriptions', () => {
    const mark = `croft: owner=EnvironmentVM/web-1 estate=home deletion=Delete id=114 uid=${EXAMPLE_UID}`
    const params = createParams({ tags: ['Prod', 'k3s'], description: 'hello\n' })
    assert.equal(params.name, 'web-1')
    assert.equal(params.tags, `k3s;Prod;croft;croft-${EXAMPLE_UID}`)
    assert.equal(params.description, `hello\n${mark}`)
    const resource = exampleResource({ tags: ['k3s', 'PROD'], description: 'hello' })
    const good = { tags: `croft-${EXAMPLE_UID};prod;croft;k3s`, description: `hello\n${mark}` }
    assert.deepEqual(proxmoxRules.diff(resource, exampleObserved(good)), [])
    const observed = exampleObserved({
      name: 'old',
      tags: `croft;croft-${EXAMPLE_UID};x`,
      description: `mine\n${mark}\nmore`,
    })
    const changes = proxmoxRules.diff(resource, observed)
    assert.deepEqual(seen(changes), [
      ['name', 'old', 'web-1', 'live'],
      ['description', 'mine\nmore', 'hello', 'live'],
      ['tags', ['x'], ['k3s', 'prod'], 'live'],
    ])
    const only = (path: string) =>
      proxmoxRules.updateSteps(
        resource,
        observed,
        changes.filter((c) => c.path === path),
      )[0]?.call?.params
    assert.equal(only('tags')?.description, undefined)
    assert.equal(only('description')?.description, `hello\n${mark}`)
  })

  it('[F-12] a mark that lost its tags, or whose policy changed, is put right and people’s words stay', () => {
    const resource = exampleResource({}, { deletion: 'Orphan' })
    const config = {
      tags: 'prod',
      description: `mine\ncroft: owner=EnvironmentVM/web-1 estate=home deletion=Delete id=114 uid=${EXAMPLE_UID}`,
    }
    const observed = exampleObserved(config)
    const changes = proxmoxRules.diff(resource, observed)
    assert.deepEqual(
      changes.map((c) => c.path),
      ['mark'],
    )
    assert.deepEqual(proxmoxRules.updateSteps(resource, observed, changes)[0]?.call?.params, {
      description: `mine\ncroft: owner=EnvironmentVM/web-1 estate=home deletion=Orphan id=114 uid=${EXAMPLE_UID}`,
      tags: `prod;croft;croft-${EXAMPLE_UID}`,
      digest: 'd1',
    })
  })

  it('[D-01] that it is a server, or protected, is written into its mark, and is nobody’s drift', () => {
    const kept = exampleResource({}, { protect: true, serverOf: 'Cluster/home' })
    const description = `croft: owner=EnvironmentVM/web-1 estate=home deletion=Delete id=114 uid=${EXAMPLE_UID}`
    const tags = `croft;croft-${EXAMPLE_UID}`
    const [change, ...more] = proxmoxRules.diff(kept, exampleObserved({ tags, description }))
    assert.deepEqual([change?.path, change?.own, more], ['mark', true, []])
    assert.equal(
      change?.to,
      `croft: owner=EnvironmentVM/web-1 estate=home deletion=Delete protect=yes server=Cluster/home id=114 uid=${EXAMPLE_UID}`,
    )
    const [changed] = proxmoxRules.diff(
      kept,
      exampleObserved({ tags, description: description.replace('Delete', 'Orphan') }),
    )
    assert.deepEqual([changed?.path, changed?.own], ['mark', undefined], 'somebody wrote another policy')
  })

  it('a guest without our mark is not given one by an update', () => {
    const changes = proxmoxRules.diff(exampleResource(), exampleObserved({ tags: 'x', description: '' }))
    assert.deepEqual(changes, [])
  })
})

/** `local:32,…` becomes a volume of that size; `local:cloudinit` a drive. */
function stored(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (/^\w+:cloudinit$/.test(value)) return `${value.replace(':cloudinit', ':vm-114-cloudinit')},media=cdrom`
  const made = /^(\w+):(\d+)(,.*)?$/.exec(value)
  return made === null
    ? value
    : `${made[1]}:114/vm-114-disk-0${(made[3] ?? '').replace(/,import-from=[^,]*/, '').replace(',format=qcow2', '')},size=${made[2]}G`
}
