import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { yamlWord } from '../lib/yaml-word.ts'
import { type Estate, namedEstate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import { runGit } from '../source/git/git-run.ts'
import { note } from './output.ts'
import { clean } from './render/text.ts'
import type { EngineOptions, LoadedEstate, Runtime } from './runtime.ts'
import { CliError } from './verb.ts'

const FILE = 'estate.yaml'
const UID = /^[0-9a-f]{16}$/

/** Fails init, whose job is to write the file; an apply in a read-only directory works without it. */
export class EstateNotWritten extends CliError {}

/**
 * Gives a directory its identity: writes an Estate with a uid into it if it has none. Asks at most once, and writes
 * only with a person's consent. Reports whether it wrote one.
 */
export async function nameEstate(
  runtime: Runtime,
  directory: string,
  { declarations }: LoadedEstate,
  records: readonly ResourceRecord[],
  yes: boolean,
): Promise<boolean> {
  if (runtime.writeFile === undefined || declarations.some(({ kind }) => kind === 'Estate')) return false
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return false
  // A directory that has lost its Estate file already had a uid: a new one would orphan its resources.
  const known = uidIn(records)
  if (known === undefined && (await committed(directory)))
    throw new CliError(
      `${FILE} is missing from ${directory}, and its last commit has it. Bring it back: git -C ${directory} checkout HEAD -- ${FILE}. With a new one this directory would own nothing of what it made; to want that, commit the removal first.`,
    )
  const uid = known ?? randomBytes(8).toString('hex')
  const text = estateYaml(path.basename(directory), uid)
  if (KUSTOMIZATIONS.some((name) => existsSync(path.join(directory, name)))) {
    note(
      runtime,
      `This directory has no Estate yet. Add this to what its kustomization names, and commit it:\n\n${text}`,
    )
    return false
  }
  if (!yes) {
    if (!runtime.interactive) return false
    const answer = await runtime.ask(
      `This directory has no ${FILE} yet, by which croft recognizes on every computer what belongs to it. Write it? (yes) `,
    )
    if (answer !== 'yes' && answer !== 'y' && answer !== '') return false
  }
  const file = path.join(directory, FILE)
  const written = await runtime.writeFile(file, text).catch((error: unknown): never => {
    const why = clean(error instanceof Error ? error.message : '')
    throw new EstateNotWritten(
      `${file} was not written: ${why}. Without it croft does not recognize on another computer what belongs to this directory. Make the directory writable, and run croft init again.`,
    )
  })
  if (!written)
    throw new EstateNotWritten(`${file} exists and declares no Estate. Rename or remove it, and run croft init again.`)
  note(runtime, `Wrote ${FILE}: this directory is the estate ${uid}, wherever it is moved or cloned to. Commit it.`)
  return true
}

/**
 * Returns the declarations of a directory without an Estate, under the uid in its database, as an apply would. Warns
 * that the Estate is missing.
 */
export function asKnown(
  { declarations, estate }: Pick<LoadedEstate, 'declarations' | 'estate'>,
  records: readonly ResourceRecord[],
  tell: (text: string) => void,
): Estate {
  if (declarations.length === 0) return estate
  const uid = uidIn(records)
  if (declarations.some(({ kind }) => kind === 'Estate')) {
    const declared = new Set(estate.resources.map(({ key }) => key))
    if (uid === undefined && records.some(({ key }) => declared.has(key)))
      tell(
        'The database of this directory is from before its Estate had a uid. croft takes over what it knows and writes the uid into the marks of its machines; nothing else follows from that.',
      )
    return estate
  }
  if (uid === undefined) {
    tell(
      `This directory has no ${FILE} yet; croft apply writes it, and so does croft init. By its uid croft recognizes, on every computer, what belongs to this directory.`,
    )
    return estate
  }
  tell(
    `The Estate of this directory is missing. Its database knows it as the estate ${uid}, and croft continues with that: bring ${FILE} back from Git, or let croft init write it.`,
  )
  return namedEstate(estate, uid)
}

/** Without Git, or in an unreadable repository, it is unknown. */
async function committed(directory: string): Promise<boolean> {
  try {
    const text = await runGit({ directory, arguments: ['show', `HEAD:./${FILE}`] })
    return /^kind: *["']?Estate["']? *$/m.test(text.toString('utf8'))
  } catch {
    return false
  }
}

function uidIn(records: readonly ResourceRecord[]): string | undefined {
  return records.map(({ declaredBy }) => declaredBy ?? '').find((by) => UID.test(by))
}

/**
 * Seals each cluster's identity into the directory, so that the directory and one key are enough. Only if the estate
 * has a uid: a trial directory is left as it is.
 */
export async function keepEscrow(runtime: Runtime, options: EngineOptions, { clusters = [], sources = [] }: Estate) {
  const { directory } = options
  if (runtime.writeFile === undefined || runtime.openClusters === undefined || clusters.length === 0) return
  if (!sources.some((one) => UID.test(one)) || statSync(directory).isDirectory() !== true) return
  const { deps } = await runtime.openClusters(options)
  for (const { name } of clusters) {
    const file = path.join('escrow', `${name}.cluster.age`)
    try {
      const sealed = await deps.vault.sealed?.sealAnew(name)
      if (sealed === undefined) continue
      await runtime.writeFile(path.join(directory, file), sealed, { replace: true })
      note(runtime, `Wrote ${file}: CA and token of ${name}, sealed to your age key. Commit it.`)
    } catch (error) {
      note(runtime, `Warning: ${file} was not written: ${clean(error instanceof Error ? error.message : '')}`)
    }
  }
}

const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

function estateYaml(folder: string, uid: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
  return `apiVersion: croft.dev/v1alpha1
kind: Estate
metadata:
  name: ${yamlWord(name === '' ? 'home' : name)}
spec:
  # Drawn once. Everything that croft makes from this directory carries it; do not change it.
  uid: "${uid}"
`
}
