import { parseArgs } from 'node:util'
import { REAL_PACKAGES, TEST_PACKAGES } from '../../scripts/packages.ts'
import { enterTestSystem } from '../../scripts/test-system.ts'
import { adoptions } from './chapters/adoptions.ts'
import { answers } from './chapters/answers.ts'
import { beginnings, ground } from './chapters/beginnings.ts'
import { takeCare } from './chapters/care.ts'
import { changes } from './chapters/changes.ts'
import { losses } from './chapters/losses.ts'
import { names } from './chapters/names.ts'
import { operator } from './chapters/operator.ts'
import { restores } from './chapters/restores.ts'
import { rotations } from './chapters/rotations.ts'
import { labMissing, openLab } from './hosts.ts'
import { programs } from './programs.ts'
import { openStage, type Stage } from './stage.ts'
import { Ended, type Story, tell } from './story.ts'

/*
 * `npm run test:k3s`: croft as a person runs it, on hosts with systemd over SSH, with a real K3s. The hosts are in a
 * network namespace of their own. K3s is given as CROFT_K3S=/path[,/path-of-a-second-version] or as --binary, or the
 * official release is fetched and proved by its checksum. `--only changes` runs that chapter, on a cluster
 * that croft makes first where the chapter needs one; `--twice` runs everything twice.
 */
enterTestSystem([...TEST_PACKAGES, ...REAL_PACKAGES], { make: true })
const { values } = parseArgs({
  options: {
    binary: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    twice: { type: 'boolean' },
    keep: { type: 'boolean' },
    minutes: { type: 'string' },
  },
})
const print = (line: string) => process.stdout.write(`${line}\n`)
const given = values.binary ?? (process.env.CROFT_K3S ?? '').split(',').filter((path) => path !== '')

type Chapter = (stage: Stage, story: Story) => Promise<void>

const CHAPTERS: Readonly<Record<string, Chapter>> = {
  beginnings,
  changes,
  restores,
  rotations,
  losses,
  care: takeCare(Number(values.minutes ?? '3')),
  operator,
  names,
  adoptions,
  answers,
}
/** They begin from empty disks themselves. */
const ALONE = ['names', 'adoptions', 'answers']

process.exitCode = await main()
process.exit()

async function main(): Promise<number> {
  const missing = labMissing()
  if (missing !== undefined) return skipped(missing)
  const strange = (values.only ?? []).find((name) => CHAPTERS[name] === undefined)
  if (strange !== undefined) {
    print(`there is no chapter ${strange}; there are: ${Object.keys(CHAPTERS).join(', ')}`)
    return 2
  }
  const found = await programs(given)
  if (typeof found === 'string') return skipped(found)
  print(`K3s ${found.map(({ version }) => version).join(' and ')}, five hosts with systemd over SSH`)
  const lab = openLab(['h1', 'h2', 'h3', 'h4', 'h5'])
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const stage = await openStage(lab, found)
  const story = tell(print)
  const startedMs = Date.now()
  try {
    for (let round = 1; round <= (values.twice === true ? 2 : 1); round++)
      for (const chapter of chapters()) await chapter(stage, story)
  } catch (error) {
    if (!(error instanceof Ended)) throw error
  } finally {
    if (values.keep === true) await kept(lab.directory)
    await stage.close()
    await lab.close()
  }
  const failed = story.lines.filter((line) => line.failed !== undefined)
  const minutes = ((Date.now() - startedMs) / 60_000).toFixed(1)
  print(`${story.lines.length - failed.length} steps ok, ${failed.length} failed, ${minutes} minutes`)
  return failed.length === 0 ? 0 : 1
}

/** Every chapter continues where the first one ends, unless it starts from empty hosts. */
function chapters(): readonly Chapter[] {
  const only = values.only ?? Object.keys(CHAPTERS)
  const wanted = Object.entries(CHAPTERS).flatMap(([name, chapter]) => (only.includes(name) ? [chapter] : []))
  const needsGround = !only.includes('beginnings') && only.some((name) => !ALONE.includes(name))
  return needsGround ? [ground, ...wanted] : wanted
}

function skipped(why: string): number {
  print(`test:k3s is skipped: ${why}`)
  return 0
}

/** Keeps the hosts for inspection until this program ends. */
async function kept(directory: string): Promise<void> {
  print(`the hosts stay; ${directory} has the key, the manifests and the log. End with Ctrl-C.`)
  await new Promise<void>((resolve) => {
    const tick = setInterval(() => {}, 60_000)
    process.once('SIGUSR1', () => {
      clearInterval(tick)
      resolve()
    })
  })
}
