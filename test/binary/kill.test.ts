import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../src/lib/random.ts'
import { LONG } from '../simulation/volume.ts'
import {
  CROFT,
  endAll,
  estateAt,
  type Running,
  type Simulator,
  scratch,
  signal,
  start,
  startSimulator,
} from './children.ts'
import { noneDoubledOrLost, type SimGuest, type SimState, soundDatabase } from './kill-oracle.ts'

after(endAll)

/** When the program is killed. Writes are counted as the datacentre sees them. */
interface Moment {
  /** The number of writes that have started; 0 is the start of the program. */
  readonly writes: number
  /** Then so much later. */
  readonly waitMs: number
  /** The last of those writes is held up for so long on its way: the program dies while it waits for the answer. */
  readonly heldMs?: number
  /** croft chooses the id: then only its own notes and its mark keep it from making a second machine. */
  readonly chosen?: true
  /** Only the launcher is killed. Where it has started another Node, that one must not live on beside the next run. */
  readonly launcher?: true
}

const SPEED = 100
const LANES = 3

const ORDINARY: readonly Moment[] = [
  { writes: 0, waitMs: 120 },
  { writes: 0, waitMs: 350 },
  { writes: 1, waitMs: 0, heldMs: 60 },
  { writes: 1, waitMs: 0, heldMs: 700, chosen: true },
  { writes: 1, waitMs: 0, chosen: true },
  { writes: 1, waitMs: 150 },
  { writes: 1, waitMs: 450, launcher: true },
  { writes: 2, waitMs: 0, heldMs: 700 },
  { writes: 2, waitMs: 0, chosen: true },
  { writes: 2, waitMs: 300 },
  { writes: 3, waitMs: 0, heldMs: 700, launcher: true },
  { writes: 3, waitMs: 250 },
]

const WHOLE = 2_000

/** With CROFT_POINT=n only the n-th, to replay a failure; CROFT_FROM=n begins there, CROFT_SEEDS=n is the last. */
function moments(): readonly (readonly [number, Moment])[] {
  const all = LONG ? [...ORDINARY, ...drawn(WHOLE - ORDINARY.length)] : ORDINARY
  const numbered = all.map((moment, index) => [index + 1, moment] as const)
  const { CROFT_POINT: wanted, CROFT_FROM: from = '1', CROFT_SEEDS: last = String(WHOLE) } = process.env
  if (wanted !== undefined) return numbered.filter(([number]) => number === Number(wanted))
  return numbered.filter(([number]) => number >= Number(from) && number <= Number(last))
}

function drawn(count: number): readonly Moment[] {
  const random = seededRandom(23)
  const below = (limit: number) => Math.floor(random.next() * limit)
  return Array.from({ length: count }, () => {
    const writes = below(4)
    const held = writes > 0 && below(3) === 0
    return {
      ...(held ? { writes, waitMs: below(20), heldMs: 20 + below(1500) } : { writes, waitMs: below(600) }),
      ...(below(2) === 0 ? { chosen: true } : {}),
      ...(below(4) === 0 ? { launcher: true } : {}),
    }
  })
}

interface Case {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly database: string
  readonly simulator: Simulator
  /** Under which the machine is made. */
  readonly vmid: number
}

/** The lowest id that is free, where croft chooses. */
const FIRST_ID = 100

const MACHINE = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web-1}
spec:
  forProvider:
    nodeName: fun-bedbug
    vmId: 114
    started: true
    onBoot: true
    cpu: [{cores: 1, type: host}]
    memory: [{dedicated: 4096}]
    disk: [{interface: scsi0, datastoreId: local, size: 50, importFrom: local:import/noble-server-cloudimg-amd64.qcow2}]
    networkDevice: [{bridge: vmbr0, model: virtio}]
    initialization:
      - datastoreId: local
        userAccount: [{username: ubuntu}]
        ipConfig: [{ipv4: [{address: dhcp}]}]
        userDataFileId: local:snippets/k3s-server-fun-bedbug.yaml
    agent: [{enabled: true}]
  providerConfigRef: {name: default}
  deletionPolicy: Orphan
