import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesOf, IMAGE, type Wanted } from '../../../test/simulation/manifests.ts'
import { findKind } from '../../kinds/registry.ts'
import { secretsOfCluster } from '../../model/desired-secrets.ts'
import type { Estate } from '../../model/estate.ts'
import type { Grant } from '../../model/grant.ts'
import { guestIn } from '../../model/resource.ts'
import { link } from '../../plan/link.ts'
import { openVault } from '../../source/secrets/secret-vault.ts'
import { SopsFailed } from '../../source/secrets/sops.ts'
import { ROOT, readTexts } from '../../source/testing/fixture.ts'
import { readConfig } from '../config.ts'
import { inMemory, startHarness } from '../testing/harness.ts'
import { grantOf } from './grant-schema.ts'
import { type InForce, mergeRevisions } from './merge.ts'
import { openSources } from './open-sources.ts'

const ADMIN: Readonly<Record<string, string>> = {
  ...filesOf([
    { name: 'db', host: 'still-fawn', vmid: 200 },
    { name: 'app', host: 'fun-bedbug' },
  ]),
}

const grantFor = (more: Readonly<Record<string, unknown>> = {}): Grant => {
  const { sources } = readConfig(
    {
      sources: [
        {
          name: 'lab',
          directory: '/x',
          grant: {
            kinds: ['EnvironmentVM', 'EnvironmentContainer', 'Machine', 'Cluster', 'Addon'],
            connections: ['default'],
            hosts: ['fun-bedbug'],
            storages: ['local'],
            networks: ['vmbr0', 'vmbr1.30'],
            templates: [`local:import/${IMAGE}`, '9000', 'local:vztmpl/*'],
            vmids: { from: 500, to: 519 },
            ...more,
          },
        },
      ],
    },
    {},
    {},
  )
  const given = sources[0]?.grant
  assert.ok(given !== undefined)
  return grantOf('lab', given)
}

const vm = (fields: string, name = 'lab-web') => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    name: ${name}
    ${fields.replaceAll('\n', '\n    ')}
`
const container = (fields: string) => `apiVersion: virtualenvironmentcontainer.crossplane.io/v1alpha1
kind: EnvironmentContainer
metadata: {name: lab-box}
spec:
  forProvider:
    nodeName: fun-bedbug
    operatingSystem: [{templateFileId: "local:vztmpl/debian.tar.zst"}]
    ${fields.replaceAll('\n', '\n    ')}
