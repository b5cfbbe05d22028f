import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatacentre } from '../../../sim/datacentre.ts'
import { createLibvirtHost, libvirtShell } from '../../../sim/libvirt/shell.ts'
import { virsh } from '../../../sim/libvirt/virsh.ts'
import { createScaledClock } from '../../../sim/scaled-clock.ts'
import { systemClock } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Connection } from '../../model/estate.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { openLocalShell } from '../../ssh/local-shell.ts'
import { type ConsoleWorld, consoleConformance, said } from '../testing/console-conformance.ts'
import { libvirtDriver } from './driver.ts'

const connection: Connection = {
  name: 'lab',
  driver: 'libvirt',
  endpoint: 'qemu:///system',
  ssh: { name: 'kvm1', address: '192.0.2.1', port: 22, user: 'root', hostKeys: [], sudo: 'none' },
  estate: 'console',
  ids: { from: 100, to: 999 },
  limits: { perHost: 2, perStorage: 1, reads: 4 },
  origin: { file: 'x.yaml', line: 1, column: 1 },
}

function uuidOf(last: number): string {
  return `00000000-0000-4000-8000-00000000010${last}`
}

function observed(last: number): ObservedResource {
  return { connection: 'lab', type: 'vm', externalId: uuidOf(last), host: 'kvm1' }
}

async function simulated(): Promise<ConsoleWorld> {
  const clock = createScaledClock(1000, Date.UTC(2026, 0, 1))
  const { world } = createDatacentre({ clock, random: seededRandom(7), preset: 'empty', hosts: ['kvm1'] })
  const host = createLibvirtHost(world, 'kvm1')
  const define = (last: number, devices: string, on: boolean) => {
    const xml = `<domain type='kvm'>\n  <name>vm-${last}</name>\n  <uuid>${uuidOf(last)}</uuid>\n  <memory unit='KiB'>1048576</memory>\n  <vcpu>1</vcpu>\n  <os><type>hvm</type></os>\n  <devices>${devices}</devices>\n</domain>`
    virsh(host, ['define', '/dev/stdin'], xml)
    if (on) virsh(host, ['start', uuidOf(last)], undefined)
  }
  define(0, "<serial type='pty'/><console type='pty'/>", true)
  define(1, "<serial type='pty'/>", false)
  define(2, '', true)
  const session = libvirtDriver.connect(connection, {
    clock: systemClock,
    random: seededRandom(1),
    openWire: () => assert.fail('libvirt needs no wire'),
    openShell: () => libvirtShell(host),
    resolveSecret: () => assert.fail('no secret is needed'),
  })
  return {
    session,
    running: observed(0),
    stopped: observed(1),
    bare: observed(2),
    secrets: [],
    [Symbol.asyncDispose]: () => session.close(),
  }
}

consoleConformance('libvirt', simulated)

const shell = () =>
  openLocalShell({ name: 'here', env: {}, become: 'none', clock: systemClock, random: { next: Math.random } })

test('a program on a real terminal of its own: it has one, takes keys as they are, and ends when it is closed', async () => {
  const here = shell()
  const line = 'stty raw -echo; [ -t 0 ] && echo ready; dd bs=1 count=3 2>/dev/null | od -An -c; read -r rest'
  const signal = new AbortController().signal
  const stream = await here.terminal?.(['script', '-qec', line, '/dev/null'], { farewell: '\u001d', signal })
  assert.ok(stream)
  await said(stream, /ready/)
  stream.write('a\u0003b')
  assert.match(await said(stream, /b/), /a\s+003\s+b/)
  const closed = new Promise((done) => stream.once('close', done))
  stream.destroy()
  await closed
  await here.close()
})

test('a program that cannot be started is a failure, and one that was called off never begins', async () => {
  const here = shell()
  const options = { farewell: '', signal: new AbortController().signal }
  const stream = await here.terminal?.(['/nonexistent/program'], options)
  assert.ok(stream)
  // The shell around it started; its end reports what it could not start.
  await assert.rejects(said(stream, /something/), /ended after ""/)
  await assert.rejects(
    async () => here.terminal?.(['true'], { ...options, signal: AbortSignal.abort() }),
    /waits for it/,
  )
  await here.close()
})
