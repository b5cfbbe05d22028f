import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shellWord } from '../../../lib/shell-quoted.ts'
import { DEFINITIONS } from '../../../proxmox/registry.ts'
import { exampleResource } from '../testing/vm-example.ts'
import { principalOf, repairCommands, setUpCommands } from './commands.ts'
import { grantsOf, rolesOf } from './grants.ts'
import { heldAt, missingOf, readHeld, surplusOf } from './held.ts'
import { judgeRights } from './judge-rights.ts'
import { distinct, type Need, way } from './need.ts'
import { needsOf, needsOfContainerOption } from './needs.ts'
import { needsOfOption } from './option-privileges.ts'

const need = (...ways: string[]): Need => ({ ways: ways.map(way), why: 'do it', without: 'refused' })
const grants = (table: Readonly<Record<string, string>>) =>
  new Map(Object.entries(table).map(([path, names]) => [path, new Set(names.split(' '))]))
const shown = (map: ReadonlyMap<string, ReadonlySet<string>>) =>
  Object.fromEntries([...map].map(([path, names]) => [path, [...names].sort().join(' ')]))
const plain = () => 'localnetwork'

describe('which privilege lets an option be written', () => {
  const cases: readonly [string, string, string, string][] = [
    ['cores', '2', 'VM.Config.CPU', ''],
    ['numa0', 'cpus=0', 'VM.Config.CPU', ''],
    ['balloon', '0', 'VM.Config.Memory', ''],
    ['bios', 'ovmf', 'VM.Config.Options', ''],
    ['keyboard', 'de', 'VM.Config.Options', ''],
    ['boot', 'order=scsi0', 'VM.Config.Disk', ''],
    ['machine', 'q35', 'VM.Config.HWType', ''],
    ['hotplug', 'disk', 'VM.Config.HWType', ''],
    ['serial0', 'socket', 'VM.Config.HWType', ''],
    ['startup', 'order=1', 'VM.Config.Options', '/ Sys.Modify'],
    ['ciuser', 'u', 'VM.Config.Cloudinit|VM.Config.Network', ''],
    [
      'cicustom',
      'user=nas:snippets/u.yaml',
      'VM.Config.Cloudinit|VM.Config.Network',
      '/storage/nas Datastore.Audit|/storage/nas Datastore.AllocateSpace',
    ],
    ['scsi0', 'fast:20', 'VM.Config.Disk', '/storage/fast Datastore.AllocateSpace'],
    [
      'scsi0',
      'fast:0,import-from=local:import/a.qcow2',
      'VM.Config.Disk',
      '/storage/fast Datastore.AllocateSpace + /storage/local Datastore.Audit|/storage/local Datastore.AllocateSpace',
    ],
    [
      'scsi1',
      'fast:0,import-from=fast:base-9000-disk-0',
      'VM.Config.Disk',
      '/storage/fast Datastore.AllocateSpace + /vms/9000 VM.Clone',
    ],
    ['scsi0', 'fast:vm-1-disk-0,iothread=1', 'VM.Config.Disk', ''],
    ['efidisk0', 'fast:1,efitype=4m', 'VM.Config.Disk', '/storage/fast Datastore.AllocateSpace'],
    ['ide2', 'fast:cloudinit', 'VM.Config.Cloudinit + VM.Config.CDROM', '/storage/fast Datastore.AllocateSpace'],
    [
      'ide0',
      'local:iso/x.iso,media=cdrom',
      'VM.Config.CDROM',
      '/storage/local Datastore.Audit|/storage/local Datastore.AllocateSpace',
    ],
    ['net0', 'virtio,bridge=vmbr0', 'VM.Config.Network', '/sdn/zones/localnetwork/vmbr0 SDN.Use'],
    [
      'net0',
      'virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=30',
      'VM.Config.Network',
      '/sdn/zones/localnetwork/vmbr0/30 SDN.Use',
    ],
    ['net1', 'virtio,bridge=vmbr0,trunks=10;20', 'VM.Config.Network', '/sdn/zones/localnetwork/vmbr0 SDN.Use'],
    ['hostpci0', 'mapping=gpu,pcie=1', 'VM.Config.HWType', '/mapping/pci/gpu Mapping.Use'],
    ['usb0', 'mapping=key', 'VM.Config.HWType', '/mapping/usb/key Mapping.Use'],
    ['args', '-cpu host', 'root', ''],
    ['hostpci0', '0000:01:00.0', 'root', ''],
    ['usb0', 'host=1234:abcd', 'root', ''],
    ['serial0', '/dev/ttyS0', 'root', ''],
    ['some-new-option', '1', 'root', ''],
  ]
  for (const [name, value, guest, elsewhere] of cases) {
    test(`${name}: ${value}`, () => {
      const found = needsOfOption(name, value, plain)
      const text = (needs: readonly (readonly string[])[]) => needs.map((ways) => ways.join('|')).join(' + ')
      assert.equal(found.rootOnly ? 'root' : text(found.guest), guest)
      assert.equal(text(found.elsewhere), elsewhere)
    })
  }

  test('a network of an SDN zone is asked for in its zone', () => {
    const found = needsOfOption('net0', 'virtio,bridge=blue', () => 'lan')
    assert.deepEqual(found.elsewhere, [['/sdn/zones/lan/blue SDN.Use']])
  })
})

