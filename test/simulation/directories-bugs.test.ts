import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { computerOf } from '../../sim/guest/life.ts'
import { DATA } from '../../sim/k3s/disk.ts'
import { tellStory } from './directories-story.ts'

// A property that nothing breaks proves nothing: each of these breaks the product in one way, and the stories of the
// directories must say so.

interface Bug {
  readonly bug: string
  readonly changes: readonly (readonly [file: string, from: string, to: string])[]
  readonly found: RegExp
  /** A story in which it does harm. */
  readonly seed: number
}

const BUGS: readonly Bug[] = [
  {
    bug: 'programs are run in every guest that carries the mark',
    changes: [['src/engine/clusters/surroundings.ts', 'if (proof === undefined) continue', '']],
    found: /sent .*agent\/exec.* is [abcd]-/,
    seed: 1,
  },
  {
    bug: 'absence is proof',
    changes: [
      ['src/plan/proof.ts', 'if (record !== undefined && isDeclaredHere(record, sources))', "if (key !== '')"],
      ['src/plan/proof.ts', "record.declaredBy ?? 'this directory' }", "record?.declaredBy ?? 'this directory' }"],
    ],
    found: /sent .* is [abcd]-|without a record or a commit/,
    seed: 1,
  },
  {
    bug: 'a cluster that somebody made by hand is made as declared',
    changes: [
      [
        'src/plan/cluster/taken-over.ts',
        'return local === undefined ? [...servers, ...agents].some(isStrangers) : isStrangers(node)',
        'return false',
      ],
    ],
    found: /made by hand was changed/,
    seed: 1,
  },
  {
    bug: 'the event of a deletion does not say why',
    changes: [['src/engine/judge-events.ts', 'proof: showProof(proof)', 'plan: showProof(proof)']],
    found: /has no proof/,
    seed: 225,
  },
]

const TURNS = 2
const root = path.resolve(import.meta.dirname, '../..')
const scratch = mkdtempSync(path.join(tmpdir(), 'croft-directories-'))
after(() => rmSync(scratch, { recursive: true }))

for (const [index, { bug, changes, found, seed }] of BUGS.entries()) {
  test(`the stories of the directories find a planted bug: ${bug}`, async () => {
    const tell = await planted(index, changes)
    await assert.rejects(tell(seed, TURNS, `seed ${seed}`), (error) => {
      assert.match(error instanceof Error ? error.message : '', found)
      return true
    })
  })
}

// The guards against wiping a member stand behind one another: no single broken line gets that far. So the wipe is done by
// hand, to see that the oracle would see it.
test('the stories of the directories see it when a member of a live quorum is wiped', async () => {
  const wiped = tellStory(225, TURNS, '', ({ datacentre: { world } }) => {
    const [, guest] = [...world.guests].find(([, { config }]) => config.get('name') === 'a-s2') ?? []
    assert.ok(guest)
    computerOf(world, guest).machine.files.remove(DATA)
  })
  await assert.rejects(wiped, /has a vote and no data any more|has lost its majority/)
})

/** A copy of the sources with the bug in it, so that the real ones stay as they are. */
async function planted(index: number, changes: Bug['changes']): Promise<typeof tellStory> {
  const copy = path.join(scratch, String(index))
  mkdirSync(path.join(copy, 'test'), { recursive: true })
  for (const folder of ['src', 'sim', 'test/simulation', 'test/cluster-ground.ts', 'package.json'])
    cpSync(path.join(root, folder), path.join(copy, folder), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  for (const [file, from, to] of changes) {
    const text = readFileSync(path.join(copy, file), 'utf8')
    assert.equal(text.split(from).length, 2, `${file} holds exactly once: ${from}`)
    writeFileSync(
      path.join(copy, file),
      text.replace(from, () => to),
    )
  }
  const at = pathToFileURL(path.join(copy, 'test/simulation/directories-story.ts')).href
  const { tellStory: tell } = (await import(at)) as { readonly tellStory: typeof tellStory }
  return tell
}
