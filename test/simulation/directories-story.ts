import assert from 'node:assert/strict'
import { BINARY, programText, unitName, unitPath } from '../../sim/k3s/disk.ts'
import { startService } from '../../sim/k3s/service.ts'
import { all as objectsIn } from '../../sim/kubernetes/store.ts'
import { addBox } from '../../sim/metal/box.ts'
import { integerBetween, seededRandom } from '../../src/lib/random.ts'
import { simulateCluster } from './cluster-run.ts'
import { cloneOf, type Directory, estateOf, HAND_MADE, happen, LETTERS, newDirectory } from './directories.ts'
import { createLiveQuorums, deletedWithProof, guestsOf, k3sOf, touchedItsOwn } from './directories-oracle.ts'
import { storedText } from './run.ts'

const never = new AbortController().signal
const TOKEN = 'c0ffee00c0ffee00c0ffee00c0ffee00'
/** Older than what is declared, and with an undeclared flag: a cluster that croft would change if it were its own. */
const OLDER = 'v1.34.2+k3s1'
const APPLY_MS = 2_400_000
type Run = ReturnType<typeof simulateCluster>

/** What one story came to. */
export interface Told {
  readonly deletions: number
  readonly clusters: number
  readonly checkouts: number
  readonly lines: readonly string[]
}

/**
 * Two to four directories, some of them clones, on one hypervisor, beside a cluster made by hand; and for
 * so many turns something happens to one of them, which then plans, applies or runs. Throws where something was written,
 * wiped or deleted that should not have been. `meddle` does what a broken croft might do.
 */