describe('what declarations need', () => {
  const connection = { ids: { from: 300, to: 399 } }
  const of = (...args: Parameters<typeof exampleResource>) => needsOf([exampleResource(...args)], { connection })

  test('a guest in a pool is given on the pool, and seen everywhere; its tags are set before it is in the pool', () => {
    const table = shown(grantsOf(of({ pool: 'k3s', power: 'running' }).needs))
    assert.equal(table['/vms'], 'VM.Audit VM.Config.Options')
    assert.match(table['/pool/k3s'] ?? '', /Pool\.Audit VM\.Allocate .*VM\.PowerMgmt/)
  })
  test('what is only observed is only looked at', () => {
    const resource = exampleResource({ power: 'running' })
    const observed = { ...resource, policy: { ...resource.policy, manage: 'observe' as const } }
    assert.deepEqual(shown(grantsOf(needsOf([observed], { connection }).needs))['/vms'], 'VM.Audit')
  })
  test('Proxmox VE 8 has one privilege for the agent', () => {
    const wanted = { agent: { enabled: true } }
    const on = (major: number) =>
      shown(grantsOf(needsOf([exampleResource(wanted)], { connection, major }).needs))['/vms'] ?? ''
    assert.match(on(9), /VM\.GuestAgent\.Audit/)
    assert.match(on(8), /VM\.Monitor/)
    assert.doesNotMatch(on(8), /GuestAgent/)
  })
  test('a start order needs Sys.Modify on / and nowhere below', () => {
    const found = grantsOf(of({ startup: { order: 1 } }).needs)
    assert.equal(shown(found)['/'], 'Sys.Modify')
    const commands = setUpCommands(found, { user: 'u@pve', token: 't' }, 'croft', 1)
    assert.ok(commands.some((line) => /acl modify \/ .*--propagate 0/.test(line)))
    assert.ok([...found].every(([path, names]) => path === '/' || !names.has('Sys.Modify')))
  })
  test('what only root may do is told, and given to nobody', () => {
    const { needs } = of({ serial: [{ slot: 'serial0', device: '/dev/ttyS0' }] })
    assert.ok(needs.some(({ ways, why }) => ways.length === 0 && why.includes('serial0')))
  })
  test('nothing declared needs nothing', () => assert.deepEqual(needsOf([], { connection }).needs, []))
})

describe('from needs to an access list', () => {
  test('any way that is there already will do', () => {
    const found = grantsOf([
      need('/storage/a Datastore.Audit', '/storage/a Datastore.AllocateSpace'),
      need('/storage/a Datastore.AllocateSpace'),
    ])
    assert.deepEqual(shown(found), { '/storage/a': 'Datastore.AllocateSpace' })
  })
  test('what is set deeper takes the place of what is above, so it holds that too', () => {
    const found = grantsOf([need('/nodes Sys.Audit'), need('/nodes/a Sys.AccessNetwork'), need('/ Sys.Modify')])
    assert.deepEqual(shown(found), {
      '/nodes': 'Sys.Audit',
      '/nodes/a': 'Sys.AccessNetwork Sys.Audit',
      '/': 'Sys.Modify',
    })
  })
  test('equal sets are one role; names are not used twice', () => {
    const roles = rolesOf(grants({ '/storage/a': 'X', '/storage/b': 'X', '/storage/c': 'Y' }), 'croft')
    assert.deepEqual(
      roles.map(({ id, paths }) => [id, paths]),
      [
        ['croft-storage', ['/storage/a', '/storage/b']],
        ['croft-storage-2', ['/storage/c']],
      ],
    )
  })
  test('a role that exists is added to, another one is made', () => {
    const table = grants({ '/vms': 'VM.Audit', '/storage/a': 'Datastore.Audit' })
    const who = { user: 'u@pve', token: 't' }
    assert.deepEqual(repairCommands(['/vms'], table, who, 'croft', new Set(['croft-vms'])), [
      'pveum role modify croft-vms --privs VM.Audit --append 1',
      "pveum acl modify /vms --users u@pve --tokens 'u@pve!t' --roles croft-vms",
    ])
    assert.match(repairCommands(['/vms'], table, who, 'croft', new Set())[0] ?? '', /^pveum role add croft-vms /)
  })
  test('the same need of many is one, and the stronger one stays', () => {
    const blind: Need = { ...need('/a X'), without: 'blind' }
    assert.deepEqual(distinct([blind, need('/a X'), need('/a X')]), [need('/a X')])
  })
})

