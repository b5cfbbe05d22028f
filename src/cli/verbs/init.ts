import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { openExisting, realDirectory } from '../../state/state-file.ts'
import { noteEstate } from '../../state/state-folder.ts'
import { keepEscrow, nameEstate } from '../estate-files.ts'
import { writeFirstEstate } from '../init/first-estate.ts'
import { closing, loadOrStop, stateOf } from '../load.ts'
import { note } from '../output.ts'
import { EXIT, type Verb } from '../verb.ts'

/**
 * Gives a directory its identity, makes the key, and seals the clusters' identities: Git and one key are everything.
 * Then writes the connection and the first cluster, if flags or a person ask for them.
 */
export const run: Verb = async (runtime, [directory = '.'], options) => {
  mkdirSync(path.resolve(runtime.cwd, directory), { recursive: true })
  const real = realDirectory(runtime, directory)
  const file = stateOf(runtime, real, options)
  const found = await loadOrStop(runtime, directory, { keepGoing: true, mayBeEmpty: true })
  await using store = closing(await openExisting(runtime, file))
  const yes = options.yes === true || !runtime.interactive
  const named = await nameEstate(runtime, real, found, await store.it.records(), yes)
  const { estate } = named ? await runtime.load(real) : found
  if (!named && found.declarations.some(({ kind }) => kind === 'Estate'))
    note(runtime, 'This directory has its Estate already.')
  const tools = await runtime.openClusters?.({ directory: real, state: file })
  const wanted =
    yes || (await runtime.ask('Make an age key, or use yours, to seal what clusters are made of? (yes) ')) !== 'no'
  const key = wanted ? await tools?.deps.vault.sealed?.key() : undefined
  if (key !== undefined) {
    note(
      runtime,
      `The age key is in ${key.from} (public part ${key.recipient}). Keep a copy of it on another computer: with the key and this directory you can restore everything.`,
    )
    await keepEscrow(runtime, { directory: real, state: file }, estate)
  }
  noteEstate(file, real)
  await writeFirstEstate(runtime, { directory, real, options })
  return EXIT.ok
}