`

const parts = (files: Readonly<Record<string, string>>, grant: Grant | undefined, admin = ADMIN): InForce[] => [
  { source: 'lab', revision: reading(files), ...(grant === undefined ? {} : { grant }) },
  { source: 'admin', revision: reading(admin) },
]
const reading = (files: Readonly<Record<string, string>>) => ({
  ...readTexts(files),
  read: async (file: string) => files[file],
})

function estateOf(files: Readonly<Record<string, string>>, grant?: Grant, admin = ADMIN): Estate {
  const revision = mergeRevisions(parts(files, grant, admin))
  return link(revision, { findKind, problemAt: revision.problemAt })
}

const errors = ({ problems }: Estate) =>
  problems
    .filter(({ severity }) => severity === 'error')
    .map(
      ({ code, origin, message, hint }) =>
        `${code} ${origin.file}:${origin.line}:${origin.column} ${message} (${hint})`,
    )

const GOOD = 'nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr0}]'

test('[S-06] what is within its grant is taken, and chosen ids are of its range', () => {
  for (const text of [
    vm(GOOD),
    vm(`${GOOD}\nvmId: 519`),
    vm('nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr1, vlanId: 30}]'),
    vm(
      `nodeName: fun-bedbug\ndisk: [{interface: scsi0, datastoreId: local, size: 9, importFrom: "local:import/${IMAGE}"}]`,
    ),
    vm('nodeName: fun-bedbug\nclone: [{vmId: 9000}]'),
    container('unprivileged: true\ndisk: [{datastoreId: local, size: 4}]'),
  ]) {
    const estate = estateOf({ 'a.yaml': text }, grantFor())
    assert.deepEqual(errors(estate), [], text)
    const own = estate.resources.find(({ bounds }) => bounds !== undefined)
    assert.deepEqual(own?.bounds, { source: 'lab', names: ['lab-*'], ids: { from: 500, to: 519 } })
  }
})

test('[S-06] an object that names what is outside its grant is refused at the very field, with what is granted', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'host',
      vm('nodeName: still-fawn'),
      /lab:a.yaml:7:15 the host still-fawn is not granted .* \(granted: fun-bedbug\)/,
    ],
    ['id', vm('nodeName: fun-bedbug\nvmId: 200'), /:8:11 the id 200 is not granted .* \(granted: 500 to 519\)/],
    ['the id just above', vm('nodeName: fun-bedbug\nvmId: 520'), /the id 520 is not granted/],
    ['pool', vm('nodeName: fun-bedbug\npoolId: prod'), /:8:13 the pool prod is not granted .*none/],
    [
      'storage',
      vm('nodeName: fun-bedbug\ndisk: [{interface: scsi0, datastoreId: tank, size: 9}]'),
      /:8:44 the storage tank is not granted .* \(granted: local\)/,
    ],
    [
      'storage of the seed',
      vm('nodeName: fun-bedbug\ninitialization: [{datastoreId: tank, userAccount: [{username: u}]}]'),
      /the storage tank/,
    ],
    ['EFI disk', vm('nodeName: fun-bedbug\nefiDisk: [{datastoreId: tank}]'), /the storage tank/],
    ['network', vm('nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr9}]'), /:8:30 the network vmbr9 is not granted/],
    ['VLAN', vm('nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr0, vlanId: 30}]'), /the network vmbr0.30/],
    ['untagged', vm('nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr1}]'), /the network vmbr1 is not granted/],
    ['trunk', vm('nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr1, vlanId: 30, trunks: "30;31"}]'), /vmbr1.31/],
    [
      'trunk without a VLAN',
      vm('nodeName: fun-bedbug\nnetworkDevice: [{bridge: vmbr1, trunks: "30"}]'),
      /network vmbr1 /,
    ],
    ...['userData', 'networkData', 'metaData', 'vendorData'].map(
      (field) =>
        [
          `${field} of another`,
          vm(`${GOOD}\ninitialization: [{datastoreId: local, ${field}FileId: "local:snippets/boss.yaml"}]`),
          /:9:\d+ the template local:snippets\/boss.yaml is not granted/,
        ] as const,
    ),
    ['template', vm('nodeName: fun-bedbug\nclone: [{vmId: 200}]'), /the template 200 is not granted/],
    [
      "another guest's disk",
      vm(
        'nodeName: fun-bedbug\ndisk: [{interface: scsi0, datastoreId: local, size: 9, importFrom: "local:vm-200-disk-0"}]',
      ),
      /the template local:vm-200-disk-0 is not granted/,
    ],
    [
      'disc',
      vm('nodeName: fun-bedbug\ncdrom: [{fileId: "local:iso/secret.iso"}]'),
      /the template local:iso\/secret.iso/,
    ],
    ['name', vm(GOOD, 'db-2'), /lab:a.yaml:3:18 the name db-2 is not granted .* \(granted: lab-\*\)/],
    ['PCI', vm(`${GOOD}\nhostpci: [{device: hostpci0, id: "0000:01:00.0"}]`), /a PCI device reaches into the host/],
    ['USB', vm(`${GOOD}\nusb: [{host: "1234:5678"}]`), /a USB device reaches into the host/],
    ['hook script', vm(`${GOOD}\nhookScriptFileId: "local:snippets/x.sh"`), /a hook script reaches into the host/],
    ['privileged', container('disk: [{datastoreId: local, size: 4}]'), /a privileged container reaches into the host/],
    [
      'a path of the host',
      container('unprivileged: true\nmountPoint: [{path: /mnt, volume: /etc}]'),
      /what it mounts reaches into the host/,
    ],
    [
      'taking over',
      vm(GOOD).replace('{name: lab-web}', '{name: lab-web, annotations: {crossplane.io/external-name: "200"}}'),
      /may not take over 200/,
    ],
    [
      'a kind that reaches others',
      'apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: lab-x}\nspec: {node: still-fawn}\n',
      /lab:a.yaml:2:7 Host is not granted/,
    ],
    [
      'an approval',
      'apiVersion: croft.dev/v1alpha1\nkind: Approval\nmetadata: {name: lab-x}\nspec: {deletes: [EnvironmentVM/db], reason: x, expires: "2099-01-01T00:00:00Z"}\n',
      /Approval is not granted/,
    ],
  ]
  for (const [what, text, expected] of cases) {
    const free = estateOf({ 'a.yaml': text })
    assert.ok(!errors(free).some((line) => line.includes('outside-grant')), `${what}: without a grant all is as before`)
    const estate = estateOf({ 'a.yaml': text }, grantFor())
    assert.match(errors(estate).join('\n'), expected, what)
    assert.ok(
      errors(estate).every((line) => line.startsWith('outside-grant lab:a.yaml:')),
      what,
    )
    assert.deepEqual(
      estate.resources.filter(({ origin }) => origin.file.startsWith('lab:')),
      [],
      `${what}: nothing of it is followed`,
    )
    assert.ok(
      estate.resources.some(({ key }) => key === 'EnvironmentVM/db'),
      `${what}: nobody else is touched`,
    )
    assert.equal(estate.approvals.length, 0)
  }
})

test('[S-06] where pools divide people, a guest in none is in nobody’s', () => {
  const grant = grantFor({ pools: ['lab'] })
  assert.deepEqual(errors(estateOf({ 'a.yaml': vm(`${GOOD}\npoolId: lab`) }, grant)), [])
  assert.match(
    errors(estateOf({ 'a.yaml': vm(GOOD) }, grant)).join(),
    /the pool \(none\) is not granted .*granted: lab/,
  )
})

const PLACED = {
  ...ADMIN,
  'hosts.yaml': ['fun-bedbug', 'still-fawn']
    .map(
      (name) => `---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: ${name}}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local}}}
