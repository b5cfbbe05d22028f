import { emptyMemory } from '../../src/drivers/k3s/memory.ts'
import { NOW } from '../../src/plan/clusters/testing/fixture.ts'
import { croftPasses, type State } from './actor.ts'
import { isAsDeclared } from './invariants.ts'
import { emptyWorld, type Git, pass, type World, waitAfter } from './world.ts'

export interface Story {
  readonly name: string
  begins(): Promise<World>
}

const THREE: Git = { names: 's1 s2 s3 a1', version: 'v1.34.3+k3s1', flag: '', dataMayGo: false, method: 'inPlace' }
const NEXT = 'v1.34.4+k3s1'

export const STORIES: readonly Story[] = [
  { name: 'form', begins: async () => emptyWorld({ ...THREE, names: 's1 s2 s3' }, NOW) },
  { name: 'rest', begins: () => formed(THREE) },
  { name: 'upgrade', begins: () => changed(THREE, { version: NEXT }) },
  { name: 'flags', begins: () => changed(THREE, { flag: 'max-pods=200' }) },
  { name: 'replace', begins: () => ordered(THREE, 's1') },
  { name: 'replace an agent', begins: () => ordered(THREE, 'a1') },
  { name: 'grow', begins: () => changed({ ...THREE, names: 's1' }, { names: 's1 s2 s3' }) },
  { name: 'shrink', begins: () => changed({ ...THREE, names: 's1 s2 s3 s4 s5' }, { names: 's1 s2 s3' }) },
  { name: 'exchange a server', begins: () => changed(THREE, { names: 's1 s2 s4 a1' }) },
  { name: 'exchange the first server', begins: () => changed(THREE, { names: 's2 s3 s4 a1' }) },
  { name: 'an agent leaves', begins: () => changed(THREE, { names: 's1 s2 s3' }) },
  { name: 'upgrade by replacement', begins: () => changed({ ...THREE, method: 'replace' }, { version: NEXT }) },
  { name: 'upgrade, where data may go', begins: () => changed({ ...THREE, dataMayGo: true }, { version: NEXT }) },
  { name: 'two servers become agents', begins: () => changed(FIVE, { turned: 's4 s5' }) },
  { name: 'two agents become servers', begins: () => changed({ ...THREE, names: 's1 a2 a3' }, { turned: 'a2 a3' }) },
  { name: 'an upgrade that is taken back', begins: () => revertible(THREE, { version: NEXT }) },
  { name: 'a flag that K3s does not know', begins: () => revertible(THREE, { flag: 'no-such-flag=1' }) },
  { name: 'form with a flag that K3s does not know', begins: async () => mistaken(THREE, { flag: 'no-such-flag=1' }) },
  {
    name: 'one server, and a flag that K3s does not know',
    begins: () => revertible({ ...THREE, names: 's1' }, { flag: 'no-such-flag=1' }),
  },
  { name: 'rotate', begins: async () => ({ ...(await formed(THREE)), command: 'rotate token' }) },
  {
    name: 'upgrade a server with SQLite',
    begins: () => without('sqlite', { ...THREE, names: 's1 a1' }, { version: NEXT }),
  },
  { name: 'an external datastore', begins: () => without('external', { ...THREE, names: 's1 s2 s3 a1' }, {}) },
  { name: 'a mirror leaves', begins: () => changed({ ...THREE, mirror: true }, { mirror: false }) },
  { name: 'a label leaves', begins: async () => unlabelled({ ...THREE, labelled: 'db' }) },
  { name: 'upgrade with pods that do not leave', begins: () => crowded(FORCES, { version: NEXT }) },
  { name: 'upgrade, with the clocks of servers an hour behind', begins: () => skewed(THREE, -HOUR, { version: NEXT }) },
  { name: 'upgrade, with the clocks of servers an hour ahead', begins: () => skewed(THREE, HOUR, { version: NEXT }) },
  {
    name: 'replace, with the clocks of servers 20 minutes behind',
    begins: async () => ({ ...(await ordered(THREE, 's3')), skewMs: -HOUR / 3 }),
  },
]

export function storyCalled(name: string): Story {
  const found = STORIES.find((story) => story.name === name)
  if (found === undefined) throw new Error(`there is no story ${name}`)
  return found
}

const FIVE: Git = { ...THREE, names: 's1 s2 s3 s4 s5' }
const FORCES: Git = { ...THREE, onTimeout: 'force' }
const HOUR = 3_600_000

async function changed(git: Git, change: Partial<Git>): Promise<World> {
  const world = await formed(git)
  return { ...world, git: { ...git, ...change } }
}

/** A cluster whose servers others set up without etcd, and that croft has taken over. */
async function without(datastore: 'sqlite' | 'external', git: Git, change: Partial<Git>): Promise<World> {
  const world = await changed(git, change)
  for (const node of Object.values(world.nodes)) {
    const { etcd: _, ...disk } = node.disk
    node.disk = disk
  }
  for (const kube of Object.values(world.kubes)) kube.etcdName = undefined
  return { ...world, datastore, members: [] }
}

async function revertible(git: Git, change: Partial<Git>): Promise<World> {
  return { ...(await changed(git, change)), before: git }
}

function mistaken(git: Git, change: Partial<Git>): World {
  return { ...emptyWorld({ ...git, ...change }, NOW), before: git }
}

async function unlabelled({ labelled: _, ...git }: Git & { readonly labelled: string }): Promise<World> {
  return { ...(await formed({ ...git, labelled: _ })), git }
}

async function crowded(git: Git, change: Partial<Git>): Promise<World> {
  const world = await changed(git, change)
  return {
    ...world,
    pods: [
      { name: 'hangs', node: 'a1', hangs: true, goes: false },
      { name: 'leaves', node: 'a1', hangs: false, goes: false },
    ],
  }
}

async function skewed(git: Git, skewMs: number, change: Partial<Git>): Promise<World> {
  return { ...(await changed(git, change)), skewMs }
}

async function ordered(git: Git, node: string): Promise<World> {
  const world = await formed(git)
  return { ...world, orders: [{ node, atMs: world.nowMs, goes: 'unseen' }] }
}

const kept = new Map<string, World>()

/** A cluster that croft has formed and that has been well for a while. */
export async function formed(git: Git): Promise<World> {
  const key = JSON.stringify(git)
  const known = kept.get(key)
  if (known !== undefined) return structuredClone(known)
  let state: State = { world: emptyWorld(git, NOW), memory: emptyMemory(), quiet: 0 }
  for (let passes = 0; !isAsDeclared(state.world) || state.quiet < 6; passes++) {
    if (passes > 300) throw new Error(`the cluster does not form: ${JSON.stringify(state.world, undefined, 1)}`)
    const { state: next } = await croftPasses(state)
    const world = structuredClone(next.world)
    pass(world, waitAfter(next.quiet))
    state = { ...next, world }
  }
  kept.set(key, state.world)
  return structuredClone(state.world)
}
