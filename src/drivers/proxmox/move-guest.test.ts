import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { VmSpec } from '../../model/vm.ts'
import { possible } from './lxc/diff.ts'
import { hostChange, type Moving, moveGuestSteps } from './move-guest.ts'
import { updateVmSteps } from './vm/plan-steps.ts'

const seen = (
  power: 'running' | 'stopped' | 'paused',
  config: Readonly<Record<string, unknown>> = {},
): ObservedResource => ({
  connection: 'pve',
  type: 'vm',
  externalId: '100',
  host: 'alpha',
  power,
  close: { config, power, digest: 'd', atMs: 0 },
})
const MOVING: Moving = { type: 'vm', host: 'beta', moveHere: { why: 'declared' }, volumes: [] }
const blocked = { message: 'no', allow: 'yes' }

const CASES: readonly [string, Partial<Moving>, ObservedResource, string | undefined][] = [
  ['a running machine moves as it runs', {}, seen('running'), 'live'],
  ['one with hardware of its host is stopped for it', {}, seen('running', { hostpci0: '01:00' }), 'restart'],
  ['one that is off is not', {}, seen('stopped', { hostpci0: '01:00' }), 'live'],
  ['a container is always stopped for it', { type: 'container' }, seen('running'), 'restart'],
  ['it is there already', { host: 'alpha' }, seen('running'), undefined],
]
for (const [name, more, observed, effect] of CASES)
  test(`a declared host is a move: ${name}`, () => {
    assert.equal(hostChange({ ...MOVING, ...more }, observed)?.effect, effect)
  })

test('where nobody says that it may move it stays, and what stands against a move is said', () => {
  const { moveHere: _, ...stays } = MOVING
  assert.equal(hostChange(stays, seen('running')), undefined)
  const change = hostChange({ ...MOVING, moveHere: { why: 'declared', blocked } }, seen('running'))
  assert.deepEqual([change?.from, change?.to, change?.blocked], ['alpha', 'beta', blocked])
  assert.deepEqual(
    moveGuestSteps(MOVING, seen('running')).map(({ verb }) => verb),
    ['move'],
  )
  assert.deepEqual(
    moveGuestSteps(MOVING, seen('running', { usb0: 'host=1-1' })).map(({ verb }) => verb),
    ['shutdown', 'move', 'start'],
  )
  assert.deepEqual(
    moveGuestSteps(MOVING, seen('paused', { usb0: 'host=1-1' })).map(({ call }) => call?.path.split('/').at(-1)),
    ['resume', 'shutdown', 'migrate', 'start'],
  )
})

test('every drive that is declared elsewhere is moved by a call of its own, the firmware’s and the TPM’s too', () => {
  const vm = {
    host: 'alpha',
    name: 'web',
    nics: [],
    disks: [{ slot: 'scsi0', storage: 'fast', sizeGb: 8 }],
    efiDisk: { storage: 'fast' },
    tpm: { storage: 'fast' },
  } as unknown as VmSpec
  const moved = (spec: VmSpec, ...paths: string[]) =>
    updateVmSteps(
      { key: 'EnvironmentVM/web', uid: 'u', policy: {} } as Resource,
      spec,
      seen('stopped'),
      paths.map((path) => ({ path, from: 'slow', to: 'fast', effect: 'live' })),
    ).map(({ verb, call }) => `${verb} ${String(call?.params.disk)} ${String(call?.params.digest ?? '-')}`)
  assert.deepEqual(moved(vm, 'disks.scsi0.storage', 'efiDisk.storage', 'tpm.storage'), [
    'move scsi0 d',
    'move efidisk0 -',
    'move tpmstate0 -',
  ])
  assert.deepEqual(moved(vm, 'efiDisk.format'), ['move efidisk0 d'])
  assert.deepEqual(moved({ ...vm, disks: [] } as VmSpec, 'disks.scsi0.storage'), [])
  const { efiDisk: _, tpm: __, ...bare } = vm
  assert.deepEqual(moved(bare, 'efiDisk.storage', 'tpm.storage'), [])
})

test('what only root may change in a container depends on what the container is, and before it is made on what is declared', () => {
  const nesting = { path: 'features.fuse', from: false, to: true, effect: 'restart' } as const
  const stopped = (unprivileged: boolean | undefined, config: Readonly<Record<string, unknown>>) =>
    possible({ unprivileged, features: { fuse: true } } as never, nesting, config, false).blocked !== undefined
  const free = (unprivileged: boolean | undefined, config: Readonly<Record<string, unknown>>) =>
    possible(
      { unprivileged, features: { nesting: true } } as never,
      { ...nesting, path: 'features.nesting' },
      config,
      false,
    ).blocked === undefined
  assert.equal(stopped(true, { rootfs: 'local:8', unprivileged: 1 }), true, 'a token never sets it')
  assert.equal(free(true, { rootfs: 'local:8', unprivileged: 1 }), true)
  assert.equal(free(true, { rootfs: 'local:8' }), false, 'it is privileged, whatever is declared')
  assert.equal(free(false, { rootfs: 'local:8', unprivileged: 1 }), true, 'it is not, whatever is declared')
  assert.equal(free(false, {}), false)
  assert.equal(free(true, {}), true)
  assert.equal(free(undefined, {}), true)
})
