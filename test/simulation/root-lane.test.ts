import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatacentre } from '../../sim/datacentre.ts'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { simWire } from '../../sim/wire.ts'
import { proxmoxDriver } from '../../src/drivers/proxmox/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { type Shell, ShellFailure } from '../../src/lib/shell.ts'
import { Secret, type SshTarget } from '../../src/model/secret.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateFrom } from './manifests.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'

function files(ssh: string, more = ''): Record<string, string> {
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
apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: gpu}
spec:
  forProvider:
    nodeName: still-fawn
    vmId: 300
    started: false
    cpu: [{cores: 2, affinity: 0-3}]
    memory: [{dedicated: 1024}]
    ${more}
`,
  }
}

/** A datacentre with a door for root: what arrives there is done to the guest, as \`qm set\` would. */
function world() {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(1) })
  const commands: (readonly string[])[] = []
  const targets: SshTarget[] = []
  let trouble: ShellFailure | undefined
  const openShell = (target: SshTarget): Shell => {
    targets.push(target)
    return {
      run: async (argv) => {
        if (trouble !== undefined) throw trouble
        commands.push(argv)
        const [, , id = '', ...options] = argv
        for (let at = 0; at < options.length; at += 2) {
          const [name = '', value = ''] = [options[at]?.slice(2), options[at + 1]]
          if (name === 'delete')
            for (const key of value.split(',')) datacentre.world.guests.get(Number(id))?.config.delete(key)
          else if (name !== 'digest') datacentre.patchGuest(Number(id), { [name]: value })
        }
        return { code: 0, stdout: '', stderr: '' }
      },
      readFile: () => Promise.resolve(undefined),
      writeFile: () => Promise.resolve(),
      close: () => Promise.resolve(),
    }
  }
  const engine = createEngine({
    clock,
    random: seededRandom(2),
    store: createMemoryStore(),
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
  const config = () => datacentre.world.guests.get(300)?.config
  return { settle, commands, targets, config, datacentre, fail: (failure?: ShellFailure) => (trouble = failure) }
}

const SSH = `ssh: {address: 192.168.4.20, hostKeys: ["${KEY}"]}`

test('without an SSH lane the plan says which field needs it, and nothing runs', async () => {
  const { settle, datacentre } = world()
  const { last } = await settle(files('description: no way in'))
  const action = last.plan.entries.find(({ key }) => key === 'EnvironmentVM/gpu')?.action
  assert.equal(action?.do, 'refuse')
  assert.match(action?.do === 'refuse' ? action.reason : '', /cpu\.affinity .*SSH lane/)
  assert.equal(datacentre.writes.length, 0)
})

test('[R33] with one, what only root may write goes over it, and everything else by the token', async () => {
  const { settle, commands, targets, config } = world()
  const { outcome } = await settle(files(SSH, 'hostpci: [{device: hostpci0, id: "0000:01:00.0"}]'))
  assert.equal(outcome, 'settled')
  assert.deepEqual(
    commands.map((argv) => argv.slice(0, 3)),
    [['qm', 'set', '300']],
  )
  assert.equal(config()?.get('affinity'), '0-3')
  assert.match(config()?.get('hostpci0') ?? '', /0000:01:00\.0/)
  assert.equal(config()?.get('cores'), '2')
  assert.deepEqual([targets[0]?.address, targets[0]?.hostKeys], ['192.168.4.20', [KEY]])

  // It goes out again the same way.
  await settle(files(SSH))
  assert.equal(config()?.has('hostpci0'), false)
  assert.ok(commands.some((argv) => argv.includes('--delete') && argv.includes('hostpci0')))
})

test('[S-05] a host that shows another key is refused, and said so', async () => {
  const { settle, fail, config } = world()
  fail(new ShellFailure('no', 'host-key', 'still-fawn shows another key'))
  const { last } = await settle(files(SSH))
  assert.equal(config()?.has('affinity'), false)
  const record = last.records.find(({ key }) => key === 'EnvironmentVM/gpu')
  assert.match(record?.failure?.message ?? '', /another key/)
  assert.ok(record?.conditions.some(({ type, status }) => type === 'Stalled' && status === 'True'))
})

test('[R35] on the host that croft runs on nothing is connected to: the shell is the local one', async () => {
  const { settle, targets } = world()
  await settle(files('local: true'))
  assert.equal(targets[0]?.local, true)
})
