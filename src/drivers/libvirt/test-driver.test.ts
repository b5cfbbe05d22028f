import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import type { Clock } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Connection } from '../../model/estate.ts'
import { Secret } from '../../model/secret.ts'
import type { VmSpec } from '../../model/vm.ts'
import { type DriverWorld, driverConformance } from '../testing/conformance.ts'
import { libvirtDriver } from './driver.ts'
import { faultyShell } from './testing/faulty-shell.ts'
import { testDriverShell } from './testing/virsh-session.ts'

/** The driver on the libvirt that is installed here, with its test driver: real virsh, real XML, no machines. */

const FOREIGN = '6695eb01-f6a4-8304-79aa-97f2502e193f'

const VM: VmSpec = {
  host: 'here',
  name: 'conformance',
  power: 'running',
  onBoot: false,
  cpu: { cores: 2 },
  memory: { dedicatedMb: 2048 },
  tags: ['Web'],
  description: 'A machine\nof two lines <&>',
  disks: [{ slot: 'virtio0', storage: 'default-pool', sizeGb: 20, discard: 'on' }],
  nics: [{ slot: 'net0', bridge: 'default', model: 'virtio', mac: '52:54:00:00:00:01' }],
  agent: { enabled: true },
}

const connection: Connection = {
  name: 'lab',
  driver: 'libvirt',
  endpoint: 'test:///default',
  ssh: { name: 'here', address: 'localhost', port: 22, user: 'root', hostKeys: [], sudo: 'none', local: true },
  estate: 'conformance',
  ids: { from: 100, to: 999 },
  limits: { perHost: 2, perStorage: 1, reads: 4 },
  origin: { file: 'x.yaml', line: 1, column: 1 },
}

function declared(change: Parameters<DriverWorld['machine']['declared']>[0]): {
  readonly type: 'vm'
  readonly vm: VmSpec
} {
  const { cores, memoryMb, sizeGb, vmid: _vmid, ...rest } = change
  return {
    type: 'vm',
    vm: {
      ...VM,
      ...rest,
      ...(cores === undefined ? {} : { cpu: { cores } }),
      ...(memoryMb === undefined ? {} : { memory: { dedicatedMb: memoryMb } }),
      ...(sizeGb === undefined ? {} : { disks: VM.disks.map((disk) => ({ ...disk, sizeGb })) }),
    },
  }
}

const directory = mkdtempSync(join(tmpdir(), 'croft-libvirt-'))
after(() => rmSync(directory, { recursive: true, force: true }))

interface TestWorld extends DriverWorld {
  direct(line: string): Promise<string>
}

function testWorld(): TestWorld {
  const inner = testDriverShell('test:///default')
  const shell = faultyShell(inner)
  let nowMs = Date.UTC(2026, 0, 1)
  const clock: Clock = { now: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }
  const meddling: Promise<unknown>[] = []
  return {
    driver: libvirtDriver,
    connection,
    deps: {
      clock,
      random: seededRandom(7),
      openWire: () => assert.fail('libvirt needs no wire'),
      openShell: () => shell,
      resolveSecret: () => Promise.resolve(new Secret('x')),
    },
    machine: { sizeGb: 20, declared },
    foreignId: FOREIGN,
    run: async (promise) => {
      await Promise.all(meddling.splice(0))
      return promise
    },
    pass: (ms) => {
      nowMs += ms
      return Promise.resolve()
    },
    nowMs: () => nowMs,
    calls: shell.calls,
    writes: shell.writes,
    // Writes to foreign domains: there must be none.
    others: () => JSON.stringify(shell.written().filter((text) => text.includes(FOREIGN))),
    meddle: (id) => {
      meddling.push(inner.direct(`desc ${id} --config "somebody was here"`))
    },
    makeMany: (count) => {
      for (let at = 0; at < count; at++) {
        const uuid = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
        const file = join(directory, `${at}.xml`)
        writeFileSync(
          file,
          `<domain type='test'><name>many-${at}</name><uuid>${uuid}</uuid><memory>1024</memory><os><type>hvm</type></os></domain>`,
        )
        meddling.push(inner.direct(`define ${file}`))
      }
    },
    hideEverything: shell.hide,
    refuseToken: () => shell.refuse(true),
    acceptToken: () => shell.refuse(false),
    loseNextWrite: shell.loseNext,
    spoilNextWrite: shell.spoilNext,
    secrets: [],
    direct: inner.direct,
  }
}

const missing =
  spawnSync('virsh', ['-c', 'test:///default', 'version']).status === 0
    ? undefined
    : 'virsh (apt: libvirt-clients, libvirt-daemon)'

if (missing === undefined || process.env.CI !== undefined)
  driverConformance('libvirt, on its own test driver', testWorld)
else void it('the driver on the test driver of libvirt', { skip: `needs ${missing}` }, () => undefined)
