import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { createVirtualClock } from '../sim/virtual-clock.ts'
import { kubernetesDriver } from '../src/drivers/kubernetes/driver.ts'
import { libvirtDriver } from '../src/drivers/libvirt/driver.ts'
import { type Driver, type DriverDeps, ObservationFailed } from '../src/drivers/port.ts'
import { proxmoxDriver } from '../src/drivers/proxmox/driver.ts'
import { sshDriver } from '../src/drivers/ssh/driver.ts'
import { seededRandom } from '../src/lib/random.ts'
import { ShellFailure } from '../src/lib/shell.ts'
import { WireFailure } from '../src/lib/wire.ts'
import { DEFAULT_POLICY } from '../src/model/declaration.ts'
import { removed } from '../src/model/destruction.ts'
import type { ClusterDeclaration, Connection } from '../src/model/estate.ts'
import type { Desired, ObservedResource, Resource } from '../src/model/resource.ts'
import { Secret } from '../src/model/secret.ts'
import type { Step } from '../src/model/step.ts'

// Rules of every driver. Drivers of machines also have `src/drivers/testing/conformance.ts`.

const VM: Desired = {
  type: 'vm',
  vm: { host: 'alpha', name: 'web', memory: { dedicatedMb: 1024 }, disks: [], nics: [], vmid: 100 },
}
const ITEM: Desired = {
  type: 'item',
  item: { host: 'alpha', reboot: 'refused', item: { type: 'sysctl', name: 'vm.swappiness', spec: { value: '10' } } },
}
const OBJECT: Desired = {
  type: 'object',
  object: {
    cluster: 'alpha',
    addon: 'x',
    plural: 'configmaps',
    deletion: 'Delete',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'n' }, data: { a: '1' } },
  },
}

/** A setting that another driver keeps. */
const SETTING: Desired = { type: 'setting', setting: { definition: 'pool', id: 'p', fields: {} } }

const DRIVERS: readonly { readonly driver: Driver; readonly keeps: Desired; readonly strange: Desired }[] = [
  { driver: proxmoxDriver, keeps: VM, strange: ITEM },
  { driver: libvirtDriver, keeps: VM, strange: OBJECT },
  { driver: libvirtDriver, keeps: VM, strange: SETTING },
  { driver: sshDriver, keeps: ITEM, strange: VM },
  { driver: kubernetesDriver, keeps: OBJECT, strange: VM },
]

const NEVER = new AbortController().signal
const SSH = { name: 'alpha', address: '192.0.2.1', port: 22, user: 'root', hostKeys: [], sudo: 'none' } as const

function resourceOf(driver: Driver, desired: Desired): Resource {
  return {
    key: 'Thing/one',
    uid: '0123456789abcdef',
    kind: 'Thing',
    name: 'one',
    driver: driver.name,
    connection: 'lab',
    estate: 'default',
    desired,
    needs: [],
    policy: DEFAULT_POLICY,
    origin: { file: 'a.yaml', line: 1, column: 1 },
    generation: 'g',
  }
}

function connectionOf({ name }: Driver): Connection {
  return {
    name: 'lab',
    driver: name,
    endpoint: name === 'libvirt' ? 'qemu+ssh://root@alpha/system' : 'https://192.0.2.1:8006',
    token: { env: 'TOKEN' },
    ssh: SSH,
    cluster: { name: 'alpha', spec: { version: 'v1.34.3+k3s1' } } as unknown as ClusterDeclaration,
    estate: 'default',
    ids: { from: 100, to: 199 },
    limits: { perHost: 1, perStorage: 1, reads: 1 },
    origin: { file: 'a.yaml', line: 1, column: 1 },
  }
}

/** A world without answers: no request arrives. */
function silence(): DriverDeps {
  const lost = async (): Promise<never> => {
    throw new WireFailure('no', 'ECONNREFUSED', 'connection refused')
  }
  const away = async (): Promise<never> => {
    throw new ShellFailure('no', 'unreachable', 'no route to host')
  }
  return {
    clock: createVirtualClock(1_760_000_000_000),
    random: seededRandom(1),
    openWire: () => ({ send: lost, close: async () => {} }),
    resolveSecret: async () => new Secret('root@pam!croft=0'),
    openShell: () => ({ run: away, readFile: away, writeFile: away, close: async () => {} }),
    kubernetes: () => ({
      find: async () => ({ is: 'away', message: 'its API does not answer' }),
      lost: () => {},
      close: async () => {},
    }),
  }
}

function someStep(driver: Driver, resource: Resource): Step {
  const { rules } = driver
  const [made] = rules.createSteps(resource, rules.declaredId(resource) ?? '100')
  if (made !== undefined) return made
  // What is never created is taken back.
  const observed: ObservedResource = {
    connection: 'lab',
    type: 'item',
    list: rules.listOf(resource) ?? '',
    externalId: rules.declaredId(resource) ?? '',
    host: 'alpha',
    close: { config: {}, atMs: 1 },
  }
  const [gone] = rules.deleteSteps(removed(observed, []))
  assert.ok(gone, `${driver.name} has no step for ${resource.key}`)
  return gone
}

it('every driver is held to this', () => {
  const folder = path.join(import.meta.dirname, '../src/drivers')
  const found = readdirSync(folder).filter((name) => {
    // Clusters and power have ports of their own.
    return existsSync(path.join(folder, name, 'driver.ts')) && name !== 'k3s' && name !== 'power'
  })
  assert.deepEqual(found.sort(), [...new Set(DRIVERS.map(({ driver }) => driver.name))].sort())
})

for (const { driver, keeps, strange } of DRIVERS) {
  void describe(`core conformance: ${driver.name}, not ${strange.type}`, () => {
    const resource = resourceOf(driver, keeps)
    const { rules } = driver

    void it('keeps its own sort of thing, and nothing is said about another but an error', () => {
      const other = resourceOf(driver, strange)
      const observed = { connection: 'lab', type: 'vm', externalId: '1', host: 'alpha' } as ObservedResource
      assert.equal(rules.keeps(resource), true)
      assert.equal(rules.keeps(other), false)
      const close = { ...observed, close: { config: {}, atMs: 1 } }
      for (const ask of [
        () => rules.declaredId(other),
        () => rules.hostOf(other),
        () => rules.diff(other, close),
        () => rules.updateSteps(other, close, [{ path: 'x', from: 1, to: 2, effect: 'live' }]),
        () => rules.readiness(other, close),
      ])
        assert.throws(ask, ask.toString())
    })

    void it('what it says follows from what it is asked alone', () => {
      const said = () =>
        JSON.stringify([
          rules.declaredId(resource),
          rules.listOf(resource),
          rules.hostOf(resource),
          rules.choosesId(resource),
          someStep(driver, resource),
        ])
      assert.equal(said(), said())
      assert.equal(rules.hostOf(resource), 'alpha')
    })

    void it('a system that does not answer fails a look in our words, and is never taken for an empty one', async () => {
      const session = driver.connect(connectionOf(driver), silence())
      await assert.rejects(session.survey(NEVER, [resource]), (error) => {
        assert.ok(error instanceof ObservationFailed, String(error))
        assert.equal(error.refusal.meaning, 'backoff')
        return true
      })
      await session.close()
    })

    void it('a step that could not be sent is an answer, not an exception, and says that nothing was done', async () => {
      const session = driver.connect(connectionOf(driver), silence())
      const outcome = await session.perform(someStep(driver, resource), NEVER)
      assert.equal(outcome.result, 'not-sent', JSON.stringify(outcome))
      await session.close()
    })
  })
}
