import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { maskTree } from '../../model/masked/masked-tree.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import type { Intention } from '../../model/record.ts'
import { shownCall } from '../../model/shown-step.ts'
import { realDirectory } from '../../state/state-file.ts'
import { existingState } from '../load.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'

const EVENTS = 2_000

/** Collects what a helper needs to see in one file, without secrets: of the environment only names. */
export const run: Verb = async (runtime, [directory = '.'], options) => {
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  await using store = await existingState(runtime, real, options)
  const [records, events, intentions, audit] = await Promise.all([
    store.it.records(),
    store.it.events({ limit: EVENTS }),
    store.it.intentions(),
    store.it.audit({ limit: EVENTS }),
  ])
  const bundle = {
    croft: runtime.version,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    variables: Object.keys(runtime.env).filter((name) => /^(?:CROFT|SOPS|XDG|HTTPS?_PROXY|NO_PROXY)/.test(name)),
    revision: loaded.estate.revision,
    files: loaded.files,
    connections: loaded.estate.connections.map(({ name, driver, endpoint, estate, limits }) => ({
      name,
      driver,
      endpoint,
      estate,
      limits,
    })),
    problems: loaded.estate.problems,
    declarations: loaded.declarations.map(({ key, origin, generation, policy }) => ({
      key,
      origin,
      generation,
      policy,
    })),
    records,
    events,
    intentions: intentions.map((intention) => ({ ...intention, step: shownStep(intention) })),
    audit,
  }
  const file = path.resolve(runtime.cwd, String(options.write))
  try {
    writeFileSync(file, `${printed(maskTree(bundle, '', maskMessage) as object)}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error'
    throw new CliError(`${file} cannot be written (${code}). Name another file, one that does not exist, with --write.`)
  }
  runtime.out.write(`${file}: look through it before you hand it on; it names machines, hosts and addresses.\n`)
  return EXIT.ok
}

/**
 * Escapes control characters. The bundle holds foreign texts and is read in a terminal, and JSON leaves some characters
 * that a terminal obeys or that reverse a line. Escaped, they mean the same.
 */
function printed(bundle: object): string {
  return JSON.stringify(bundle, undefined, 2).replaceAll(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Removes the step's parameters and files, which may be private. */
function shownStep({ step }: Intention): object {
  if (step.about !== undefined) return { verb: step.verb, summary: step.summary }
  const { method, path } = shownCall(step)
  return { verb: step.verb, summary: step.summary, call: { method, path } }
}
