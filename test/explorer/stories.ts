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
]

async function changed(git: Git, change: Partial<Git>): Promise<World> {
  const world = await formed(git)
  return { ...world, git: { ...git, ...change } }
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
