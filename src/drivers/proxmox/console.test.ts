import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDatacentre } from '../../../sim/datacentre.ts'
import { createScaledClock } from '../../../sim/scaled-clock.ts'
import { type ServedDatacentre, serveDatacentre } from '../../../sim/serve.ts'
import { newGuest, powerOn } from '../../../sim/world/guest-run.ts'
import { systemClock } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/random.ts'
import { openTlsWire } from '../../lib/tls-wire.ts'
import type { Connection } from '../../model/estate.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { Secret } from '../../model/secret.ts'
import { type DriverDeps, ObservationFailed } from '../port.ts'
import { type ConsoleWorld, consoleConformance, said } from '../testing/console-conformance.ts'
import { serialIn } from './console.ts'
import { proxmoxDriver } from './driver.ts'
import { afterGreeting, dataFrames, loginLine, resizeFrame } from './term-frames.ts'

const HOST = 'pve-1'

function observed(externalId: string, type: 'vm' | 'container' = 'vm'): ObservedResource {
  return { connection: 'lab', type, externalId, host: HOST, name: `guest-${externalId}` }
}

interface Served extends ConsoleWorld {
  readonly served: ServedDatacentre
}

async function world(token?: string): Promise<Served> {
  const clock = createScaledClock(1, Date.UTC(2026, 0, 1))
  const datacentre = createDatacentre({ clock, random: seededRandom(7), preset: 'empty', hosts: [HOST] })
  const host = datacentre.world.hosts.get(HOST) ?? assert.fail()
  const add = (vmid: number, type: 'qemu' | 'lxc', config: Readonly<Record<string, string>>, on: boolean) => {
    const guest = newGuest(vmid, type, HOST, new Map(Object.entries(config)))
    datacentre.world.guests.set(vmid, guest)
    if (on) powerOn(datacentre.world, host, guest, 0)
  }
  add(100, 'qemu', { name: 'web-1', serial0: 'socket' }, true)
  add(101, 'qemu', { name: 'web-2', serial0: 'socket' }, false)
  add(102, 'qemu', { name: 'web-3', serial0: '/dev/ttyS1' }, true)
  add(110, 'lxc', { hostname: 'ct-1' }, true)
  const served = await serveDatacentre(datacentre, { port: 0 })
  const connection: Connection = {
    name: 'lab',
    driver: 'proxmox',
    endpoint: served.endpoint,
    fingerprint: served.fingerprint,
    token: { env: 'X' },
    estate: 'console',
    ids: { from: 100, to: 999 },
    limits: { perHost: 2, perStorage: 1, reads: 4 },
    origin: { file: 'x.yaml', line: 1, column: 1 },
  }
  const deps: DriverDeps = {
    clock: systemClock,
    random: seededRandom(1),
    openWire: ({ endpoint, fingerprint }) =>
      openTlsWire({
        endpoint,
        ...(fingerprint === undefined ? {} : { fingerprint }),
        maxSockets: 4,
        timeouts: { connectMs: 10_000, requestMs: 10_000 },
      }),
    resolveSecret: async () => new Secret(token ?? served.token),
  }
  const session = proxmoxDriver.connect(connection, deps)
  return {
    served,
    session,
    running: observed('100'),
    stopped: observed('101'),
    bare: observed('102'),
    secrets: [served.token],
    async [Symbol.asyncDispose]() {
      await session.close()
      await served.close()
    },
  }
}

consoleConformance('Proxmox', world)

const NEVER = new AbortController().signal
const SIZE = { columns: 80, rows: 24 }

test('a container has a console without a serial port', async () => {
  await using it = await world()
  const { stream } =
    (await it.session.console?.open(observed('110', 'container'), SIZE, NEVER)) ?? assert.fail('no console')
  assert.match(await said(stream, /login: $/), /Debian GNU\/Linux 12 ct-1/)
  stream.destroy()
})

test('without VM.Console Proxmox says no, and the message has neither token nor ticket', async () => {
  await using it = await world()
  const { access } = it.served.datacentre.world
  const root = access.users.get('root@pam') ?? assert.fail()
  // A separate token with read permission only.
  for (const [name, token] of root.tokens) root.tokens.set(name, { ...token, privsep: true })
  const ugid = `root@pam!${[...root.tokens.keys()][0] ?? ''}`
  access.acl.push({ path: '/', type: 'token', ugid, roleid: 'PVEAuditor', propagate: true })
  access.version++
  const refusal = await it.session.console?.open(it.running, SIZE, NEVER).then(
    () => assert.fail('it was opened'),
    (error: unknown) => (error instanceof ObservationFailed ? error.refusal : assert.fail(String(error))),
  )
  assert.equal(refusal?.reason, 'PermissionDenied')
  assert.match(refusal.message, /VM\.Console/)
  assert.doesNotMatch(JSON.stringify(refusal), /PVEVNC|PVEAPIToken/)
})

test('a host with another certificate gets neither the token nor a ticket', async () => {
  await using it = await world()
  await using other = await world()
  const wire = openTlsWire({
    endpoint: it.served.endpoint,
    fingerprint: other.served.fingerprint,
    maxSockets: 1,
    timeouts: { connectMs: 10_000, requestMs: 10_000 },
  })
  await assert.rejects(async () => wire.dial?.(NEVER), /expected .*; no request was sent/)
  await wire.close()
})

describe('the frames of termproxy', () => {
  for (const [what, bytes, frames] of [
    ['nothing', '', []],
    ['a key', 'a', ['0:1:a']],
    ['counted in bytes, not in characters', 'ü€', ['0:5:ü€']],
    ['what looks like a frame', '1:80:24:', ['0:8:1:80:24:']],
  ] as const)
    test(`input: ${what}`, () => {
      assert.deepEqual(
        dataFrames(Buffer.from(bytes)).map((frame) => frame.toString('utf8')),
        frames,
      )
    })

  test('input: what is long goes in pieces that fit into one message', () => {
    const frames = dataFrames(Buffer.alloc(40_000, 'x'))
    assert.deepEqual(
      frames.map((frame) => frame.toString('latin1').replace(/x+$/, '')),
      ['0:16384:', '0:16384:', '0:7232:'],
    )
  })

  test('a size and a login', () => {
    assert.equal(resizeFrame({ columns: 132, rows: 50 }), '1:132:50:')
    assert.equal(loginLine('root@pam!croft', 'PVEVNC:1::x'), 'root@pam!croft:PVEVNC:1::x\n')
  })

  for (const [received, answer] of [
    ['', undefined],
    ['O', undefined],
    ['OK', ''],
    ['OKstarting', 'starting'],
    ['NO', 'refused'],
    ['X', 'refused'],
  ] as const)
    test(`the greeting ${JSON.stringify(received)}`, () => {
      const rest = afterGreeting(Buffer.from(received))
      assert.equal(rest instanceof Buffer ? rest.toString() : rest, answer)
    })

  for (const [config, slot] of [
    [{ serial0: 'socket' }, 'serial0'],
    [{ serial0: '/dev/ttyS0', serial2: 'socket' }, 'serial2'],
    [{ serial0: '/dev/ttyS0' }, undefined],
    [{}, undefined],
    [null, undefined],
  ] as const)
    test(`the serial port of ${JSON.stringify(config)}`, () => assert.equal(serialIn(config), slot))
})