`

test('[F-23] killed at any moment and run again: one machine, nothing left over', async (t) => {
  const queue = moments().values()
  const cwd = scratch()
  let killed = 0
  let cases = 0
  const ends = new Map<boolean, unknown>()

  const lane = async () => {
    const simulator = await startSimulator(['--preset', 'homelab', '--speed', String(SPEED)], cwd)
    const strangers = (await simulator.door<SimState>('GET', 'state')).guests
    for (const [number, moment] of queue) {
      const hint = `moment ${JSON.stringify(moment)}; to replay: CROFT_POINT=${number} ${LONG ? 'CROFT_LONG=1 ' : ''}node bin/run scripts/test.ts test/binary/kill.test.ts`
      const one = newCase(path.join(cwd, `case-${number}`), simulator, moment)
      if (await killAt(one, moment, hint)) killed++
      cases++
      // A run of hours says how far it is, so that one that was ended early still counts.
      if (LONG && cases % 100 === 0) t.diagnostic(`${cases} runs so far, ${killed} killed before they ended`)
      const left = soundDatabase(one.database, simulator, hint)
      noneDoubledOrLost(await simulator.door<SimState>('GET', 'state'), left, strangers, 'killed', hint)
      const made = comparable(await runToTheEnd(one, strangers, hint))
      // Wherever it was killed, it ends in the same place as every other.
      const same = moment.chosen === true
      if (!ends.has(same)) ends.set(same, made)
      assert.deepEqual(made, ends.get(same), hint)
      await simulator.door('DELETE', `guests/${one.vmid}`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  t.diagnostic(`${cases} runs, ${killed} killed before they ended`)
  assert.ok(killed * 2 > cases, 'most runs ended before they could be killed: this proved little')
})

function newCase(cwd: string, simulator: Simulator, { chosen }: Moment): Case {
  mkdirSync(cwd)
  const text = chosen === true ? MACHINE.replace('    vmId: 114\n', '') : MACHINE
  estateAt(path.join(cwd, 'estate'), simulator, { 'machine.yaml': text })
  // One home for all, so that what Node remembers of compiled sources is made once.
  const env = { HOME: path.join(cwd, '..', 'home'), PROXMOX_TOKEN: simulator.token }
  return { cwd, env, database: path.join(cwd, 'state.db'), simulator, vmid: chosen === true ? FIRST_ID : 114 }
}

function apply({ cwd, env, database }: Case, launcher = false): Running {
  const how = launcher ? { launcher: CROFT } : {}
  return start(['apply', '--yes', '--timeout', '240s', '--state', database, 'estate'], { cwd, env, ...how })
}

/** True when the program was still at work. */
async function killAt(one: Case, moment: Moment, hint: string): Promise<boolean> {
  const { simulator } = one
  const { writes, waitMs, heldMs, launcher } = moment
  await simulator.door('DELETE', 'stats')
  if (heldMs !== undefined) {
    const fault = { kind: 'delay', match: '^(POST|PUT|DELETE) ', skip: writes - 1, count: 1, delayMs: heldMs * SPEED }
    await simulator.door('POST', 'faults', fault)
  }
  const running = apply(one, launcher)
  let over = false
  void running.ended.finally(() => {
    over = true
  })
  while (!over && writes > 0 && (await simulator.stats()).writes < writes) await sleep(2)
  if (waitMs > 0) await sleep(waitMs)
  signal(running, 'SIGKILL')
  // Not until everybody has ended who can write to its output: the next run begins while the last may still be going.
  const ended = await running.exited
  const { code, stderr } = ended
  assert.ok(ended.signal === 'SIGKILL' || code === 0, `it failed by itself with ${code}: ${stderr}; ${hint}`)
  return ended.signal === 'SIGKILL'
}

/** Run again to its end, then look at the datacentre past every API. */
async function runToTheEnd(one: Case, strangers: readonly SimGuest[], hint: string): Promise<SimGuest> {
  const { simulator, cwd, env, database } = one
  const ended = await apply(one).ended
  assert.equal(ended.code, 0, `${ended.stdout}\n${ended.stderr}\n${hint}`)

  const state = await simulator.door<SimState>('GET', 'state')
  assert.deepEqual(
    state.guests.map(({ vmid }) => vmid).sort((a, b) => a - b),
    [108, 109, one.vmid].sort((a, b) => a - b),
    `other guests than declared; ${hint}`,
  )
  for (const stranger of strangers) {
    const now = state.guests.find(({ vmid }) => vmid === stranger.vmid)
    assert.deepEqual(now?.config, stranger.config, `a foreign guest was changed; ${hint}`)
  }
  for (const { name, volumes } of state.hosts) {
    for (const [storage, list] of Object.entries(volumes)) {
      const lost = list.filter(({ vmid }) => vmid !== undefined && !state.guests.some((guest) => guest.vmid === vmid))
      assert.deepEqual(lost, [], `volumes on ${storage} of ${name} belong to nobody; ${hint}`)
      // A second creation under the same id would have left a second disk beside the first.
      const disks = list.filter(({ vmid, name: volume }) => vmid === one.vmid && /disk-\d/.test(volume))
      assert.ok(disks.length <= 1, `${disks.map((disk) => disk.name).join(', ')} on ${storage} of ${name}; ${hint}`)
    }
  }
  const guest = state.guests.find(({ vmid }) => vmid === one.vmid)
  assert.ok(guest?.status === 'running', `VM ${one.vmid} is ${guest?.status}; ${hint}`)

  const writes = (await simulator.stats()).writes
  const planned = await start(['plan', '--state', database, 'estate'], { cwd, env }).ended
  assert.equal(planned.code, 0, `${planned.stdout}\n${planned.stderr}\n${hint}`)
  assert.equal((await simulator.stats()).writes, writes, `the plan wrote; ${hint}`)
  noneDoubledOrLost(state, soundDatabase(database, simulator, hint), strangers, 'ended', hint)
  return guest
}

/** What must be the same wherever it was killed: everything but what Proxmox draws by chance or takes from its clock. */
function comparable({ node, status, config, pending }: SimGuest): unknown {
  const { smbios1: _, vmgenid: __, meta: ___, net0, description, ...rest } = config
  // Each case is a separate directory with its own estate id.
  const marked = description?.replace(/(?<=estate=default\/)[0-9a-f]{16}/, '…')
  return { node, status, config: { ...rest, description: marked, net0: net0?.replace(/=[0-9A-F:]{17}/, '') }, pending }
}
