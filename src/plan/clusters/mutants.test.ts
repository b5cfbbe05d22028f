import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type Coordinate, walk } from './testing/walk.ts'

/** A plausible bug, as a change of the source. */
interface Mutant {
  readonly bug: string
  readonly changes: readonly (readonly [file: string, from: string, to: string])[]
  /** The failure that the walk must report. */
  readonly found: RegExp
}

const MUTANTS: readonly Mutant[] = [
  {
    bug: 'unknown counts as up',
    changes: [['quorum.ts', "return member.up === 'yes'", "return member.up !== 'no'"]],
    found: /took etcd from|two servers are down/,
  },
  {
    bug: 'the guard is off by one',
    changes: [
      [
        'quorum.ts',
        "target.up === 'no' || others.up >= now.majority",
        "target.up === 'no' || others.up + 1 >= now.majority",
      ],
    ],
    found: /took etcd from/,
  },
  {
    bug: 'the member is removed before the node is drained',
    changes: [
      [
        'replace.ts',
        'marked(view, node, purpose, reason) ??',
        'removeMember(view, node, reason) ?? marked(view, node, purpose, reason) ??',
      ],
    ],
    found: /removed before it was drained/,
  },
  {
    bug: 'servers are stopped with their pods',
    changes: [['replace.ts', 'emptied(view, node) ??', '']],
    found: /before it was drained/,
  },
  {
    bug: 'a second server is begun while the first is under work',
    changes: [
      [
        'coordinate.ts',
        'return firstOf([\n    () => underWork(view),',
        'return merge([atWill(view), underWork(view)]).steps.length > 0 ? merge([atWill(view), underWork(view)]) : firstOf([',
      ],
      [
        'upgrade.ts',
        'wantedChange(view, node, rollout) !== undefined)',
        'wantedChange(view, node, rollout) !== undefined && kubeOf(node)?.work === undefined)',
      ],
      [
        'coordinate.ts',
        "const [node] = [...marked].sort((a, b) => Number(a.member?.up === 'yes') - Number(b.member?.up === 'yes'))\n  if (node === undefined) return NOTHING\n  return firstOf([() => yielding(view, node), () => departing(view, node), () => begunWork(view, node)])",
        'return merge(marked.map((node) => firstOf([() => departing(view, node), () => begunWork(view, node)])))',
      ],
    ],
    found: /two servers are down|took etcd from/,
  },
  {
    bug: 'the machine is destroyed while its node still votes',
    changes: [
      [
        'replace.ts',
        'stopped(view, node, reason, permit) ??\n      removeMember(view, node, reason, permit) ??',
        '(isEmpty(offTheMachine(view, node, reason, permit)) ? undefined : offTheMachine(view, node, reason, permit)) ??',
      ],
    ],
    found: /while it holds a vote/,
  },
  {
    bug: 'nobody remembers that the cluster was formed',
    changes: [
      ['view.ts', 'if (identity?.formed === true) return true', ''],
      ['view.ts', 'return nodes.some(', 'return false && nodes.some('],
    ],
    found: /a second cluster/,
  },
  {
    bug: 'a failed join is not cleared away',
    changes: [
      [
        'arrival.ts',
        "return { is: 'busy', finding: cured(view, node, local, running) }",
        "return { is: 'ready-to-join' }",
      ],
    ],
    found: /joins with data|not settled/,
  },
  {
    bug: 'a rollout keeps the turn although another server is away',
    changes: [
      [
        'coordinate.ts',
        'const away = untouched ? otherAway(view, node) : undefined',
        'const away = undefined as string | undefined',
      ],
    ],
    found: /not settled/,
  },
]

const MOST_WALKS = 1500
const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'croft-mutants-'))
after(() => rmSync(scratch, { recursive: true }))

describe('the walk finds planted bugs', () => {
  for (const [index, { bug, changes, found }] of MUTANTS.entries()) {
    test(bug, async () => {
      const coordinate = await plant(index, changes)
      const seen: string[] = []
      for (let seed = 1; seed <= MOST_WALKS && !seen.some((told) => found.test(told)); seed++) {
        const settle = found.test('not settled')
        const { breaches, unsettled } = walk(coordinate, seed, { doubt: settle ? 0.05 : 0.1, settle })
        seen.push(...breaches, ...(unsettled === undefined ? [] : [unsettled]))
      }
      assert.ok(
        seen.some((told) => found.test(told)),
        `not found in ${MOST_WALKS} walks: ${seen.slice(0, 3).join('; ')}`,
      )
    })
  }
})

/** Copies the sources with the bug, so that the real ones stay unchanged. */
async function plant(index: number, changes: Mutant['changes']): Promise<Coordinate> {
  const copy = join(scratch, String(index))
  for (const folder of ['model', 'lib', 'k3s', 'plan/clusters'])
    cpSync(join(root, folder), join(copy, folder), { recursive: true })
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
  for (const [file, from, to] of changes) {
    const path = join(copy, 'plan/clusters', file)
    const text = readFileSync(path, 'utf8')
    assert.equal(text.split(from).length, 2, `${file} holds exactly once: ${from}`)
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
  }
  const module: { coordinate: Coordinate } = await import(pathToFileURL(join(copy, 'plan/clusters/coordinate.ts')).href)
  return module.coordinate
}
