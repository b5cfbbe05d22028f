import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatacentre } from '../../sim/datacentre.ts'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { simWire } from '../../sim/wire.ts'
import { proxmoxDriver } from '../../src/drivers/proxmox/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { type Shell, ShellFailure } from '../../src/lib/shell.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateFrom } from './manifests.ts'
import { storedText } from './run.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const SSH = `ssh: {address: 192.168.4.20, hostKeys: ["${KEY}"]}`
const KEYED = 'EnvironmentFile/user-data'

function files(ssh: string, text: string, more = ''): Record<string, string> {
  return {
    'a.yaml': `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: T}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: still-fawn}
spec: {${ssh}}
---
apiVersion: virtualenvironmentfile.crossplane.io/v1alpha1
kind: EnvironmentFile
metadata: {name: user-data}
spec:
  forProvider:
    nodeName: still-fawn
    datastoreId: local
    contentType: snippets
    fileMode: "0600"
    sourceRaw: [{fileName: user.yaml, data: ${JSON.stringify(text)}}]
    ${more}
---
apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web}
spec:
  forProvider:
    nodeName: still-fawn
    vmId: 300
    started: false
    cpu: [{cores: 1}]
    memory: [{dedicated: 512}]
    initialization: [{datastoreId: local, userDataFileId: "local:snippets/user.yaml"}]
`,
  }
}

/** A datacentre whose host has a door for root: what is written there lies on the storage. */
function world() {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(1) })
  const disk = createMemoryStore()
  const commands: string[] = []
  const modes: (number | undefined)[] = []
  let trouble: ShellFailure | undefined
  const storages = datacentre.world.hosts.get('still-fawn')?.volumes
  if (storages?.has('local') === false) storages.set('local', new Map())
  const volumes = () => storages?.get('local')
  const name = (path: string) => path.replace('/var/lib/vz/', '')
  const put = (path: string, text: string) =>
    volumes()?.set(name(path), {
      name: name(path),
      content: 'snippets',
      format: 'snippet',
      sizeBytes: Buffer.byteLength(text),
      ctimeSeconds: Math.floor(clock.now() / 1000),
      bytes: Buffer.from(text),
    } as never)
  const openShell = (): Shell => ({
    run: async (argv) => {
      if (trouble !== undefined) throw trouble
      commands.push(argv.join(' '))
      return { code: 0, stdout: `/var/lib/vz/${argv[2]?.split(':')[1]}\n`, stderr: '' }
    },
    readFile: async (path) => volumes()?.get(name(path))?.bytes,
    writeFile: async (path, content, options) => {
      commands.push(`write ${path}`)
      modes.push(options?.mode)
      put(path, Buffer.from(content as string).toString())
    },
    close: () => Promise.resolve(),
  })
  const engine = createEngine({
    clock,
    random: seededRandom(2),
    store: disk,
    drivers: [proxmoxDriver],
    driverDeps: {
      clock,
      random: seededRandom(3),
      openWire: () => simWire(datacentre),
      resolveSecret: async () => new Secret(datacentre.token),
      openShell,
    },
  })
  const settle = (texts: Record<string, string>) =>
    clock.runUntil(engine.settle(estateFrom(texts), { signal: new AbortController().signal, deadlineMs: 600_000 }))
  const plan = (texts: Record<string, string>) =>
    clock.runUntil(engine.plan(estateFrom(texts), new AbortController().signal))
  const text = () => Buffer.from(volumes()?.get('snippets/user.yaml')?.bytes ?? []).toString()
  return {
    settle,
    plan,
    commands,
    modes,
    text,
    put,
    disk,
    clock,
    datacentre,
    fail: (why?: ShellFailure) => (trouble = why),
  }
}

test('without an SSH lane the plan says that the snippet needs it, and nothing runs', async () => {
  const { settle, datacentre } = world()
  const { last } = await settle(files('description: no way in', 'a: 1\n'))
  const action = last.plan.entries.find(({ key }) => key === KEYED)?.action
  assert.equal(action?.do, 'refuse')
  assert.match(
    action?.do === 'refuse' ? action.reason : '',
    /sourceRaw .*local:snippets\/user\.yaml.*SSH lane to still-fawn/,
  )
  assert.equal(datacentre.writes.length, 0)
})

test('a snippet is written over SSH before the machine that names it, and compared by what is in it', async () => {
  const { settle, plan, commands, modes, text, put, disk, clock, datacentre } = world()
  const wanted = files(SSH, 'a: CANARY\n')
  const { outcome } = await settle(wanted)
  assert.equal(outcome, 'settled')
  assert.equal(text(), 'a: CANARY\n')
  assert.deepEqual(modes, [0o600])
  assert.equal(datacentre.world.guests.get(300)?.config.get('cicustom'), 'user=local:snippets/user.yaml')
  const writes = () => commands.filter((line) => line.startsWith('write')).length
  assert.equal(writes(), 1)

  // Settled: no pass connects to the host any more.
  const before = commands.length
  assert.deepEqual(
    (await plan(wanted)).entries.map(({ action }) => action.do),
    ['nothing', 'nothing'],
  )
  await settle(wanted)
  assert.equal(commands.length, before)

  // The file is changed: same size, another text.
  await clock.advanceTo(clock.now() + 60_000)
  put('/var/lib/vz/snippets/user.yaml', 'a: canary\n')
  const entry = (await plan(wanted)).entries.find(({ key }) => key === KEYED)
  const [change] = entry?.action.do === 'update' ? entry.action.changes : []
  assert.deepEqual([change?.path, change?.from], ['content', 'written since'])
  await settle(wanted)
  assert.equal(text(), 'a: CANARY\n')
  assert.equal(writes(), 2)

  // Another declaration, then none.
  await settle(files(SSH, 'b: 2\n'))
  assert.equal(text(), 'b: 2\n')
  assert.ok(!storedText(disk.disk).includes('CANARY'))
})

test('a file that may not be overwritten is left, and said so', async () => {
  const { settle, put, text } = world()
  put('/var/lib/vz/snippets/user.yaml', 'somebody else wrote this\n')
  const { last } = await settle(files(SSH, 'a: 1\n', 'overwrite: false'))
  const action = last.plan.entries.find(({ key }) => key === KEYED)?.action
  assert.match(action?.do === 'refuse' ? action.reason : '', /overwrite is false/)
  assert.equal(text(), 'somebody else wrote this\n')
})

test('[S-05] a host that shows another key gets no snippet', async () => {
  const { settle, fail, text } = world()
  fail(new ShellFailure('no', 'host-key', 'still-fawn shows another key'))
  const { last } = await settle(files(SSH, 'a: 1\n'))
  assert.equal(text(), '')
  assert.match(last.records.find(({ key }) => key === KEYED)?.failure?.message ?? '', /another key/)
})