describe('what is held', () => {
  const held = readHeld(
    { '/': { 'Sys.Audit': 0, 'VM.Audit': 1 }, '/vms/100': { 'VM.Console': 0 }, bad: 7 },
    'no record',
  )
  const cases: readonly [string, string][] = [
    ['/', 'Sys.Audit VM.Audit'],
    ['/vms', 'VM.Audit'],
    ['/vms/100', 'VM.Console'],
    ['/storage/x', 'VM.Audit'],
  ]
  for (const [path, expected] of cases)
    test(path, () => assert.equal([...heldAt(held, path).keys()].sort().join(' '), expected))
  test('with nothing above there is nothing', () => assert.equal(heldAt(new Map(), '/vms/1').size, 0))
})

describe('[R47] exactly what is missing and what is too much', () => {
  const needs = [need('/vms/114 VM.Allocate'), need('/nodes/a Sys.AccessNetwork', '/ Sys.Audit+Sys.Modify')]
  test('either way is enough, half of one is not', () => {
    const lacks = (table: unknown) =>
      missingOf(needs, readHeld(table)).map(({ way: { path }, privileges }) => `${path} ${privileges.join()}`)
    assert.deepEqual(lacks({ '/': { 'Sys.Audit': 1, 'Sys.Modify': 0, 'VM.Allocate': 1 } }), [])
    assert.deepEqual(lacks({ '/': { 'Sys.Audit': 1 }, '/vms': { 'VM.Allocate': 1 } }), ['/nodes/a Sys.AccessNetwork'])
    assert.deepEqual(lacks({ '/vms': { 'VM.Allocate': 0 }, '/nodes/a': { 'Sys.AccessNetwork': 1 } }), [
      '/vms/114 VM.Allocate',
    ])
  })
  test('what must hold below is not held by a right that stays where it is', () => {
    const below: Need = { ways: [{ path: '/vms', privileges: ['VM.Audit'], below: true }], why: '', without: 'refused' }
    assert.equal(missingOf([below], readHeld({ '/vms': { 'VM.Audit': 0 } })).length, 1)
    assert.equal(missingOf([below], readHeld({ '/vms': { 'VM.Audit': 1 } })).length, 0)
  })
  test('surplus is told once, at the top, and only where the privilege means something', () => {
    const table = grants({ '/vms': 'VM.Audit', '/storage/a': 'Datastore.AllocateSpace' })
    const all = { 'VM.Audit': 1, 'VM.Console': 1, 'Datastore.AllocateSpace': 1 }
    const held = readHeld({
      '/': all,
      '/vms': all,
      '/storage': all,
      '/storage/a': { ...all, 'Datastore.Allocate': 1 },
      '/access': all,
    })
    assert.deepEqual(surplusOf(table, held), [
      { path: '/', privileges: ['VM.Console'] },
      { path: '/storage/a', privileges: ['Datastore.Allocate'] },
    ])
  })
  test('a guest has the rights of its pool, and they are not too much', () => {
    const table = grants({ '/vms': 'VM.Audit', '/pool/k3s': 'VM.Allocate' })
    assert.deepEqual(surplusOf(table, readHeld({ '/vms/100': { 'VM.Allocate': 0, 'VM.Audit': 0 } })), [])
  })
})

describe('[S-30] a token that may do too much', () => {
  const wanted = { needs: [need('/vms/114 VM.Allocate')], unknown: [] }
  const admin = Object.fromEntries(
    ['Permissions.Modify', 'Sys.Modify', 'Sys.PowerMgmt', 'User.Modify', 'VM.Allocate'].map((name) => [name, 1]),
  )
  const judge = (user: string, table: unknown, facts = {}) =>
    judgeRights({
      wanted,
      held: readHeld(table),
      who: { user, token: 't' },
      facts,
      roles: new Set(),
      prefix: 'croft',
    }).filter(({ level }) => level !== 'ok')
  const cases: readonly [string, ReturnType<typeof judge>, RegExp][] = [
    ['root', judge('root@pam', { '/': admin }), /token of root@pam; it administers everything/],
    ['Administrator', judge('a@pve', { '/': admin }), /administers everything/],
    ['privsep 0', judge('a@pve', { '/vms': { 'VM.Allocate': 1 } }, { privsep: false }), /privsep 0/],
    ['a little', judge('a@pve', { '/vms': { 'VM.Allocate': 1, 'VM.Console': 1 } }), /1 privilege too many/],
  ]
  for (const [what, checks, expected] of cases) {
    test(what, () => {
      assert.equal(checks.length, 1)
      assert.equal(checks[0]?.level, 'warning')
      assert.match(checks[0]?.found ?? '', expected)
    })
  }
  test('the surplus is listed', () =>
    assert.match(
      cases[1]?.[1][0]?.details?.join() ?? '',
      /on \/: Permissions\.Modify, Sys\.Modify, Sys\.PowerMgmt, User\.Modify$/,
    ))
  test('just enough is not spoken of', () => assert.deepEqual(judge('a@pve', { '/vms': { 'VM.Allocate': 1 } }), []))
})

