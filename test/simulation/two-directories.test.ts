import assert from 'node:assert/strict'
import { test } from 'node:test'
import { integerBetween, type Random, seededRandom } from '../../src/lib/random.ts'
import { type Estate, estateMark } from '../../src/model/estate.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import { committedAfter } from './git-history.ts'
import { estateOf } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'two-directories.test.ts'
const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']
const never = new AbortController().signal

/** One directory with its database, its history and what it says it is. */
interface Directory {
  readonly letter: string
  /** Absent: made before there were uids, and not named since. */
  uid: string | undefined
  /** Where it lies: a renamed folder is another place. */
  place: string
  /** Is it a clone with its history, or only a copy of the files? */
  git: boolean
  names: Set<string>
  /** Everything it has ever declared. */
  readonly ever: Set<string>
  disk: MemoryDisk
  older: MemoryDisk | undefined
}

function declared({ names, uid, place, git, ever }: Directory): Estate {
  const wanted = [...names].sort()
  const made = (list: readonly string[]): Estate => {
    const plain = estateOf(list.map((name) => ({ name, host: HOSTS[name.length % HOSTS.length] ?? '' })))
    const by = uid ?? place
    return {
      ...plain,
      resources: plain.resources.map((one) => ({
        ...one,
        estate: estateMark('default', uid),
        declaredBy: by,
        needs: one.needs,
      })),
      sources: [place, ...(uid === undefined ? [] : [uid])],
    }
  }
  const now = made(wanted)
  return git ? committedAfter(made([...ever].sort()), now) : now
}

function guests(run: Simulation): ReadonlyMap<string, string> {
  return new Map(
    [...run.datacentre.world.guests.values()].flatMap(({ config }) => {
      const name = config.get('name') ?? ''
      return /^[abcd]-/.test(name) ? [[name, JSON.stringify([...config])] as const] : []
    }),
  )
}

/** Lets tasks of the previous turn end: a disk that grows meanwhile would be counted as this turn's. */
async function untilQuiet({ clock, datacentre }: Simulation): Promise<void> {
  const works = () => [...datacentre.world.hosts.values()].some(({ runningTasks }) => runningTasks.size > 0)
  for (let seconds = 0; works() && seconds < 600; seconds++) await clock.runUntil(clock.sleep(1_000))
  assert.ok(!works(), 'a task runs for ten minutes')
}

/** One of the things that happen to people and their files. */
function happen(random: Random, one: Directory, count: number): string {
  switch (integerBetween(random, 0, 7)) {
    case 0:
    case 1: {
      const name = `${one.letter}-${count}`
      one.names.add(name)
      one.ever.add(name)
      return `${one.letter} declares ${name}`
    }
    case 2: {
      const [name] = [...one.names].filter(() => random.next() < 0.6)
      if (name !== undefined) one.names.delete(name)
      return `${one.letter} removes ${name ?? 'nothing'}`
    }
    case 3:
      one.older = createMemoryStore(one.disk).snapshot()
      return `${one.letter} is backed up`
    case 4:
      one.disk = createMemoryStore().disk
      return `${one.letter} loses its database`
    case 5:
      if (one.older !== undefined) one.disk = one.older
      return `${one.letter} gets an older database back`
    case 6:
      one.place = `directory /${one.letter}/${count}`
      one.disk = createMemoryStore().disk
      one.git = random.next() < 0.5
      return `${one.letter} is moved to ${one.place}${one.git ? '' : ', without its history'}`
    default:
      one.uid ??= one.letter.repeat(16)
      return `${one.letter} is named`
  }
}

test('[D-02] two to four directories on one hypervisor, and whatever happens to them: each touches its own alone, and deletes with proof', async () => {
  let deletions = 0
  for (const seed of seeds(6, 200)) {
    const hint = replay(FILE, seed)
    const random = seededRandom(seed)
    const letters = ['a', 'b', 'c', 'd'].slice(0, integerBetween(random, 2, 4))
    const all = letters.map(
      (letter): Directory => ({
        letter,
        uid: random.next() < 0.5 ? letter.repeat(16) : undefined,
        place: `directory /${letter}`,
        git: random.next() < 0.5,
        names: new Set([`${letter}-0`]),
        ever: new Set([`${letter}-0`]),
        disk: createMemoryStore().disk,
        older: undefined,
      }),
    )
    const run = simulate({ seed, estate: estateOf([]) })
    const story: string[] = []
    for (let turn = 1; turn <= 10; turn++) {
      const one = all[integerBetween(random, 0, all.length - 1)] as Directory
      story.push(happen(random, one, turn))
      await untilQuiet(run)
      const before = guests(run)
      const lost = one.disk.records.size === 0
      const known = new Set(one.disk.records.keys())
      run.disk = one.disk
      run.estate = declared(one)
      const seen = one.disk.events.length
      const asks = random.next()
      const told = () => `${story.join('\n')}\n${hint}`
      if (asks < 0.25) {
        const requests = run.requests.length
        await run.clock.runUntil(run.start().engine.plan(run.estate, never))
        assert.equal(run.requests.length, requests, `a plan wrote; ${told()}`)
        story.push(`  ${one.letter} plans`)
      } else if (asks < 0.6) {
        await run.passes(run.start(), 3)
        story.push(`  ${one.letter} runs for a while`)
      } else {
        await run.untilSettled(run.start())
        story.push(`  ${one.letter} applies`)
      }
      const after = guests(run)
      for (const [name, config] of before) {
        if (name.startsWith(`${one.letter}-`)) continue
        assert.equal(after.get(name), config, `${one.letter} touched ${name}; ${told()}`)
      }
      for (const name of before.keys()) {
        if (after.has(name)) continue
        deletions++
        assert.ok(!one.names.has(name), `${name} is declared; ${told()}`)
        const proven = known.has(`EnvironmentVM/${name}`) || (one.git && one.ever.has(name))
        assert.ok(proven, `${name} went without a record or a commit (${lost ? 'lost database' : ''}); ${told()}`)
        const proofs = one.disk.events
          .slice(seen)
          .flatMap(({ key, cause }) => (key === `EnvironmentVM/${name}` && cause?.call !== undefined ? [cause] : []))
        const destroyed = proofs.filter(({ call }) => call?.startsWith('DELETE') === true)
        assert.ok(
          destroyed.every(({ proof }) => proof !== undefined),
          told(),
        )
      }
    }
  }
  assert.ok(deletions > 0, 'the generator never deletes anything')
})
