// A rotation of the token that is interrupted, at every write of the record and every call that changes a node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOperation } from '../../engine/clusters/operation.ts'
import { ShellFailure } from '../../lib/shell.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { planRotation } from '../../plan/clusters/rotate.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const NAMES = 's1 s2 s3'
const well = (observed: ObservedCluster) =>
  allReady(NAMES)(observed) &&
  observed.members !== 'unknown' &&
  observed.members.length === 3 &&
  observed.members.every(({ up, learner }) => up === 'yes' && !learner)

/** Counts changing calls, and fails everything before or after the one with this number. */
function cutting(lab: DriverLab, at: number, side: 'before' | 'after') {
  let count = 0
  let dead = false
  const passing = async <T>(deed: () => Promise<T>): Promise<T> => {
    const mine = count++
    if (mine === at && side === 'before') dead = true
    if (dead) throw new ShellFailure('maybe', 'timeout', 'cut')
    const result = await deed()
    if (mine === at) dead = true
    if (dead) throw new ShellFailure('maybe', 'timeout', 'cut')
    return result
  }
  const write = lab.vault.write
  lab.vault.write = (secrets) => passing(() => write(secrets))
  const surroundings = (): ClusterSurroundings => {
    const around = lab.surroundings()
    const nodes = [...around.nodes].map(([name, reach]) => {
      const { shell } = reach
      if (shell === undefined) return [name, reach] as const
      const run: typeof shell.run = (argv, options) => {
        if (dead) return Promise.reject(new ShellFailure('maybe', 'timeout', 'cut'))
        return argv.some((word) => ['put', 'rotate-token', 'restart', 'snapshot'].includes(word))
          ? passing(() => shell.run(argv, options))
          : shell.run(argv, options)
      }
      return [name, { ...reach, shell: { ...shell, run } }] as const
    })
    return { ...around, nodes: new Map(nodes) }
  }
  return {
    surroundings,
    isDead: () => dead,
    mend: () => {
      lab.vault.write = write
    },
    count: () => count,
  }
}

async function rotate(lab: DriverLab, at: number, side: 'before' | 'after'): Promise<number> {
  const cut = cutting(lab, at, side)
  const ended = new AbortController()
  const operation = planRotation('token', lab.spec, (await lab.look()).observed, lab.clock.now())
  await lab.clock.runUntil(
    runOperation(operation, {
      operator: lab.operator,
      clock: lab.clock,
      signal: ended.signal,
      surroundings: async () => {
        if (cut.isDead()) ended.abort()
        return cut.surroundings()
      },
      setHold: async () => {},
      unsure: async () => undefined,
      intend: async () => {},
      onStep: () => {},
    }),
  )
  cut.mend()
  return cut.count()
}

async function formed(): Promise<DriverLab> {
  const lab = driverLab(NAMES)
  await lab.until(well)
  await lab.clock.advanceTo(lab.clock.now() + 60_000)
  return lab
}

test('a token whose rotation ends anywhere is known, and every server comes back after a restart', async () => {
  const total = await rotate(await formed(), Number.POSITIVE_INFINITY, 'before')
  assert.ok(total >= 9, `${total} calls change something`)
  for (let at = 0; at < total; at++)
    for (const side of ['before', 'after'] as const) {
      const lab = await formed()
      await rotate(lab, at, side)
      lab.restart()
      for (const node of ['s1', 's2', 's3']) {
        await lab.look()
        assert.equal((await lab.perform({ verb: 'restart-k3s', node })).result, 'done', `${side} ${at}`)
        await lab.clock.advanceTo(lab.clock.now() + 60_000)
        await lab.until(well, 300).catch(async (error: Error) => {
          console.log(
            JSON.stringify((await lab.look()).observed.members),
            JSON.stringify(
              (await lab.look()).observed.nodes.map((n) => [n.name, typeof n.kube === 'object' && n.kube.ready]),
            ),
          )
          const nodes = error.message.match(/"(service|failure|phase|reason|allow|awaits|ready|up)": .*/g) ?? []
          assert.fail(`cut ${side} ${at}, ${node} restarted: ${nodes.join(' ')}`)
        })
      }
      const [cluster] = [...lab.world.k3s.clusters.values()]
      const recorded = lab.vault.kept.get('homelab')?.password.reveal()
      assert.equal(cluster?.bootstrap.password, recorded, `cut ${side} ${at}: the recorded password is in force`)
    }
})