export async function tellStory(
  seed: number,
  turns: number,
  hint: string,
  meddle: (run: Run) => void = () => undefined,
): Promise<Told> {
  const random = seededRandom(seed)
  const kubernetes: string[] = []
  const empty = newDirectory(random, 'a', 'none')
  const run = simulateCluster({
    seed,
    estate: estateOf({ ...empty, files: { ...empty.files, machines: new Set() } }),
    onKubernetes: (wire, endpoint) => ({
      send: (request, signal) => {
        if (request.method !== 'GET') kubernetes.push(`${endpoint} ${request.method} ${request.path}`)
        return wire.send(request, signal)
      },
      close: () => wire.close(),
    }),
  })
  await makeByHand(run)
  // Every fourth story has two checkouts: a directory and its clone, or two directories. The others have three or four.
  const two = seed % 4 === 2
  const cloned = !two || seed % 8 === 2
  const letters = LETTERS.slice(0, two ? (cloned ? 1 : 2) : integerBetween(random, 2, 3))
  const originals = letters.map((letter, at) =>
    newDirectory(random, letter, at === 0 ? 'machines' : random.next() < 0.5 ? 'hand-made' : 'none'),
  )
  const clones = cloned ? [cloneOf(originals[integerBetween(random, 0, originals.length - 1)] as Directory)] : []
  const all = [...originals, ...clones]
  const lines: string[] = []
  const told = () => `${lines.join('\n')}\n${hint}`
  const quorums = createLiveQuorums(run)
  const isHandMade = (name: string) => HAND_MADE.has(name)
  const handMade = k3sOf(run, isHandMade)
  let deletions = 0

  const turn = async (one: Directory, deed: 'plans' | 'applies' | 'runs for a while') => {
    lines.push(`  ${one.title} ${deed}`)
    run.disk = one.disk
    run.estate = estateOf(one)
    run.vault.kept.clear()
    for (const [name, secrets] of one.vault) run.vault.kept.set(name, secrets)
    // Tasks of another directory continue by themselves: let them end before changes are judged.
    await run.clock.advanceTo(run.clock.now() + 120_000)
    const before = guestsOf(run)
    const known = new Set(one.disk.records.keys())
    const seenEvents = one.disk.events.length
    const requests = run.requests.length
    kubernetes.length = 0
    const process = run.start()
    const onPass = () => quorums.look(told)
    if (deed === 'plans') {
      const [stored, disks, objects] = [storedText(one.disk), k3sOf(run, () => true), objectsOf(run)]
      await run.clock.runUntil(process.engine.plan(run.estate, never))
      const wrote = run.requests.slice(requests).filter((line) => !/ POST \S*\/agent\/exec /.test(line))
      assert.deepEqual([wrote, kubernetes], [[], []], `a plan wrote; ${told()}`)
      assert.equal(storedText(one.disk), stored, `a plan wrote to the database; ${told()}`)
      assert.deepEqual(new Map(run.vault.kept), one.vault, `a plan wrote to the vault; ${told()}`)
      assert.equal(
        k3sOf(run, () => true),
        disks,
        `a plan wrote to a node; ${told()}`,
      )
      assert.equal(objectsOf(run), objects, `a plan wrote to a cluster; ${told()}`)
    } else if (deed === 'applies') {
      await run.untilSettled(process, { mostMs: APPLY_MS, onPass })
    } else {
      for (let pass = 0; pass < 6; pass++) {
        await run.passes(process, 1)
        onPass()
      }
    }
    process.kill()
    one.vault = new Map(run.vault.kept)
    quorums.look(told)
    const after = guestsOf(run)
    touchedItsOwn(one, before, after, { proxmox: run.requests.slice(requests), kubernetes }, told)
    assert.equal(k3sOf(run, isHandMade), handMade, `a cluster that somebody made by hand was changed; ${told()}`)
    const ids = new Set([...after.values()].map(({ id }) => id))
    const renames = one.disk.events.slice(seenEvents).filter(({ reason }) => reason === 'Renamed')
    // A machine that was given another name in the files is the same guest under that name.
    const isRenamed = (name: string, id: string) =>
      ids.has(id) && renames.some(({ key }) => key?.endsWith(`/${name}`) === true)
    const gone = [...before].flatMap(([name, { id }]) => (after.has(name) || isRenamed(name, id) ? [] : [name]))
    deletions += gone.length
    deletedWithProof(one, gone, known, seenEvents, told)
  }

  for (const one of originals) await turn(one, 'applies')
  meddle(run)
  for (let count = 1; count <= turns; count++) {
    const one = all[integerBetween(random, 0, all.length - 1)] as Directory
    lines.push(happen(random, one, all, count))
    const asks = random.next()
    await turn(one, asks < 0.25 ? 'plans' : asks < 0.55 ? 'runs for a while' : 'applies')
  }
  return { deletions, clusters: quorums.formed, checkouts: all.length, lines }
}

function objectsOf(run: Run): string {
  return JSON.stringify(
    [...run.datacentre.world.k3s.clusters.values()].map(({ store }) =>
      ['/nodes', '/secrets', '/configmaps'].map((table) =>
        objectsIn(store, table).map(({ metadata }) => [metadata.name, metadata.annotations]),
      ),
    ),
  )
}

/** Makes three boxes that run K3s with etcd, configured by hand, without marks of croft. */
async function makeByHand(run: Run): Promise<void> {
  const { world } = run.datacentre
  const [[first] = ['']] = HAND_MADE
  for (const [name, address] of HAND_MADE) {
    const { machine, computer } = addBox(world, { name, addresses: [address] })
    const join = name === first ? { 'cluster-init': true } : { server: `https://${HAND_MADE.get(first)}:6443` }
    machine.files.write(BINARY, programText(OLDER))
    machine.files.write(
      '/etc/rancher/k3s/config.yaml',
      JSON.stringify({ 'node-name': name, 'node-ip': address, token: TOKEN, disable: ['traefik'], ...join }),
    )
    machine.files.write(unitPath('server'), '[Service]\n')
    machine.enabled.add(unitName('server'))
    startService(computer)
    const isIn = () =>
      [...world.k3s.clusters.values()].some(({ members }) =>
        [...members.values()].some((member) => member.name.startsWith(`${name}-`) && !member.learner),
      )
    await run.clock.runUntil(isIn, { maxMs: 600_000 })
  }
}