`,
    )
    .join(''),
  'image.yaml': `apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://images.example/noble.qcow2", storage: fast, checksum: "sha256:${'a'.repeat(64)}"}
`,
}
const machine = (host: string, name = 'lab-m') => `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec:
  host: ${host}
  cpu: {cores: 1}
  memory: 1Gi
  disks: [{image: noble, storage: fast, size: 10Gi}]
  networks: [{network: lan, address: dhcp}]
`

test('[S-06] croft chooses only among granted hosts, and an image counts by the object that brings it', () => {
  const templates = { templates: ['Image/noble'] }
  const chosen = estateOf({ 'a.yaml': machine('auto') }, grantFor(templates), PLACED)
  assert.deepEqual(errors(chosen), [])
  const own = chosen.resources.find(({ key }) => key === 'Machine/lab-m')
  assert.deepEqual(
    own?.placement?.candidates.map(({ host }) => host),
    ['fun-bedbug'],
  )
  assert.equal(own === undefined ? undefined : guestIn(own.desired)?.host, 'fun-bedbug')
  assert.match(own?.placement?.unfit[0]?.why ?? '', /the host still-fawn is not granted/)
  const nowhere = estateOf({ 'a.yaml': machine('auto') }, grantFor({ ...templates, hosts: [] }), PLACED)
  assert.match(errors(nowhere).join(), /lab:a.yaml:5:9 the host fun-bedbug is not granted/)
  assert.match(
    errors(estateOf({ 'a.yaml': machine('fun-bedbug') }, grantFor({ templates: ['Image/other'] }), PLACED)).join(),
    /the template local:import\/noble.qcow2 is not granted/,
  )
  const elsewhere = estateOf({ 'a.yaml': machine('still-fawn') }, grantFor(templates), PLACED)
  assert.match(errors(elsewhere).join(), /lab:a.yaml:5:9 the host still-fawn/)
})

test('[S-06] the weaker source takes nothing: not a key, not an id, not by being broken', () => {
  const all = grantFor({ names: ['*'], hosts: ['*'], vmids: { from: 100, to: 999 } })
  const before = estateOf({ 'a.yaml': vm(GOOD) }, all)
  const owned = before.resources.find(({ key }) => key === 'EnvironmentVM/db')
  for (const text of [
    vm(GOOD, 'db'),
    vm(`${GOOD}\nvmId: 200`, 'lab-db'),
    vm('nodeName: 7\nnonsense: true', 'db'),
    'apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: default}\nspec: {nonsense: 1}\n',
  ]) {
    const estate = estateOf({ 'a.yaml': text }, all)
    assert.deepEqual(
      estate.resources.filter(({ key }) => key === 'EnvironmentVM/db'),
      [owned],
      text,
    )
    assert.equal(
      estate.resources.some(({ bounds }) => bounds !== undefined),
      false,
    )
    assert.equal(estate.unreadable.includes('EnvironmentVM/db'), false, 'nor does it count as unreadable')
    assert.equal(estate.connections.length, 1)
    assert.ok(errors(estate).length > 0)
  }
  const equals = estateOf({ 'a.yaml': vm(GOOD, 'db') })
  assert.equal(
    equals.resources.some(({ key }) => key === 'EnvironmentVM/db'),
    false,
    'among equals neither, as before',
  )
})

test('[S-06] secrets of the controller and of other sources are out of reach', async () => {
  const wanting = (reference: string) =>
    `${machine('fun-bedbug')}  userData: {write_files: [{path: /x, content: {valueFrom: ${reference}}}]}\n`
  const grant = grantFor({ templates: ['Image/noble'], secrets: ['env:LAB_*', 'file:/etc/croft/lab/*'] })
  const told = (reference: string) => errors(estateOf({ 'a.yaml': wanting(reference) }, grant, PLACED)).join()
  assert.match(told('{env: PROXMOX_TOKEN}'), /lab:a.yaml:10:\d+ the secret env:PROXMOX_TOKEN is not granted/)
  assert.match(told('{file: /etc/croft/git-token}'), /the secret file:\/etc\/croft\/git-token is not granted/)
  for (const sly of [
    '{file: /etc/croft/lab/../git-token}',
    '{file: ../git-token}',
    '{env: TOKEN, sops: {file: x, key: y}}',
  ])
    assert.match(told(sly), /is not granted|does not say from which/, sly)
  for (const reference of ['{env: LAB_KEY}', '{file: /etc/croft/lab/key}', '{sops: {file: secrets.yaml, key: token}}'])
    assert.equal(told(reference), '', reference)

  const admin = {
    ...PLACED,
    'secrets.yaml': 'token: plain',
    's.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}',
  }
  const files = { 'a.yaml': wanting('{sops: {file: secrets.yaml, key: token}}') }
  const revision = mergeRevisions(parts(files, grant, admin))
  const estate = link(revision, { findKind })
  assert.match(JSON.stringify(estate.resources.find(({ key }) => key === 'Machine/lab-m')), /"lab:secrets.yaml"/)
  const asked: string[] = []
  const vault = openVault(
    revision,
    async (file) => {
      asked.push(file)
      return revision.read?.(file)
    },
    async () => ({ keys: [], looked: [] }) as never,
  )
  await assert.rejects(vault.find({ sops: { file: 'lab:secrets.yaml', key: 'token' } }), (error: Error) => {
    return error instanceof SopsFailed && error.message.includes('there is no file lab:secrets.yaml')
  })
  assert.equal(await vault.find({ secretRef: { name: 's', key: 'k', source: 'lab' } }), undefined)
  assert.equal(asked.includes('admin:s.yaml'), false, "another's Secret is not even opened")
  assert.equal(await revision.read?.('admin:secrets.yaml'), 'token: plain')
  const lent = mergeRevisions(parts({ 'only.yaml': 'x: 1' }, grant, admin))
  assert.equal(await lent.read?.('only.yaml'), undefined, 'nor does anybody use what lies in a source with a grant')
})

/** `lab` names the secret in text that is read only when the machine is made, or through a class of another source. */
test('[S-31] a reference to a secret counts wherever it stands: in text, in a class, in a cluster', () => {
  const grant = grantFor({ templates: ['Image/noble'], secrets: ['env:LAB_*'] })
  const inText = (reference: string) =>
    `${machine('fun-bedbug')}  userData: |\n    #cloud-config\n    write_files: [{path: /x, content: {valueFrom: ${reference}}}]\n`
  const found = (reference: string) => estateOf({ 'a.yaml': inText(reference) }, grant, PLACED)
  const told = (reference: string) => errors(found(reference)).join()
  assert.match(told('{env: PROXMOX_TOKEN}'), /the secret env:PROXMOX_TOKEN is not granted to the source lab/)
  assert.match(told('{file: /etc/croft/git-token}'), /the secret file:\/etc\/croft\/git-token is not granted/)
  assert.match(told('{sops: {file: "admin:secrets.yaml", key: token}}'), /is not granted/)
  assert.equal(told('{env: LAB_KEY}'), '')
  const own = found('{sops: {file: secrets.yaml, key: token}}')
  assert.deepEqual(errors(own), [])
  const { desired } = own.resources.find(({ key }) => key === 'Machine/lab-m') ?? {}
  assert.match(JSON.stringify(desired), /"sops":\{"file":"lab:secrets.yaml"/, 'a path names a file of its own source')

  const withClass = (reference: string) => ({
    ...PLACED,
    'class.yaml': `apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: usual}
spec: {cpu: {cores: 1}, memory: 1Gi, userData: {write_files: [{path: /x, content: {valueFrom: ${reference}}}]}}
`,
  })
  const classed = (reference: string) =>
    errors(
      estateOf(
        { 'a.yaml': machine('fun-bedbug').replace('cpu: {cores: 1}', 'class: usual') },
        grant,
        withClass(reference),
      ),
    ).join()
  for (const reference of ['{env: PROXMOX_TOKEN}', '{file: /etc/x}', '{sops: {file: secrets.yaml, key: token}}'])
    assert.match(classed(reference), /is not granted to the source lab/, reference)
  assert.equal(classed('{env: LAB_KEY}'), '')
})