describe('what is missing is told by path, with the commands', () => {
  const wanted = {
    needs: [
      need('/vms/114 VM.Allocate'),
      need('/vms/115 VM.Allocate'),
      { ...need('/nodes/a Sys.Audit'), without: 'blind' as const },
      { ...need(), why: 'set args' },
    ],
    unknown: ['PUT /new'],
  }
  const checks = judgeRights({
    wanted,
    held: new Map(),
    who: { user: 'a@pve', token: 't' },
    facts: {},
    roles: new Set(),
    prefix: 'croft',
  })
  test('levels and codes', () =>
    assert.deepEqual(
      checks.map(({ level, code, found }) => `${level} ${code} ${found}`),
      [
        'wrong privileges-missing on /vms the token lacks VM.Allocate',
        'warning privileges-missing on /nodes/a the token lacks Sys.Audit',
        'warning root-only only root@pam may set args, and no token: Proxmox will refuse it',
        'warning privileges-unknown croft does not know which privileges 1 call need',
      ],
    ))
  test('the fix is exact', () =>
    assert.deepEqual(checks[0]?.fix, [
      'pveum role add croft-vms --privs VM.Allocate',
      "pveum acl modify /vms --users a@pve --tokens 'a@pve!t' --roles croft-vms",
    ]))
})

describe('names', () => {
  test('a token id is taken apart', () => {
    assert.deepEqual(principalOf('root@pam!croft'), { user: 'root@pam', token: 'croft' })
    for (const bad of ['', 'root@pam', 'root!x', 'root@pam!', 'a b@pam!c'])
      assert.equal(principalOf(bad), undefined, bad)
  })
  test('[S-01] what a shell would read is quoted', () => {
    assert.equal(shellWord('/vms'), '/vms')
    assert.equal(shellWord("a'b;reboot"), `'a'\\''b;reboot'`)
    assert.equal(shellWord(''), "''")
  })
})

describe('which privilege lets an option of a container be written', () => {
  const cases: readonly [string, string, string][] = [
    ['cores', '2', 'VM.Config.CPU'],
    ['swap', '0', 'VM.Config.Memory'],
    ['hostname', 'ct', 'VM.Config.Network'],
    ['onboot', '1', 'VM.Config.Options'],
    ['startup', 'order=1', 'VM.Config.Options'],
    ['rootfs', 'fast:8', 'VM.Config.Disk, /storage/fast Datastore.AllocateSpace'],
    ['mp0', 'fast:subvol-1-disk-0,mp=/x', 'VM.Config.Disk'],
    ['mp0', '/srv,mp=/x', 'root'],
    ['net0', 'name=eth0,bridge=vmbr0,tag=7', 'VM.Config.Network, /sdn/zones/localnetwork/vmbr0/7 SDN.Use'],
    ['features', 'nesting=1', 'VM.Allocate'],
    ['features', 'nesting=1,keyctl=1', 'root'],
    ['dev0', '/dev/dri', 'root'],
    ['unprivileged', '1', ''],
    ['unprivileged', '0', '/ Sys.Modify'],
    ['ostemplate', 'local:vztmpl/d.tar.zst', '/storage/local Datastore.Audit|/storage/local Datastore.AllocateSpace'],
    ['password', 'x', ''],
  ]
  for (const [name, value, expected] of cases) {
    test(`${name}: ${value}`, () => {
      const found = needsOfContainerOption(name, value, plain)
      const all = [...found.guest, ...found.elsewhere].map((ways) => ways.join('|')).join(', ')
      assert.equal(found.rootOnly ? 'root' : all, expected)
    })
  }
})

describe('of every setting that can be declared it is known what it needs', () => {
  for (const definition of DEFINITIONS)
    test(definition.name, () => {
      const setting = {
        definition: definition.name,
        id: definition.name === 'replication' ? '100-0' : 'x1',
        host: 'pve1',
        scope: { vmid: '100', user: 'ann@pve', vnet: 'blue' },
        fields: definition.example,
      }
      const resource = { ...exampleResource(), desired: { type: 'setting' as const, setting } }
      const { unknown, needs } = needsOf([resource], { connection: { ids: { from: 300, to: 399 } } })
      assert.deepEqual(unknown, [], definition.name)
      assert.ok(needs.length > 0, definition.name)
    })
})
