import type { Engine } from '../../engine/engine.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Plan } from '../../model/plan.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/port.ts'
import type { LoadedEstate, Runtime } from '../runtime.ts'

/** A runtime for tests: what is written is kept, and nothing outside is touched unless a test brings it. */
export function fakeRuntime(
  parts: Partial<Runtime> = {},
): Runtime & { readonly written: { out: string; err: string } } {
  const written = { out: '', err: '' }
  const sink = (side: 'out' | 'err') => ({
    write: (text: string) => {
      written[side] += text
    },
    isTty: false,
    columns: 80,
  })
  const unused = async (): Promise<never> => {
    throw new Error('the test brought nothing for this')
  }
  return {
    written,
    version: '9.9.9',
    out: sink('out'),
    err: sink('err'),
    env: { HOME: '/nonexistent' },
    cwd: '/',
    interactive: false,
    clock: systemClock,
    random: { next: () => 0.5 },
    signal: new AbortController().signal,
    example: '/nonexistent',
    program: 'croft',
    ask: unused,
    kinds: async () => [],
    jsonSchema: unused,
    load: unused,
    loadAt: unused,
    follow: unused,
    openStore: unused,
    lockState: async () => ({ got: true, release: () => {} }),
    takeSchemaBack: unused,
    parseYaml: unused,
    openMemoryStore: unused,
    openEngine: unused,
    openController: unused,
    openDrivers: unused,
    rehearse: unused,
    startSimulator: unused,
    ...parts,
  }
}

export const EMPTY_ESTATE: LoadedEstate = {
  declarations: [],
  estate: {
    revision: 'r1',
    connections: [],
    resources: [],
    approvals: [],
    unreadable: [],
    incomplete: false,
    problems: [],
  },
  files: 0,
  ignored: 0,
}

/** A store and an engine that always answer this plan. `settled` counts how often something was really done. */
export function planning(
  plan: Plan,
): Pick<Runtime, 'openStore' | 'openMemoryStore' | 'openEngine'> & { settled: number } {
  const store: Store = { ...createMemoryStore(), close: async () => {} }
  const world = {
    settled: 0,
    openStore: async () => store,
    openMemoryStore: async () => store,
    openEngine: async () => engine,
  }
  const last = { plan, records: [], events: [], effects: 0, settled: true, lookAgainMs: 0 }
  const engine: Engine = {
    plan: async () => plan,
    pass: async () => last,
    settle: async () => {
      world.settled++
      return { outcome: 'settled', last, passes: 1, effects: 0 }
    },
    surroundings: async () => undefined,
    askCheck: async () => ({ passed: 'unknown', output: '' }),
    close: async () => {},
  }
  return world
}