test('[S-31] a Secret that a cluster of a source with a grant names is one of that source', () => {
  const cluster = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: lab-k}
spec:
  version: v1.34.3+k3s1
  endpoint: {vip: 192.168.4.79}
  network: lan
  servers: [{name: lab-1, host: fun-bedbug, address: 192.168.4.84, cpu: {cores: 1}, memory: 2Gi, disks: [{image: noble, storage: fast, size: 10Gi}]}]
  registries: {configs: {registry.lab: {auth: {secretRef: {name: users, key: admin}}}}}
  backup:
    schedule: "0 4 * * *"
    to: {s3: {endpoint: "https://s3.lab", bucket: backups, credentials: {secretRef: {name: s3, key: admin}}}}
`
  const grant = grantFor({ templates: ['Image/noble'] })
  const network = readFileSync(join(ROOT, 'examples/k3s-proxmox/network.yaml'), 'utf8')
  const estate = estateOf({ 'a.yaml': cluster }, grant, { ...PLACED, 'network.yaml': network })
  assert.deepEqual(errors(estate), [])
  const references = (estate.clusters ?? []).flatMap(({ spec }) => secretsOfCluster(spec))
  assert.equal(references.length >= 2, true)
  for (const reference of references)
    if ('secretRef' in reference) assert.equal(reference.secretRef.source, 'lab', JSON.stringify(reference))
})

test('[S-06] the nodes of a cluster are held to the grant as well, each at its own line', () => {
  const example = (name: string) => {
    const directory = join(ROOT, 'examples', name)
    const files = readdirSync(directory).filter((file) => file.endsWith('.yaml'))
    return Object.fromEntries(files.map((file) => [file, readFileSync(join(directory, file), 'utf8')]))
  }
  const judged = (name: string, more: Readonly<Record<string, unknown>>) => {
    const { 'cluster.yaml': cluster = '', ...admin } = example(name)
    const reach = {
      names: ['*'],
      connections: ['*'],
      storages: ['*'],
      networks: ['*'],
      templates: ['*'],
      secrets: ['file:/*'],
    }
    return estateOf({ 'cluster.yaml': cluster }, grantFor({ ...reach, ...more }), admin)
  }
  const told = errors(judged('k3s-proxmox', { hosts: ['fun-bedbug'] })).join('\n')
  assert.match(told, /lab:cluster.yaml:14:13 the host pumped-piglet is not granted/)
  assert.match(told, /lab:cluster.yaml:16:16 a PCI device reaches into the host/)
  assert.match(told, /lab:cluster.yaml:18:39 the host still-fawn is not granted/)
  assert.deepEqual(errors(judged('k3s-proxmox', { hosts: ['*'], hostAccess: true })), [])
  const boxes = judged('k3s-metal', { hosts: ['*'] })
  assert.match(errors(boxes).join('\n'), /a node on the box .* reaches into the host/)
  assert.equal(boxes.clusters, undefined)
  assert.deepEqual(errors(judged('k3s-metal', { hosts: ['*'], hostAccess: true })), [])
})

test('a path that two sources have is a file of the source that names it', async () => {
  const files = (text: string) => ({ 's.yaml': text })
  const revision = mergeRevisions([
    { source: 'a', revision: reading(files('a')) },
    { source: 'b', revision: reading(files('b')) },
  ])
  assert.equal(await revision.read?.('a:s.yaml'), 'a')
  assert.equal(await revision.read?.('b:s.yaml'), 'b')
})

test('a grant that is mistyped is no grant at all', () => {
  const config = (grant: object) => () => readConfig({ sources: [{ name: 'lab', directory: '/x', grant }] }, {}, {})
  assert.throws(config({ kinds: ['Machine'], host: ['a'] }), /"host" is not a field of sources\[0\]\.grant/)
  assert.throws(config({ kinds: [] }), /kinds/)
  assert.throws(config({ kinds: ['Host'] }), /kinds/)
  assert.throws(config({ kinds: ['Machine'], hosts: ['a*b'] }), /may end with a star/)
  assert.throws(config({ kinds: ['Machine'], vmids: { from: 9999, to: 100 } }), /from is not above/)
  const [source] = openSources(config({ kinds: ['Machine'] })().sources, {
    data: '/x',
    cwd: '/',
    resolveSecret: async () => assert.fail(),
  })
  assert.deepEqual(source?.grant?.names, ['lab-*'])
  assert.deepEqual(source?.grant?.hosts, [])
})

test('[S-06] a whole run with two sources: the guest has its machine, and nothing it tries touches the other’s', async () => {
  const wanted = (name: string, more: Partial<Wanted> = {}): Wanted => ({ name, host: 'fun-bedbug', ...more })
  const machines = (list: readonly Wanted[]) =>
    Object.fromEntries(Object.entries(filesOf(list)).filter(([file]) => file.startsWith('machines/')))
  let guest: { files: Readonly<Record<string, string>>; commit: string } = {
    files: machines([wanted('lab-web')]),
    commit: 'a'.repeat(40),
  }
  let admin = { files: ADMIN, commit: 'b'.repeat(40) }
  const open = (now: () => typeof guest) => () => inMemory(now)
  const harness = await startHarness({
    options: {
      sources: [
        { name: 'lab', remote: 'm', ref: 'main', pollMs: 1_000, grant: grantFor(), open: open(() => guest) },
        { name: 'admin', remote: 'm', ref: 'main', pollMs: 1_000, open: open(() => admin) },
      ],
    },
  })
  const ids = () =>
    [...harness.datacentre.world.guests.values()]
      .map(({ vmid, config }) => `${config.get('name')} ${vmid}`)
      .filter((one) => !one.startsWith('k3s-'))
      .sort()
  const settled = () => harness.controller.seen()?.report.settled === true
  try {
    await harness.until(() => ids().length === 3 && settled())
    assert.deepEqual(ids(), ['app 300', 'db 200', 'lab-web 500'], 'its id is of its own range')

    const before = harness.writes.length
    const attempts: readonly Wanted[] = [
      wanted('db', { host: 'still-fawn', vmid: 200, memory: 512 }),
      wanted('lab-high', { vmid: 200 }),
      wanted('lab-far', { host: 'pumped-piglet' }),
    ]
    guest = { files: machines([wanted('lab-web'), ...attempts]), commit: 'c'.repeat(40) }
    await harness.until(() => harness.controller.view().sources.some(({ trouble }) => trouble !== undefined))
    await harness.pass(120_000)
    assert.deepEqual(ids(), ['app 300', 'db 200', 'lab-web 500'])
    assert.deepEqual(harness.writes.slice(before), [], 'nothing was written')
    const wrong = harness.controller.view().problems.filter(({ severity }) => severity === 'error')
    assert.deepEqual(wrong.map(({ object, code }) => `${object} ${code}`).sort(), [
      'EnvironmentVM/lab-far outside-grant',
      'EnvironmentVM/lab-high outside-grant',
      'lab:EnvironmentVM/db outside-grant',
    ])

    // A key that the administrator gives up does not pass to the guest under a new name: the guest gets a new one.
    const { 'machines/app.yaml': app = '', ...rest } = ADMIN
    admin = { files: rest, commit: 'd'.repeat(40) }
    const copy = app.replace('metadata: {name: app}', 'metadata: {name: lab-app}')
    guest = { files: { ...machines([wanted('lab-web')]), 'machines/lab-app.yaml': copy }, commit: 'e'.repeat(40) }
    await harness.until(() => ids().includes('app 501'))
  } finally {
    await harness.stop()
  }
})
